import { closeSync, existsSync, openSync, readFileSync, truncateSync, writeSync } from 'node:fs';

/** An event as a client proposes it. */
export interface Proposed {
  id: string;
  type: string;
  contentType: string;
  data: Uint8Array;
  metadata: Uint8Array;
}

export interface LogRecord extends Proposed {
  stream: string;
  revision: number;
  /** Where it begins in the log: grows with what the records hold, like the real server's. */
  position: number;
  createdMs: number;
}

/** A revision, -1 for a stream that is not there, or one of the looser expectations. */
export type Expected = number | 'any' | 'exists';

export type Written =
  | { result: 'written'; revision: number; position: number }
  | { result: 'repeated'; revision: number; position: number }
  | { result: 'wrong-version'; revision: number };

const OVERHEAD_BYTES = 86;
/** After so many appends the server writes something of its own, as a real one does. */
const SYSTEM_EVERY = 7;

/**
 * What an EventStoreDB server keeps, with its rules for expected revisions and repeated event ids. With a file it outlives its process:
 * a record is written there before its append is answered.
 */
export class ServerLog {
  readonly records: LogRecord[] = [];
  private readonly streams = new Map<string, LogRecord[]>();
  private readonly watchers = new Set<() => void>();
  private readonly fd: number | undefined;
  private next = 0;
  private appends = 0;

  constructor(file?: string) {
    if (file) {
      if (existsSync(file)) this.restore(file);
      this.fd = openSync(file, 'a');
    }
    if (this.records.length === 0) this.writeSystem('$epoch-information');
  }

  stream(name: string): readonly LogRecord[] {
    return this.streams.get(name) ?? [];
  }

  /** Position of the last record, those of the server's own included. */
  get end(): number {
    return this.records.at(-1)!.position;
  }

  /** Index of the first record at or after a position. */
  indexOf(position: number): number {
    let [low, high] = [0, this.records.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.records[middle]!.position < position) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  append(stream: string, expected: Expected, events: readonly Proposed[]): Written {
    const known = this.stream(stream);
    const revision = known.length - 1;
    const wrong = { result: 'wrong-version', revision } as const;
    if (expected === 'exists' && revision < 0) return wrong;
    if (typeof expected !== 'number' || expected < revision) {
      const from =
        typeof expected === 'number' ? expected + 1 : known.findIndex((record) => record.id === events[0]?.id);
      const isRepeated = from >= 0 && events.length > 0 && events.every((event, i) => known[from + i]?.id === event.id);
      if (isRepeated) {
        const last = known[from + events.length - 1]!;
        return { result: 'repeated', revision: last.revision, position: last.position };
      }
      if (typeof expected === 'number') return wrong;
    } else if (expected > revision) return wrong;
    for (const event of events) this.write(stream, event);
    this.appends += 1;
    const last = this.stream(stream).at(-1);
    const written = {
      result: 'written',
      revision: last?.revision ?? -1,
      position: last?.position ?? this.end,
    } as const;
    if (this.appends % SYSTEM_EVERY === 0) this.writeSystem('$stats-0.0.0.0:2113');
    for (const watcher of this.watchers) watcher();
    return written;
  }

  /** Calls back after each append; returns the way to stop. */
  watch(appended: () => void): () => void {
    this.watchers.add(appended);
    return () => this.watchers.delete(appended);
  }

  close(): void {
    if (this.fd !== undefined) closeSync(this.fd);
  }

  private writeSystem(stream: string): void {
    const data = new TextEncoder().encode('{"of":"the server"}');
    const type = stream.startsWith('$stats') ? '$statsCollected' : '$EpochInformation';
    const id = `00000000-0000-4000-8000-${String(this.records.length).padStart(12, '0')}`;
    this.write(stream, { id, type, contentType: 'application/json', data, metadata: new Uint8Array() });
  }

  private write(stream: string, event: Proposed): void {
    const record = {
      ...event,
      stream,
      revision: this.stream(stream).length,
      position: this.next,
      createdMs: Date.now(),
    };
    if (this.fd !== undefined) {
      const line = { ...record, data: base64(record.data), metadata: base64(record.metadata) };
      writeSync(this.fd, `${JSON.stringify(line)}\n`);
    }
    this.keep(record);
  }

  private keep(record: LogRecord): void {
    this.records.push(record);
    const stream = this.streams.get(record.stream);
    if (stream) stream.push(record);
    else this.streams.set(record.stream, [record]);
    this.next = record.position + OVERHEAD_BYTES + record.data.length + record.metadata.length + record.type.length;
  }

  private restore(file: string): void {
    const text = readFileSync(file, 'utf8');
    const whole = text.slice(0, text.lastIndexOf('\n') + 1);
    truncateSync(file, Buffer.byteLength(whole)); // off goes what was being written when the process was killed
    for (const line of whole.split('\n').slice(0, -1)) {
      const { data, metadata, ...rest } = JSON.parse(line);
      this.keep({ ...rest, data: Buffer.from(data, 'base64'), metadata: Buffer.from(metadata, 'base64') });
    }
  }
}

const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');
