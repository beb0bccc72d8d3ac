import { type AnyDecider, streamOf } from '../kernel/decider.ts';
import { reject } from '../kernel/errors.ts';
import type { Append, AppendOutcome, EventStore, LoggedEvent } from '../kernel/event-store.port.ts';
import type { Command, Tenant } from '../kernel/messages.ts';
import type { EventCodec } from './codec.ts';
import { type Draft, draftOf, momentOf, type TimedClock, writes } from './draft.ts';
import { Gathering } from './gathering.ts';
import { SnapshotWriter } from './snapshots.ts';
import { type Envelope, type Executed, KeyTaken, type Known, noteFound, type Stream, type Waiting } from './stream.ts';
import { StreamCache, unavailable } from './stream-cache.ts';

export interface WritePathOptions {
  store: EventStore;
  codec: EventCodec;
  clock: TimedClock;
  /** A random value that no other write path has. */
  writer: string;
  /**
   * Called before the answers of a flush with what it moved: for read-your-writes and metrics. `appends` is 0 when repeated commands
   * were only recognised.
   */
  committed?: (flush: { appends: number; events: number; ms: number; tenants: ReadonlyMap<Tenant, number> }) => void;
  log: (level: 'warn' | 'error', message: string, error?: unknown) => void;
  /** Commands that may wait in all mailboxes together; more are refused with 503. */
  queueLimit?: number;
  /** Streams kept in memory, and a quarter more that are new. */
  cacheSize?: number;
  /** How long an unknown outcome is looked into before the command is answered with 503. */
  patienceMs?: number;
}

const FLUSH_APPENDS = 500;
/** A flush takes no further stream when it has so many commands, and no more than so many from one stream. */
const FLUSH_COMMANDS = 1_000;

/**
 * The one place where events are appended (architecture §5): (1) a mailbox per stream, (2) state from the cache or folded, (3) all
 * waiting commands decided on the evolving state, (4) many streams in one flush with their expected revisions, (5) on a conflict
 * refold and decide again under the store's lock, (6) answer. Nothing is answered before what it stands on is committed, and an
 * unknown outcome is looked up, never guessed.
 */
export class WritePath {
  private readonly options: Required<Omit<WritePathOptions, 'committed'>> & Pick<WritePathOptions, 'committed'>;
  private readonly cache: StreamCache;
  private readonly snapshots: SnapshotWriter;
  private readonly ready = new Set<Stream>();
  private flushes = 0;
  private queued = 0;
  private scheduled = false;
  private readonly gathering = new Gathering(() => this.pump());
  private idle: (() => void)[] = [];

  constructor(options: WritePathOptions) {
    this.options = { queueLimit: 20_000, cacheSize: 20_000, patienceMs: 30_000, ...options };
    const { store, codec, log, cacheSize } = this.options;
    this.cache = new StreamCache({
      store,
      codec,
      size: cacheSize,
      freed: (stream, error) => this.wasRead(stream, error),
    });
    this.snapshots = new SnapshotWriter(store, (error) => log('warn', 'snapshots could not be saved', error));
  }

  /** Commands that wait in all mailboxes together, those under way included. */
  get queueLength(): number {
    return this.queued;
  }

  /** Sends a command to its stream. Throws the decider's rejection. */
  async execute(decider: AnyDecider, command: Command, envelope: Envelope): Promise<Executed> {
    if (this.queued >= this.options.queueLimit) throw reject('SERVICE_UNAVAILABLE', { retryAfterSeconds: 1 });
    const learning = this.options.clock.know?.(envelope.tenant);
    if (learning) await learning;
    const isNew = decider.creates?.includes(command.type) ?? false;
    const stream = this.cache.open(decider, streamOf(decider, command), isNew);
    this.queued += 1;
    try {
      return await new Promise<Executed>((resolve, rejectWith) => {
        stream.queue.push({ command, envelope, since: envelope.since, isKnown: false, resolve, reject: rejectWith });
        this.makeReady(stream);
      });
    } finally {
      this.queued -= 1;
      this.wakeIdle();
    }
  }

  /**
   * `state` as of this moment, with what another process wrote and this one has not noticed yet, which takes it up to half a second. Reads
   * the store each time: for what is made for somebody who may just have been deleted elsewhere, not for what every payment asks.
   */
  readonly fresh: Pick<WritePath, 'state'> = {
    state: async (decider, id) => {
      await this.cache.readFromNow(this.cache.open(decider, `${decider.name}-${id}`, false));
      return this.state(decider, id);
    },
  };

  /** The committed state of a stream, as facts for another decision. A fact that guards money is checked again by its own stream. */
  async state<S>(decider: AnyDecider, id: string): Promise<Known<S>> {
    const stream = this.cache.open(decider, `${decider.name}-${id}`, false);
    while (stream.isOutdated || stream.assumedNew) await this.cache.read(stream);
    const { revision, position, moved } = stream;
    return { state: stream.state as S, revision, position, moved };
  }

  /** Says that another process wrote this stream up to `revision`: what is remembered of it is caught up before its next use. */
  noteForeign(name: string, revision: number): void {
    const stream = this.cache.get(name);
    if (stream && stream.revision < revision) stream.foreignRevision = Math.max(stream.foreignRevision, revision);
  }

  /** Forgets a stream's state, for example after its personal data was erased. */
  forget(name: string): void {
    const stream = this.cache.get(name);
    if (!stream) return;
    if (stream.busy) stream.forgotten = true;
    else stream.reset();
    if (!stream.busy && stream.queue.length === 0) this.cache.drop(stream);
  }

  /** Waits until nothing is queued or under way, and saves the snapshots that are due. */
  async drain(): Promise<void> {
    while (this.queued > 0 || this.flushes > 0) await new Promise<void>((resolve) => this.idle.push(resolve));
    await this.snapshots.save();
  }

  private wakeIdle(): void {
    if (this.queued === 0 && this.flushes === 0) for (const wake of this.idle.splice(0)) wake();
  }

  private makeReady(stream: Stream): void {
    if (stream.busy) return;
    if (stream.isOutdated) this.readFirst(stream);
    else this.ready.add(stream);
    this.schedule();
  }

  private readFirst(stream: Stream): void {
    this.cache.read(stream).catch(() => {}); // told to `wasRead`
  }

  private wasRead(stream: Stream, error?: unknown): void {
    if (error === undefined) this.free(stream);
    else {
      this.options.log('warn', `${stream.name} could not be read`, error);
      for (const one of stream.queue.splice(0)) one.reject(error);
    }
  }

  private schedule(): void {
    if (this.scheduled) return;
    this.scheduled = true;
    queueMicrotask(() => {
      this.scheduled = false;
      this.pump();
    });
  }

  private pump(): void {
    const { flushesInFlight } = this.options.store;
    while (!this.gathering.isOn && this.flushes < flushesInFlight && this.ready.size > 0) {
      const streams = this.nextFlush();
      if (streams.length === 0) break;
      if (flushesInFlight === 1) this.gathering.flushing(streams.length);
      this.flushes += 1;
      void this.flush(streams).finally(() => {
        this.flushes -= 1;
        this.pump();
        this.wakeIdle();
      });
    }
  }

  /** A stream whose last flush failed goes alone, so that it can only hold up itself. */
  private nextFlush(): Stream[] {
    const streams: Stream[] = [];
    let commands = 0;
    for (const stream of this.ready) {
      if (stream.doubts > 0 && streams.length > 0) continue;
      this.ready.delete(stream);
      if (stream.queue.length === 0 || stream.busy) continue;
      if (stream.isOutdated) {
        this.readFirst(stream);
        continue;
      }
      stream.busy = true;
      streams.push(stream);
      commands += stream.queue.length;
      if (stream.doubts > 0 || streams.length === FLUSH_APPENDS || commands >= FLUSH_COMMANDS) break;
    }
    return streams;
  }

  private async flush(streams: readonly Stream[]): Promise<void> {
    const drafts: Draft[] = [];
    const keys = new Set<string>();
    for (const stream of streams) {
      const draft = await this.decide(stream);
      if (!draft) this.free(stream);
      else if (!writes(draft)) void this.confirm(draft);
      else if (draft.answers.some(({ key }) => keys.has(key))) this.putBack(draft);
      else {
        for (const { key } of draft.answers) keys.add(key);
        drafts.push(draft);
      }
    }
    if (drafts.length === 0) return;
    const started = performance.now();
    let outcomes: AppendOutcome[];
    try {
      outcomes = await this.options.store.append(await this.encode(drafts));
    } catch (error) {
      this.options.log('warn', 'the outcome of a flush is unknown', error);
      for (const draft of drafts) void this.recover(draft);
      return;
    }
    this.report(drafts, outcomes, performance.now() - started);
    drafts.forEach((draft, i) => {
      const outcome = outcomes[i]!;
      if (outcome.outcome === 'appended') this.commit(draft, outcome.firstPosition);
      else if (outcome.outcome === 'key-taken') this.keyTaken(draft, outcome.key);
      else void this.exclusively(draft);
    });
  }

  /** Undefined when there is nothing to decide now, because the stream has to be read first or its commands were answered. */
  private async decide(stream: Stream): Promise<Draft | undefined> {
    for (let older = stream.unsearched; older.length > 0; older = stream.unsearched) {
      try {
        await this.searchOlder(stream, older);
      } catch (error) {
        this.options.log('warn', `${stream.name} could not be read`, error);
        for (const one of stream.queue.splice(0)) one.reject(unavailable(error));
      }
    }
    if (stream.queue.length === 0) return undefined;
    const { store, clock, writer } = this.options;
    return draftOf(stream, store.commandsPerAppend ?? FLUSH_COMMANDS, momentOf(clock, writer));
  }

  /** Finds out whether commands that may be repetitions are in the stream beyond what the window reaches. */
  private async searchOlder(stream: Stream, older: readonly Waiting[]): Promise<void> {
    const since = Math.min(...older.map((one) => one.since!));
    const events = await this.options.store.readStreamSince(stream.name, since);
    const decoded = await this.options.codec.decode(events.filter((event) => event.revision > stream.revision));
    stream.fold(decoded);
    noteFound(older, events, stream.position);
  }

  private async encode(drafts: readonly Draft[]): Promise<Append[]> {
    const { codec } = this.options;
    const personal = drafts.flatMap((draft) =>
      draft.decided.map((d) => d.event).filter((e) => codec.isPersonal(e.type)),
    );
    const keys = await codec.keysFor(personal);
    return drafts.map(({ stream, decided, answers }) => ({
      stream: stream.name,
      expectedRevision: stream.revision,
      events: decided.map(({ event, id, at, meta }) => codec.encode(event, id, at, meta, keys)),
      answers,
    }));
  }

  private commit(draft: Draft, firstPosition: number): void {
    const { stream, decided } = draft;
    for (const [i, { event, meta }] of decided.entries()) stream.passed(event, firstPosition + i, meta);
    stream.state = draft.state;
    stream.doubts = 0;
    if (decided.length > 0) {
      stream.isRead();
      this.snapshots.note(stream);
    }
    for (const settle of draft.settle) settle(firstPosition);
    this.free(stream);
  }

  private keyTaken(draft: Draft, key: string): void {
    const owner = draft.keyOwners.get(key);
    owner?.reject(new KeyTaken());
    draft.waiting = draft.waiting.filter((one) => one !== owner);
    this.putBack(draft);
  }

  /** Nothing is to be written, so no append has checked the state: another process may have moved it since it was read. */
  private async confirm(draft: Draft): Promise<void> {
    const { stream } = draft;
    let newer: LoggedEvent[];
    try {
      newer = await this.options.store.readStream(stream.name, stream.revision);
    } catch (error) {
      this.options.log('warn', `${stream.name} could not be read`, error);
      return this.recover(draft);
    }
    if (newer.length > 0) return this.exclusively(draft);
    this.report([draft], [{ outcome: 'appended', firstPosition: 0 }], 0);
    this.commit(draft, 0);
  }

  /** The newer events are read, folded and decided upon while the store lets nobody else append. */
  private async exclusively(draft: Draft): Promise<void> {
    const { stream } = draft;
    stream.queue.unshift(...draft.waiting);
    let second: Draft | undefined;
    try {
      const outcome = await this.options.store.appendExclusively(stream.name, stream.revision, async (newer) => {
        if (second) stream.queue.unshift(...second.waiting);
        second = undefined; // so that nothing waits twice if what is newer cannot be read
        stream.fold(await this.options.codec.decode(newer));
        second = await this.decide(stream);
        return second && writes(second) ? (await this.encode([second]))[0] : undefined;
      });
      if (!second) this.free(stream);
      else if (outcome?.outcome === 'key-taken') this.keyTaken(second, outcome.key);
      else if (outcome?.outcome === 'conflict') {
        this.options.log('error', `${stream.name} is shorter in the log than in memory: read anew`);
        stream.forgotten = true;
        this.putBack(second);
      } else {
        this.report([second], [outcome ?? { outcome: 'appended', firstPosition: 0 }], 0);
        this.commit(second, outcome?.firstPosition ?? 0);
      }
    } catch (error) {
      this.options.log('warn', 'the outcome of an exclusive append is unknown', error);
      await this.recover(second ?? { ...draft, waiting: stream.queue.splice(0) });
    }
  }

  /** The outcome is unknown: read what the stream holds now until the store answers, then decide what is not there. */
  private async recover(draft: Draft): Promise<void> {
    const { stream, waiting } = draft;
    for (const one of waiting) one.since ??= stream.position;
    stream.doubts += 1;
    if (stream.doubts === 1) stream.doubtedSince = performance.now();
    const deadline = stream.doubtedSince + this.options.patienceMs;
    let pause = Math.min(50 * (stream.doubts - 1), 2_000);
    for (;;) {
      await new Promise((resolve) => setTimeout(resolve, pause));
      pause = Math.min(pause * 2 + 50, 2_000);
      try {
        const newer = await this.options.store.readStream(stream.name, stream.revision);
        stream.fold(await this.options.codec.decode(newer));
        const isLate = newer.length === 0 && performance.now() > deadline;
        if (newer.length > 0) stream.doubts = 0;
        return isLate ? this.giveUp(draft, 'its flushes fail') : this.putBack(draft);
      } catch (error) {
        if (performance.now() + pause > deadline) return this.giveUp(draft, 'it cannot be read', error);
      }
    }
  }

  private giveUp({ stream, waiting }: Draft, why: string, error?: unknown): void {
    this.options.log('error', `the commands of ${stream.name} are given up: ${why}`, error);
    const answer = 'The outcome is not known yet. Repeat the request with the same Idempotency-Key.';
    for (const one of [...waiting, ...stream.queue.splice(0)]) {
      one.reject(reject('SERVICE_UNAVAILABLE', { retryAfterSeconds: 5 }, answer));
    }
    stream.doubts = 0;
    stream.forgotten = true;
    this.free(stream);
  }

  private putBack({ stream, waiting }: Draft): void {
    stream.queue.unshift(...waiting);
    this.free(stream);
  }

  private free(stream: Stream): void {
    stream.busy = false;
    stream.assumedNew = false;
    if (stream.forgotten) stream.reset();
    if (stream.queue.length > 0) this.makeReady(stream);
    this.cache.isFree(stream);
  }

  private report(drafts: readonly Draft[], outcomes: readonly AppendOutcome[], ms: number): void {
    const tenants = new Map<Tenant, number>();
    let events = 0;
    let appends = 0;
    drafts.forEach(({ stream, decided, tenants: moved }, i) => {
      const outcome = outcomes[i]!;
      if (outcome.outcome !== 'appended') return;
      if (decided.length > 0) appends += 1;
      events += decided.length;
      const position = decided.length > 0 ? outcome.firstPosition + decided.length - 1 : stream.position;
      for (const tenant of moved) tenants.set(tenant, Math.max(position, tenants.get(tenant) ?? 0));
    });
    if (tenants.size === 0) return;
    try {
      this.options.committed?.({ appends, events, ms, tenants });
    } catch (error) {
      this.options.log('error', 'a listener to commits failed', error);
    }
  }
}
