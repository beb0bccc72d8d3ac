import { createHash, type Hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { StringDecoder } from 'node:string_decoder';
import type { LoggedEvent } from '../../../libs/kernel/event-store.port.ts';

/**
 * The file of an export: NDJSON. The first line is the header, then one line per event in the order of the log, then the end with their
 * number and the SHA-256 of their lines (each with its line feed). `payload` and `metadata` are the very texts that are stored.
 */
export interface ArchiveHeader {
  ledgerline: 'export';
  version: 1;
  /** Position of the log at which the export was made: nothing after it is in it. */
  upTo: number;
  /** Whether it holds every event up to there, so that it can be imported. */
  isWhole: boolean;
  /** What was left out and what was shown. */
  from?: string;
  to?: string;
  types?: readonly string[];
  customer?: string;
  isRevealed?: true;
}

export interface ArchiveEnd {
  end: { events: number; sha256: string };
}

/** The line of an event. `revealed` are its personal fields in clear, in exports with `--reveal` only; an import ignores them. */
export interface ArchivedEvent extends LoggedEvent {
  revealed?: Record<string, unknown>;
}

/** An event's line, its members always in this order. */
export function eventLine({
  position,
  stream,
  revision,
  id,
  type,
  payload,
  metadata,
  revealed,
}: ArchivedEvent): string {
  return JSON.stringify({ position, stream, revision, id, type, payload, metadata, ...(revealed && { revealed }) });
}

/** Counts the lines of events as they go by. */
export class Tally {
  events = 0;
  private readonly hash: Hash = createHash('sha256');

  add(line: string): void {
    this.events += 1;
    this.hash.update(`${line}\n`);
  }

  end(): ArchiveEnd {
    return { end: { events: this.events, sha256: this.hash.copy().digest('hex') } };
  }
}

/** Lines of a file or of a stream, without their line feeds. */
export async function* linesOf(source: string | NodeJS.ReadableStream): AsyncGenerator<string> {
  const input: NodeJS.ReadableStream = typeof source === 'string' ? createReadStream(source) : source;
  const decoder = new StringDecoder('utf8');
  let rest = '';
  for await (const chunk of input) {
    const lines = (rest + (typeof chunk === 'string' ? chunk : decoder.write(chunk))).split('\n');
    rest = lines.pop()!;
    yield* lines;
  }
  if (rest !== '') yield rest;
}

/** What stands in an export, checked line by line. Throws where it is damaged or not whole. */
export async function* readArchive(
  source: string | NodeJS.ReadableStream,
): AsyncGenerator<ArchiveHeader | LoggedEvent, void> {
  const tally = new Tally();
  let number = 0;
  let end: ArchiveEnd['end'] | undefined;
  for await (const line of linesOf(source)) {
    number += 1;
    if (end) throw new Error(`Line ${number} follows the end of the export.`);
    const value = parsed(line, number);
    if (number === 1) yield headerOf(value);
    else if (isEnd(value)) end = value.end;
    else {
      tally.add(line);
      yield eventOf(value, number);
    }
  }
  if (!end) throw new Error('The export has no end: it was cut off. Nothing is wrong with what was read of it.');
  const found = tally.end().end;
  if (found.events !== end.events || found.sha256 !== end.sha256) {
    throw new Error(
      `The export is damaged: it says ${end.events} events, ${end.sha256}; it holds ${found.events}, ${found.sha256}.`,
    );
  }
}

function parsed(line: string, number: number): Record<string, unknown> {
  try {
    return Object(JSON.parse(line));
  } catch {
    throw new Error(`Line ${number} is no JSON.`);
  }
}

function headerOf(value: Record<string, unknown>): ArchiveHeader {
  if (value.ledgerline !== 'export') throw new Error('This is no export of Ledgerline: its first line is no header.');
  if (value.version !== 1)
    throw new Error(`The export is of version ${value.version}, which this program cannot read.`);
  return value as unknown as ArchiveHeader;
}

const isEnd = (value: object): value is ArchiveEnd => 'end' in value;

function eventOf(value: Record<string, unknown>, number: number): LoggedEvent {
  const { position, stream, revision, id, type, payload, metadata } = value;
  const texts = [stream, id, type, payload, metadata];
  if (!texts.every((text) => typeof text === 'string') || ![position, revision].every(Number.isSafeInteger))
    throw new Error(`Line ${number} is no event.`);
  return { position, stream, revision, id, type, payload, metadata } as LoggedEvent;
}
