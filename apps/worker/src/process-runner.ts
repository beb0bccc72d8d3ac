import { setMaxListeners } from 'node:events';
import type pg from 'pg';
import { withDeadline } from '../../../libs/adapters/deadline.ts';
import { type Lease, type LeaseOptions, leaseHeldOf } from '../../../libs/adapters/postgres/lease.ts';
import { Shards } from '../../../libs/adapters/postgres/shards.ts';
import { messageOf, Rejection } from '../../../libs/kernel/errors.ts';
import type { EventStore, LoggedEvent } from '../../../libs/kernel/event-store.port.ts';
import { streamIdOf, type Tenant } from '../../../libs/kernel/messages.ts';
import type { AnyProcess } from '../../../libs/kernel/process.ts';
import type { Calls, Driver } from '../../../libs/runtime/drive.ts';
import type { DeadLetter } from './dead-letters.ts';
import { type Attempt, type ShareLimits, Shares } from './shares.ts';

export interface ProcessRunnerOptions {
  store: EventStore;
  driver: Driver;
  processes: readonly AnyProcess[];
  calls: Calls;
  /** Checkpoints and leases are kept here. */
  pool: pg.Pool;
  /** Keeps work that failed until its last try, for an operator. */
  park: (letter: DeadLetter) => Promise<void>;
  log: (level: 'info' | 'warn' | 'error', message: string, error?: unknown) => void;
  /** Told whenever work has to be tried again. */
  retried?: () => void;
  /** How many events are read at a time. */
  limit?: number;
  /** How much of each platform's work is done at a time; for tests. */
  shares?: ShareLimits;
  /** How often work is tried before it is parked; about an hour and a half when absent. */
  tries?: number;
  /** Times of the leases; for tests. */
  lease?: Partial<LeaseOptions>;
  /** How long attempts under way are waited for when it stops; for tests. */
  stopPatienceMs?: number;
}

/** Fixed for the life of a deployment: the streams are divided among so many shards, each with a lease and a checkpoint. */
const SHARDS = 8;
const GROUP = 'processes';
const CHECKPOINT_MS = 500;
const RETRY_MS = 1_000;
const POLL_MS = 1_000;
/**
 * Between two looks into the log, which is told of each commit: what comes together in between is found by one look. After one that found
 * so many events the next one waits longer.
 */
const GATHER_MS = 5;
const BUSY = { events: 8, gatherMs: 20 };
/** What a look came to: events with something to do, and how far it went in the log. */
const NOTHING = { found: 0, passed: 0 };
const TRIES = 200;

/**
 * How long what is in hand of a shard may still take when another worker is to have it, and when the worker is stopped. What is driven
 * twice happens once.
 */
const YIELD_PATIENCE_MS = 2_000;
export const STOP_PATIENCE_MS = 8_000;

/** One shard of the streams, while this worker holds it. */
interface Shard {
  checkpoint: string;
  lease: Lease;
  /** Position up to which events have been looked at. */
  seen: number;
  saved: number;
  /** The work at what is neither done nor parked, by position. Work that was left stays here: the checkpoint does not pass it. */
  inHand: Map<number, Promise<void>>;
  /** Platforms whose events found no room (`Shares`), each with the position after which they are still to be taken. */
  behind: Map<string, number>;
  /** Raised when the shard is to be another worker's: what fails from then on is left to that one. */
  leaving: AbortController;
}

/**
 * Follows the log and drives every process whose stream has something to do. Any number of workers may do it at once: each looks at the
 * streams of the shards that it holds. A shard's checkpoint is the position before its oldest event that is neither done nor parked, so
 * that nothing is forgotten by a crash, nor by leaving a shard to another worker; what is driven twice happens once. Of a platform's
 * events so many are in hand at most (`Shares`): those beyond are passed over, and looked for again when there is room.
 */
export class ProcessRunner {
  private readonly options: ProcessRunnerOptions;
  private readonly byType = new Map<string, AnyProcess[]>();
  private readonly sharing: Shards;
  private readonly shards = new Map<number, Shard>();
  private readonly shares: Shares;
  private running = false;
  private loop: Promise<void> | undefined;
  private unsubscribe: (() => Promise<void>) | undefined;
  private wake: () => void = () => {};
  /** There may be events that the last look did not see. */
  private isWoken = false;
  private savedAt = 0;
  /** What it is stuck on, for readiness and alarms. */
  failure: string | undefined;

  constructor(options: ProcessRunnerOptions) {
    this.options = options;
    this.shares = new Shares(() => this.nudge(), options.shares);
    for (const process of options.processes) {
      for (const type of process.startsOn) this.byType.set(type, [...(this.byType.get(type) ?? []), process]);
    }
    const { pool, log, lease } = options;
    this.sharing = new Shards(
      { pool, log, group: GROUP, shards: SHARDS, role: 'worker', ...lease },
      {
        taken: (shard, held) => this.taken(shard, held),
        yielded: (shard) => this.yielded(shard),
        lost: (shard) => {
          this.leave(shard);
          log('warn', `another worker has taken ${GROUP}/${shard} over`);
        },
      },
    );
  }

  /** Events whose work is not done yet. */
  get inHand(): number {
    return [...this.shards.values()].reduce((sum, { inHand }) => sum + inHand.size, 0);
  }

  async start(): Promise<void> {
    this.running = true;
    this.unsubscribe = await this.options.store.subscribe(() => this.nudge());
    this.loop = this.run();
    this.sharing.start();
  }

  /** Waits for the attempts under way, but not for ever, and hands over its shards; what they could not finish is the next worker's. */
  async stop(): Promise<void> {
    this.running = false;
    this.wake();
    await this.unsubscribe?.();
    await this.sharing.stop();
    await this.loop;
  }

  /** What the checkpoint of all shards was before there were shards, a new shard begins from. */
  private async taken(number: number, lease: Lease): Promise<void> {
    const checkpoint = `${GROUP}/${number}`;
    const { rows } = await this.options.pool.query<{ position: string }>(
      'SELECT position FROM checkpoints WHERE name IN ($1, $2) ORDER BY name DESC LIMIT 1',
      [checkpoint, GROUP],
    );
    const position = Number(rows[0]?.position ?? 0);
    const leaving = new AbortController();
    setMaxListeners(0, leaving.signal); // whatever waits listens, which is no leak
    this.shards.set(number, {
      checkpoint,
      lease,
      seen: position,
      saved: -1,
      inHand: new Map(),
      behind: new Map(),
      leaving,
    });
    this.nudge();
  }

  private leave(number: number): Shard | undefined {
    const shard = this.shards.get(number);
    this.shards.delete(number);
    shard?.leaving.abort();
    return shard;
  }

  private async yielded(number: number): Promise<void> {
    const shard = this.leave(number);
    if (!shard) return;
    const patienceMs = this.running ? YIELD_PATIENCE_MS : (this.options.stopPatienceMs ?? STOP_PATIENCE_MS);
    await withDeadline(Promise.allSettled(shard.inHand.values()), patienceMs, 'not finished').catch(() => {});
    await this.save([shard]);
  }

  private async run(): Promise<void> {
    while (this.running) {
      try {
        await this.follow();
      } catch (error) {
        this.failure = messageOf(error);
        this.options.log('error', `the process runner stands at position ${this.position}`, error);
        if (this.running) await this.sleep(RETRY_MS);
      }
    }
  }

  /** Up to here every shard has been looked at. */
  private get position(): number {
    return Math.min(...[...this.shards.values()].map(({ seen }) => seen));
  }

  private async follow(): Promise<void> {
    const types = [...this.byType.keys()];
    const { limit = 500, store } = this.options;
    while (this.running) {
      this.isWoken = false;
      const looked = this.shards.size === 0 ? NOTHING : await this.look(store, limit, types);
      const lookedBack = await this.lookBack(store, limit, types);
      const found = looked.found + lookedBack.found;
      const isAtEnd = found === 0 && looked.passed < limit && lookedBack.passed < limit;
      this.failure = undefined;
      if (performance.now() - this.savedAt >= CHECKPOINT_MS) await this.save([...this.shards.values()]);
      if (isAtEnd && !this.isWoken) await this.sleep(POLL_MS);
      const gatherMs = found >= BUSY.events ? BUSY.gatherMs : GATHER_MS;
      if (found < limit && this.running) await new Promise((resolve) => setTimeout(resolve, gatherMs));
    }
  }

  /** A shard that was taken, or given back, while the log was being read has its turn, or has had it. */
  private async look(store: EventStore, limit: number, types: string[]): Promise<typeof NOTHING> {
    const from = this.position;
    const { events, upTo } = await store.readAll(from, limit, types);
    const looking = [...this.shards].filter(([, { seen }]) => seen >= from);
    const shards = new Map(looking);
    for (const event of events) {
      const shard = shards.get(shardOf(event.stream));
      if (shard && event.position > shard.seen) this.take(shard, event);
    }
    for (const [, shard] of looking) shard.seen = Math.max(shard.seen, upTo);
    return { found: events.length, passed: upTo - from };
  }

  /** Takes what found no room before, of the platforms that have room again. */
  private async lookBack(store: EventStore, limit: number, types: string[]): Promise<typeof NOTHING> {
    const all = [...this.shards].flatMap(([number, shard]) =>
      [...shard.behind].map(([platform, after]) => ({ number, shard, platform, after })),
    );
    const relieved = all.filter(({ platform }) => this.shares.isRelieved(platform));
    if (relieved.length === 0) return NOTHING;
    const from = Math.min(...relieved.map(({ after }) => after));
    const { events, upTo } = await store.readAll(from, limit, types);
    const placed = events.map((event) => ({ event, number: shardOf(event.stream), platform: platformOf(event) }));
    for (const { number, shard, platform, after } of relieved) {
      if (shard.leaving.signal.aborted) continue;
      const end = Math.max(after, Math.min(upTo, shard.seen));
      shard.behind.delete(platform);
      for (const { event, ...its } of placed) {
        const isMeant = its.number === number && its.platform === platform;
        if (isMeant && event.position > after && event.position <= end) this.take(shard, event);
      }
      if (end < shard.seen && !shard.behind.has(platform)) shard.behind.set(platform, end);
    }
    return { found: events.length, passed: upTo - from };
  }

  private take(shard: Shard, event: LoggedEvent): void {
    const { inHand, behind, leaving } = shard;
    const platform = platformOf(event);
    if (behind.has(platform)) return;
    if (!this.shares.hasRoom(platform)) {
      behind.set(platform, event.position - 1);
      return;
    }
    const waiting = { ...event, payload: '' }; // of no use, and it may be large
    const done = () => inHand.delete(event.position);
    inHand.set(event.position, this.shares.run(platform, leaving.signal, this.attempts(waiting, leaving.signal, done)));
  }

  /**
   * Attempts at what an event asks for, until it is done or parked: an unknown answer is asked for again, and a fault is said each time.
   * What is left unfinished to another worker is not done.
   */
  private attempts(event: LoggedEvent, leaving: AbortSignal, done: () => void): Attempt {
    const { platform, environment, correlationId } = JSON.parse(event.metadata);
    const tenant: Tenant = { platform, environment };
    const drive = { tenant, correlationId, revision: event.revision };
    const left = [...(this.byType.get(event.type) ?? [])];
    const firstFailedAt = new Date();
    let attempts = 0;
    return async () => {
      for (let process = left[0]; process; process = left[0]) {
        if (leaving.aborted) return undefined;
        attempts += 1;
        try {
          await this.options.driver.drive(process, streamIdOf(event.stream), drive, this.options.calls);
        } catch (error) {
          this.options.retried?.();
          const isRefused = error instanceof Rejection && error.status < 500;
          const told = `${process.name} of ${event.stream}`;
          this.options.log(isRefused ? 'error' : 'warn', `${told} has to be tried again`, error);
          const { stream, position } = event;
          const letter = { process: process.name, stream, position, ...drive, attempts, firstFailedAt, error };
          const isLast = attempts >= (this.options.tries ?? TRIES);
          if (!isLast || !(await this.isParked(letter))) return pauseAfter(attempts);
        }
        left.shift();
        attempts = 0;
      }
      done();
      return undefined;
    };
  }

  private async isParked(letter: DeadLetter): Promise<boolean> {
    const told = `${letter.process} of ${letter.stream}`;
    try {
      await this.options.park(letter);
      this.options.log('error', `${told} is parked after ${letter.attempts} tries: see \`ops dead-letters\``);
      return true;
    } catch (error) {
      this.options.log('error', `${told} could not be parked`, error);
      return false;
    }
  }

  private async save(shards: readonly Shard[]): Promise<void> {
    this.savedAt = performance.now();
    const moved = shards
      .map((shard) => ({ shard, token: shard.lease.token ?? 0, position: oldestOf(shard) }))
      .filter(({ shard, position }) => position > shard.saved);
    if (moved.length === 0) return;
    const { rows } = await this.options.pool.query<{ name: string }>({
      name: 'process_checkpoints',
      text: `WITH mine AS (${leaseHeldOf('$1', '$2')})
             INSERT INTO checkpoints (name, position)
             SELECT name, position FROM unnest($1::text[], $3::bigint[]) AS moved(name, position) JOIN mine USING (name)
             ON CONFLICT (name) DO UPDATE SET position = greatest(checkpoints.position, excluded.position), advanced_at = now()
             RETURNING name`,
      values: [
        moved.map(({ shard }) => shard.checkpoint),
        moved.map(({ token }) => token),
        moved.map((m) => m.position),
      ],
    });
    const saved = new Set(rows.map(({ name }) => name));
    for (const { shard, position } of moved) {
      if (saved.has(shard.checkpoint)) shard.saved = position;
      else shard.lease.notHeld();
    }
  }

  private nudge(): void {
    this.isWoken = true;
    this.wake();
  }

  private sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

const oldestOf = ({ seen, inHand, behind }: Shard): number =>
  Math.min(seen, ...behind.values(), ...[...inHand.keys()].map((position) => position - 1));

/** How long to wait after so many attempts: twice as long each time, up to half a minute. */
const pauseAfter = (attempts: number): number => Math.min(100 * 2 ** (attempts - 1), 30_000);

/** Whose event it is, as a key: a platform in one of its environments. */
function platformOf({ metadata }: LoggedEvent): string {
  const { platform, environment } = JSON.parse(metadata) as Tenant;
  return `${platform}.${environment}`;
}

/** The shard of a stream: FNV-1a over its name. All workers, and all versions of them, must agree. */
export function shardOf(stream: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < stream.length; i += 1) hash = Math.imul(hash ^ stream.charCodeAt(i), 0x01000193);
  return (hash >>> 0) % SHARDS;
}
