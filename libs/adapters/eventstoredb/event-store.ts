import type pg from 'pg';
import type {
  Append,
  AppendOutcome,
  EventStore,
  KeyedAnswer,
  LoggedEvent,
  Snapshot,
  StreamRead,
} from '../../kernel/event-store.port.ts';
import { PostgresSnapshots } from '../postgres/snapshots.ts';
import { LogClient, type Place } from './client.ts';
import { Backoff, Gate, isPassing, kindOf, sleep } from './patience.ts';
import { SupervisedSubscription } from './subscription.ts';
import { Turns } from './turns.ts';
import { fromWire, isSystem, positionOf, toWire, type WireRecord } from './wire.ts';

/** An answer with what it rests on, by which it is found when a person is erased. */
export interface PlacedAnswer extends KeyedAnswer {
  stream: string;
  position: number;
}

/** Where the answers of keyed requests are kept, since this store cannot write them in its own commit. */
export interface AnswersBeside {
  /** Those of the keys that have an answer. */
  taken(keys: readonly string[]): Promise<ReadonlySet<string>>;
  /** Keeps answers; says which of the keys had another one already. */
  record(answers: readonly PlacedAnswer[]): Promise<ReadonlySet<string>>;
}

export interface EventStoreDbOptions {
  /** `esdb://user:password@host:2113?tls=true`: TLS, credentials and the nodes of a cluster are all in it. */
  url: string;
  /** Keeps the snapshots. */
  pool: pg.Pool;
  answers: AnswersBeside;
  log: (level: 'info' | 'warn', message: string, error?: unknown) => void;
  /** How long a call is tried until its outcome counts as unknown. */
  deadlineMs?: number;
  /** How long one attempt of it may be without a sign of life. */
  attemptMs?: number;
  /** How often it is checked that the subscription misses nothing. */
  watchMs?: number;
}

/** Most of what is read of the log at once. */
const PAGE = 1_000;
/** How much of the log one look passes for events that are rare in it. */
const LOOK = 20_000;
/** Below the hundred calls that a server takes on one connection. */
const APPENDS_AT_ONCE = 64;
const READS_AT_ONCE = 24;

/** For how long a writer may know of an append that readers are not shown yet. */
const REPLICATION_MS = 1_000;

const CONFLICT: AppendOutcome = { outcome: 'conflict' };

/** The log in EventStoreDB (docs/why/eventstoredb.md). Snapshots and the answers of keyed requests are in Postgres. */
export class EventStoreDb implements EventStore {
  readonly flushesInFlight = 16;
  readonly commandsPerAppend = 200;
  readonly positionStride = 1_000;
  private readonly options: EventStoreDbOptions;
  private readonly client: LogClient;
  private readonly snapshots: PostgresSnapshots;
  private readonly appends = new Gate(APPENDS_AT_ONCE);
  private readonly reads = new Gate(READS_AT_ONCE);
  private readonly turns = new Turns();
  private readonly wakers = new Set<(head: number) => void>();
  private subscription: SupervisedSubscription | undefined;
  /** How far nothing but the server's own events was found after a position: they need not be passed again. */
  private quiet = { after: -1, upTo: -1 };
  private newest = 0;

  constructor(options: EventStoreDbOptions) {
    const { url, pool, deadlineMs = 15_000, attemptMs = 5_000 } = options;
    this.options = options;
    this.client = new LogClient({ url, deadlineMs, attemptMs });
    this.snapshots = new PostgresSnapshots(pool);
  }

  /** A position that the log has reached: what is appended from now on comes after it. */
  get seen(): number {
    return this.newest;
  }

  async append(batch: readonly Append[]): Promise<AppendOutcome[]> {
    const keys = batch.flatMap(({ answers }) => answers.map(({ key }) => key));
    const taken = keys.length > 0 ? await this.options.answers.taken(keys) : new Set<string>();
    const settled = await Promise.allSettled(batch.map((one) => this.appendOne(one, taken)));
    const unknown = settled.filter((one) => one.status === 'rejected');
    if (unknown.length > 0) {
      const message = `the outcome of ${unknown.length} of ${batch.length} appends is unknown`;
      throw new Error(message, { cause: unknown[0]!.reason });
    }
    const outcomes = settled.map((one) => (one as PromiseFulfilledResult<AppendOutcome>).value);
    return this.remember(batch, outcomes);
  }

  /**
   * There is no lock to take: what is newer is read and decided upon until nobody was faster. Who was faster leaves the stream alone for
   * a moment afterwards (`Turns`), so that none is always second. A conflict with something that cannot be read is told as such: what was
   * decided on is not in the log.
   */
  async appendExclusively(
    stream: string,
    afterRevision: number,
    decide: (newer: LoggedEvent[]) => Promise<Append | undefined>,
  ): Promise<AppendOutcome | undefined> {
    for (let after = afterRevision, isLost = false; ; isLost = true) {
      const newer = isLost ? await this.readReplicated(stream, after) : await this.readStream(stream, after);
      if (isLost && newer.length === 0) return CONFLICT;
      const append = await decide(newer);
      if (!append) return undefined;
      const [outcome] = await this.append([append]);
      if (outcome!.outcome !== 'conflict') return outcome;
      after = append.expectedRevision;
    }
  }

  async readStream(stream: string, afterRevision: number, limit?: number): Promise<LoggedEvent[]> {
    const from = { from: afterRevision + 1, ...(limit !== undefined && { maxCount: limit }) };
    const records = await this.reads.run(() => this.client.readStream(stream, from));
    return records.map(fromWire);
  }

  /** Read from the end, since what is sought is near it. */
  async readStreamSince(stream: string, afterPosition: number): Promise<LoggedEvent[]> {
    const isNewer = (record: WireRecord) => positionOf(record) > afterPosition;
    const records = await this.reads.run(() => this.client.readStream(stream, { from: 'end' }, isNewer));
    return records.reverse().map(fromWire);
  }

  async loadStreams(streams: readonly string[], limit?: number): Promise<Map<string, StreamRead>> {
    const snapshots = await this.snapshots.load(streams);
    const read = async (stream: string): Promise<[string, StreamRead]> => {
      const snapshot = snapshots.get(stream);
      return [stream, { snapshot, events: await this.readStream(stream, snapshot?.revision ?? -1, limit) }];
    };
    return new Map(await Promise.all(streams.map(read)));
  }

  async readAll(
    after: number,
    limit: number,
    types?: readonly string[],
  ): Promise<{ events: LoggedEvent[]; upTo: number }> {
    const wanted = types && new Set(types);
    const events: LoggedEvent[] = [];
    const take = (record: WireRecord) => {
      if (!wanted || wanted.has(record.type)) events.push(fromWire(record));
      return events.length < limit;
    };
    const upTo = await this.look(after, wanted ? PAGE : Math.min(limit, PAGE), take, () => events.length > 0);
    return { events, upTo };
  }

  async changedStreams(after: number): Promise<{ streams: { stream: string; revision: number }[]; upTo: number }> {
    const newest = new Map<string, number>();
    const take = ({ streamId, revision }: WireRecord) => {
      newest.set(streamId, Number(revision));
      return true;
    };
    const upTo = await this.look(after, PAGE, take, () => false);
    return { streams: [...newest].map(([stream, revision]) => ({ stream, revision })), upTo };
  }

  /** The end of the log is read backwards, past what the server writes itself, at most to what is known to be there. */
  async head(): Promise<number> {
    let from: Place = 'end';
    for (let maxCount = 8; ; maxCount = Math.min(maxCount * 8, PAGE)) {
      const records = await this.client.readAll(from, { backwards: true, maxCount });
      const newest = records.find((record) => !isSystem(record));
      if (newest) return this.sees(positionOf(newest));
      from = records.length < maxCount ? 0 : positionOf(records.at(-1)!);
      if (from <= this.newest) return this.newest;
    }
  }

  async subscribe(wake: (head: number) => void): Promise<() => Promise<void>> {
    this.wakers.add(wake);
    this.subscription ??= new SupervisedSubscription({
      open: (after) => this.client.subscribe(after),
      head: () => this.head(),
      woken: (position) => {
        this.sees(position);
        for (const waker of this.wakers) waker(position);
      },
      log: this.options.log,
      watchMs: this.options.watchMs ?? 5_000,
    });
    await this.subscription.ready;
    return async () => {
      this.wakers.delete(wake);
    };
  }

  async saveSnapshots(snapshots: readonly Snapshot[]): Promise<void> {
    await this.snapshots.save(snapshots);
  }

  /** Ends the subscription and the connections; the pool belongs to the caller. */
  async close(): Promise<void> {
    await this.subscription?.stop();
    await this.client.close();
  }

  private sees(position: number): number {
    this.newest = Math.max(this.newest, position);
    return position;
  }

  /** What is newer and known to be there. The server refuses an append for what is not replicated yet, and shows that to no reader. */
  private async readReplicated(stream: string, afterRevision: number): Promise<LoggedEvent[]> {
    const pauses = new Backoff(10, 200);
    const deadline = performance.now() + REPLICATION_MS;
    for (;;) {
      const newer = await this.readStream(stream, afterRevision);
      if (newer.length > 0 || performance.now() > deadline) return newer;
      await sleep(pauses.pauseMs);
    }
  }

  private async appendOne(append: Append, taken: ReadonlySet<string>): Promise<AppendOutcome> {
    const { stream, expectedRevision, events, answers } = append;
    const known = answers.find(({ key }) => taken.has(key));
    if (known) return { outcome: 'key-taken', key: known.key };
    if (events.length === 0) {
      const [last] = await this.client.readStream(stream, { from: 'end', maxCount: 1 });
      const revision = last ? Number(last.revision) : -1;
      return revision === expectedRevision ? { outcome: 'appended', firstPosition: this.newest } : CONFLICT;
    }
    const pauseMs = this.turns.pauseMs(stream, performance.now());
    if (pauseMs > 0) await sleep(pauseMs);
    const started = performance.now();
    const answer = await this.appends.run(() => this.client.append(stream, expectedRevision, events.map(toWire)));
    const ended = performance.now();
    if (answer === 'conflict') {
      this.turns.lost(stream, ended);
      return CONFLICT;
    }
    this.turns.won(stream, ended, ended - started);
    const position = answer.position ?? (await this.writtenAt(append));
    return { outcome: 'appended', firstPosition: this.sees(position) - events.length + 1 };
  }

  /** Position of the last event of an append that the server says is written, by an earlier attempt perhaps. */
  private async writtenAt({ stream, expectedRevision, events }: Append): Promise<number> {
    const written = (await this.readStream(stream, expectedRevision))[events.length - 1];
    if (written?.id !== events.at(-1)!.id) throw new Error(`${stream} does not hold what was appended to it`);
    return written.position;
  }

  /** Keeps the answers of what was appended. A key that was answered elsewhere meanwhile is told: that answer is the answer. */
  private async remember(batch: readonly Append[], outcomes: AppendOutcome[]): Promise<AppendOutcome[]> {
    const answers = batch.flatMap(({ stream, answers: ofStream }, i) => {
      const outcome = outcomes[i]!;
      return outcome.outcome === 'appended'
        ? ofStream.map((answer) => ({ ...answer, stream, position: outcome.firstPosition }))
        : [];
    });
    if (answers.length === 0) return outcomes;
    const taken = await this.options.answers.record(answers);
    return outcomes.map((outcome, i) => {
      const known = outcome.outcome === 'appended' && batch[i]!.answers.find(({ key }) => taken.has(key));
      return known ? { outcome: 'key-taken', key: known.key } : outcome;
    });
  }

  /**
   * Shows `take` what comes after a position, page by page, until it wants no more, `isEnough` between two pages, or a good piece of the
   * log is passed; always at least one event where there is one. Says how far that went.
   */
  private async look(
    after: number,
    pageSize: number,
    take: (record: WireRecord) => boolean,
    isEnough: () => boolean,
  ): Promise<number> {
    let from = this.quiet.after === after ? this.quiet.upTo : after;
    let upTo = after;
    let isOver = false;
    for (let passed = 0; !isOver; ) {
      const { records, isEnd } = await this.page(from, pageSize);
      for (const record of records) {
        from = positionOf(record);
        if (isSystem(record)) continue;
        upTo = from;
        isOver = !take(record);
        if (isOver) break;
      }
      passed += records.length;
      isOver ||= isEnd || (upTo > after && (isEnough() || passed >= LOOK));
    }
    if (upTo === after) this.quiet = { after, upTo: from };
    return this.sees(upTo);
  }

  /**
   * At most so many records after a position. The server knows only the positions at which a record begins: where there is none, it is
   * tried whether one begins right after it, and at last the log is read from its start.
   */
  private async page(after: number, count: number): Promise<{ records: WireRecord[]; isEnd: boolean }> {
    const places: Place[] = after === 0 ? ['start'] : [after, after + 1, 'start'];
    for (const place of places) {
      const maxCount = place === 'start' && after > 0 ? undefined : count + 1;
      let passed = 0;
      const keep = (record: WireRecord, kept: number) => {
        passed += 1;
        return positionOf(record) <= after ? 'leave-out' : kept < count;
      };
      try {
        const records = await this.client.readAll(place, maxCount === undefined ? {} : { maxCount }, keep);
        return { records, isEnd: maxCount === undefined ? records.length < count : passed < maxCount };
      } catch (error) {
        const isNoSuchPlace = kindOf(error) === 'unknown' && !isPassing(error);
        if (!isNoSuchPlace || place === 'start') throw error;
      }
    }
    throw new Error('the log cannot be read from its start');
  }
}
