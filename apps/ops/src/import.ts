import type { Append, LoggedEvent } from '../../../libs/kernel/event-store.port.ts';
import type { Engine } from '../../shared/engine.ts';
import { type ArchiveHeader, readArchive } from './archive.ts';
import { count, howFar, type Output } from './output.ts';
import { isGapless } from './replay.ts';

/** Up to this position webhooks are taken to be sent (apps/projector/src/announcements.ts). */
const DELIVERIES = 'deliveries';
/** It stands there from the first event that an import brings in until the last one. */
export const NOTHING_IS_SENT = Number.MAX_SAFE_INTEGER;
const EVENTS_PER_FLUSH = 500;

export interface ImportOptions {
  /** Go on with an import that was interrupted. */
  resume?: boolean;
  /** Take positions that do not follow one another, and give new ones. */
  renumber?: boolean;
  /** Go on without the keys of personal data. */
  withoutKeys?: boolean;
}

export interface Imported {
  events: number;
  /** Of those, how many an interrupted import had brought in before. */
  resumed: number;
  head: number;
  seconds: number;
}

/**
 * Brings an export into an empty store: streams, revisions, ids and texts as they were, and on Postgres positions. Nothing of it is
 * announced by webhooks again. With `resume` it goes on with an import that was interrupted, after it has found all that is there to be
 * the beginning of this export. Throws when the store holds anything else, and where the keys of personal data should be there and are not.
 */
export async function importLog(
  engine: Engine,
  source: string | NodeJS.ReadableStream,
  options: ImportOptions,
  out: Pick<Output, 'progress'>,
): Promise<Imported> {
  const { resume = false, renumber = false, withoutKeys = false } = options;
  const startedMs = performance.now();
  const { store } = engine;
  const before = await store.head();
  if (before > 0 && !resume)
    throw new Error('The event store is not empty. An import that was interrupted goes on with --resume.');
  if (!withoutKeys && !(await hasKeys(engine)))
    throw new Error(
      'The keys of personal data are not there: read models would be made without it. Bring them in first, by `ops keys import`, or say --without-keys.',
    );
  if (typeof source === 'string') await check(source, out);
  const there = existing(engine, before);
  const writer = new Writer(engine);
  let header: ArchiveHeader | undefined;
  let [events, resumed] = [0, 0];
  for await (const item of readArchive(source)) {
    if ('ledgerline' in item) {
      header = item;
      if (!header.isWhole) throw new Error('This is an export of a part of a log. Only a whole one can be imported.');
      continue;
    }
    if (isGapless(engine) && !renumber && item.position !== events + 1)
      throw new Error(renumbered(item.position, events + 1));
    events += 1;
    const known = await there.next();
    if (known.done) await writer.add(item);
    else {
      if (!isSame(known.value, item))
        throw new Error(`The store holds something else than this export, from position ${known.value.position} on.`);
      resumed += 1;
    }
    const rate = item.position / ((performance.now() - startedMs) / 1_000);
    out.progress(() => howFar({ position: item.position, upTo: header!.upTo, rate }));
  }
  await writer.flush();
  if (!(await there.next()).done) throw new Error('The store holds more than this export.');
  const head = await store.head();
  await deliverFrom(engine, head);
  return { events, resumed, head, seconds: (performance.now() - startedMs) / 1_000 };
}

async function hasKeys({ pool }: Engine): Promise<boolean> {
  return (await pool.query('SELECT 1 FROM subject_keys LIMIT 1')).rowCount === 1;
}

/** Reads a file to its end, so that a damaged one is found before anything is brought in. */
async function check(file: string, out: Pick<Output, 'progress'>): Promise<void> {
  let read = 0;
  for await (const _ of readArchive(file)) {
    read += 1;
    out.progress(() => `checking: ${count(read)} events`);
  }
}

const renumbered = (found: number, expected: number): string =>
  `The export has position ${found} where ${expected} would follow. It comes from a store whose positions have gaps, as EventStoreDB's do: ` +
  'then say --renumber. Or it comes from a log of which something is missing.';

/** The events that the store held before, in order. */
async function* existing({ store }: Engine, head: number): AsyncGenerator<LoggedEvent, undefined> {
  for (let position = 0; position < head; ) {
    const { events, upTo } = await store.readAll(position, EVENTS_PER_FLUSH);
    yield* events;
    if (upTo <= position) break;
    position = upTo;
  }
  return undefined;
}

const isSame = (a: LoggedEvent, b: LoggedEvent): boolean =>
  a.stream === b.stream &&
  a.revision === b.revision &&
  a.id === b.id &&
  a.type === b.type &&
  a.payload === b.payload &&
  a.metadata === b.metadata;

/** Where the dispatch of webhooks stands: the projector writes none for events up to here. */
async function deliverFrom({ pool }: Engine, position: number): Promise<void> {
  await pool.query(
    `INSERT INTO checkpoints (name, position) VALUES ($1, $2)
     ON CONFLICT (name) DO UPDATE SET position = excluded.position, advanced_at = now()`,
    [DELIVERIES, position],
  );
}

/**
 * Appends events in the order in which they come. A flush holds each stream once, so it ends where one comes up again after another:
 * within it, Postgres numbers events in this very order. Other stores append to several streams side by side, so there a flush is of one.
 */
class Writer {
  private readonly engine: Engine;
  private readonly mayMix: boolean;
  private batch = new Map<string, Append & { events: LoggedEvent[] }>();
  private last: string | undefined;
  private size = 0;
  /** Webhooks are held back from the first event on that is brought in: an import that is refused leaves them as they were. */
  private isSilent = false;

  constructor(engine: Engine) {
    this.engine = engine;
    this.mayMix = isGapless(engine);
  }

  async add(event: LoggedEvent): Promise<void> {
    const { stream, revision } = event;
    const isNew = !this.batch.has(stream);
    const isOther = this.last !== stream;
    const isMixed = isOther && (!isNew || !this.mayMix);
    if (isMixed || this.size >= EVENTS_PER_FLUSH) await this.flush();
    const append = this.batch.get(stream) ?? { stream, expectedRevision: revision - 1, events: [], answers: [] };
    this.batch.set(stream, append);
    append.events.push(event);
    this.last = stream;
    this.size += 1;
  }

  async flush(): Promise<void> {
    if (this.size === 0) return;
    const batch = [...this.batch.values()];
    if (!this.isSilent) await deliverFrom(this.engine, NOTHING_IS_SENT);
    this.isSilent = true;
    this.batch = new Map();
    this.size = 0;
    const outcomes = await this.engine.store.append(
      batch.map(({ events, ...append }) => ({
        ...append,
        events: events.map(({ id, type, payload, metadata }) => ({ id, type, payload, metadata })),
      })),
    );
    const failed = outcomes.findIndex(({ outcome }) => outcome !== 'appended');
    if (failed < 0) return;
    const { stream, events } = batch[failed]!;
    throw new Error(
      `${stream} cannot take revision ${events[0]!.revision}: the export leaves revisions out, or somebody else writes into the store.`,
    );
  }
}
