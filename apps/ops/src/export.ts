import { closeSync, existsSync, openSync, renameSync, writeSync } from 'node:fs';
import { stat, truncate } from 'node:fs/promises';
import { eventAt } from '../../../libs/adapters/event-at.ts';
import { deciders } from '../../../libs/domain/index.ts';
import type { LoggedEvent } from '../../../libs/kernel/event-store.port.ts';
import { toJson } from '../../../libs/kernel/json.ts';
import { categoryOf } from '../../../libs/kernel/messages.ts';
import type { Engine } from '../../shared/engine.ts';
import { type ArchivedEvent, type ArchiveEnd, type ArchiveHeader, eventLine, linesOf, Tally } from './archive.ts';
import { isFrom, isUpTo, type Moment } from './moment.ts';
import type { Output } from './output.ts';
import { replay } from './replay.ts';
import { recordReveal } from './reveal.ts';

export interface ExportOptions {
  from?: Moment;
  to?: Moment;
  types?: readonly string[];
  /** Uuid of a customer: only what is about it. */
  customerId?: string;
  /** Personal fields in clear beside the events, which is recorded in the log first. */
  reveal?: { by: string };
}

/** Where the lines of an export go. */
export interface Sink {
  write(line: string): Promise<void>;
  /** What is there already: the lines are not made again. */
  resumed?: { header: ArchiveHeader; tally: Tally; last?: ArchivedEvent };
}

/** Writes the events of the log that are asked for, in its order and byte by byte as they are stored. */
export async function exportLog(
  engine: Engine,
  options: ExportOptions,
  sink: Sink,
  out: Pick<Output, 'progress'>,
): Promise<ArchiveEnd['end']> {
  const { from, to, types, customerId, reveal } = options;
  const upTo = sink.resumed?.header.upTo ?? (await engine.store.head());
  const header = headerOf(options, upTo);
  if (sink.resumed && JSON.stringify(sink.resumed.header) !== JSON.stringify(header))
    throw new Error('The unfinished file is of another export: delete it, or ask for the same again.');
  if (sink.resumed && !(await isOfLog(engine, sink.resumed)))
    throw new Error('The unfinished file is of another log, or of this one before it was restored: delete it.');
  if (reveal && upTo > 0) await recordReveal(engine, { by: reveal.by, command: 'export', upTo, ...asked(options) });
  if (!sink.resumed) await sink.write(JSON.stringify(header));
  const tally = sink.resumed?.tally ?? new Tally();
  const about = customerId === undefined ? undefined : new About(customerId);
  const done = sink.resumed?.last?.position ?? 0;
  const after = about ? 0 : Math.max(done, from && 'position' in from ? from.position - 1 : 0);
  for await (const batch of replay(engine, { after, upTo, out })) {
    const wanted = batch.filter((event) => {
      const isAbout = about?.includes(event) ?? true; // asked for every event: it remembers streams
      if (!isAbout || event.position <= done || (types && !types.includes(event.type))) return false;
      if (!from && !to) return true;
      const placed = { position: event.position, at: JSON.parse(event.metadata).at as string };
      return isFrom(from, placed) && isUpTo(to, placed);
    });
    for (const event of reveal ? await revealed(engine, wanted) : wanted) {
      const line = eventLine(event);
      await sink.write(line);
      tally.add(line);
    }
  }
  const end = tally.end();
  await sink.write(JSON.stringify(end));
  return end.end;
}

/** Whether the log reaches as far as an unfinished export, and holds its last event at the same place. */
async function isOfLog({ store }: Engine, { header, last }: NonNullable<Sink['resumed']>): Promise<boolean> {
  if (header.upTo > (await store.head())) return false;
  if (last === undefined) return true;
  const stored = await eventAt(store, last.position);
  const { revealed: _, ...event } = last;
  return stored !== undefined && eventLine(stored) === eventLine(event);
}

const textOf = (moment: Moment): string => ('position' in moment ? String(moment.position) : moment.at);

const asked = ({ from, to, types, customerId }: ExportOptions) => ({
  ...(from && { from: textOf(from) }),
  ...(to && { to: textOf(to) }),
  ...(types && { types }),
  ...(customerId && { customerId }),
});

function headerOf(options: ExportOptions, upTo: number): ArchiveHeader {
  const { customerId, ...limits } = asked(options);
  return {
    ledgerline: 'export',
    version: 1,
    upTo,
    isWhole: Object.keys(asked(options)).length === 0,
    ...limits,
    ...(customerId && { customer: customerId }),
    ...(options.reveal && { isRevealed: true }),
  };
}

/**
 * What concerns a customer: events that name it, and what follows them in the same stream. A claim passes from one to another, so of
 * those only the events that name it.
 */
class About {
  private readonly customerId: string;
  private readonly streams = new Set<string>();

  constructor(customerId: string) {
    this.customerId = customerId;
  }

  includes({ stream, payload }: LoggedEvent): boolean {
    if (this.streams.has(stream)) return true;
    if (!stream.includes(this.customerId) && !payload.includes(this.customerId)) return false;
    if (categoryOf(stream) !== 'claim') this.streams.add(stream);
    return true;
  }
}

const personal = new Map(deciders.flatMap((decider) => Object.entries(decider.personal ?? {})));

async function revealed(engine: Engine, events: readonly LoggedEvent[]) {
  const decoded = await engine.codec.decode(events.filter(({ type }) => personal.has(type)));
  const shown = new Map(
    decoded.map(({ position, type, data }) => {
      const fields = personal.get(type)!.fields.map((field) => [field, (data as Record<string, unknown>)[field]]);
      return [position, JSON.parse(toJson(Object.fromEntries(fields)))] as const;
    }),
  );
  return events.map((event) => {
    const fields = shown.get(event.position);
    return fields ? { ...event, revealed: fields } : event;
  });
}

/**
 * A file that an interrupted export can be taken up with: lines are written to `<file>.part`, which gets its name when it is complete.
 * Only its owner can read it.
 */
export async function fileSink(file: string): Promise<Sink & { finish(): void; close(): void }> {
  if (existsSync(file)) throw new Error(`${file} is there already.`);
  const part = `${file}.part`;
  const resumed = existsSync(part) ? await resume(part) : undefined;
  const handle = openPart(part);
  return {
    ...(resumed && { resumed }),
    async write(line) {
      // a disk that gets full takes the beginning of it and says nothing yet
      for (let rest = Buffer.from(`${line}\n`); rest.length > 0; ) rest = rest.subarray(writeSync(handle, rest));
    },
    close: () => closeSync(handle),
    finish: () => renameSync(part, file),
  };
}

function openPart(part: string): number {
  try {
    return openSync(part, 'a', 0o600);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new Error(`${part} cannot be written: ${code === 'ENOENT' ? 'there is no such folder' : message}.`);
  }
}

/** Reads what an interrupted export has written, and cuts a last line off that is not whole. Undefined: nothing of use. */
async function resume(part: string): Promise<Sink['resumed']> {
  let header: ArchiveHeader | undefined;
  const tally = new Tally();
  let last: ArchivedEvent | undefined;
  let bytes = 0;
  const { size } = await stat(part);
  for await (const line of linesOf(part)) {
    const end = bytes + Buffer.byteLength(line) + 1;
    if (end > size) break; // its line feed is missing
    let value: object & Partial<ArchiveEnd>;
    try {
      value = JSON.parse(line);
    } catch {
      break;
    }
    if (value.end) break;
    if (header) {
      tally.add(line);
      last = value as ArchivedEvent;
    } else header = value as ArchiveHeader;
    bytes = end;
  }
  await truncate(part, bytes);
  return header && { header, tally, ...(last && { last }) };
}
