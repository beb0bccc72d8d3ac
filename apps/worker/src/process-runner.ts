import type pg from 'pg';
import { Rejection } from '../../../libs/kernel/errors.ts';
import type { EventStore, LoggedEvent } from '../../../libs/kernel/event-store.port.ts';
import { streamIdOf, type Tenant } from '../../../libs/kernel/messages.ts';
import type { AnyProcess } from '../../../libs/kernel/process.ts';
import type { Calls, Driver } from '../../../libs/runtime/drive.ts';
import type { DeadLetter } from './dead-letters.ts';

export interface ProcessRunnerOptions {
  store: EventStore;
  driver: Driver;
  processes: readonly AnyProcess[];
  calls: Calls;
  /** The runner's checkpoint is kept here; a session of its own holds the lease. */
  pool: pg.Pool;
  /** Keeps work that failed until its last try, for an operator. */
  park: (letter: DeadLetter) => Promise<void>;
  log: (level: 'info' | 'warn' | 'error', message: string, error?: unknown) => void;
  limit?: number;
  /** How often work is tried before it is parked; about an hour and a half when absent. */
  tries?: number;
}

const LEASE = 4_902;
const CHECKPOINT = 'processes';
const CHECKPOINT_MS = 500;
const RETRY_MS = 1_000;
const POLL_MS = 1_000;
/** Between two looks into the log, which is told of each commit: what comes together in between is found by one look. */
const GATHER_MS = 5;
const TRIES = 200;

/** A connection that is cut while it is ours: its next query fails and says so. */
const lost = () => {};

/**
 * Follows the log and drives every process whose stream has something to do. The checkpoint is the position before the oldest event
 * still in hand, so that nothing in hand is forgotten by a crash; what is driven twice happens once.
 */
export class ProcessRunner {
  private readonly options: ProcessRunnerOptions;
  private readonly byType = new Map<string, AnyProcess[]>();
  private readonly inHand = new Map<number, Promise<void>>();
  private running = false;
  private loop: Promise<void> | undefined;
  private unsubscribe: (() => Promise<void>) | undefined;
  private wake: () => void = () => {};
  /** There may be events that the last look did not see. */
  private isWoken = false;
  private position = 0;
  private saved = -1;
  private savedAt = 0;
  /** What it is stuck on, for readiness and alarms. */
  failure: string | undefined;

  constructor(options: ProcessRunnerOptions) {
    this.options = options;
    for (const process of options.processes) {
      for (const type of process.startsOn) this.byType.set(type, [...(this.byType.get(type) ?? []), process]);
    }
  }

  async start(): Promise<void> {
    this.running = true;
    this.unsubscribe = await this.options.store.subscribe(() => {
      this.isWoken = true;
      this.wake();
    });
    this.loop = this.run();
  }

  async stop(): Promise<void> {
    this.running = false;
    this.wake();
    await this.unsubscribe?.();
    await this.loop;
  }

  private async run(): Promise<void> {
    while (this.running) {
      const client = await this.options.pool.connect().catch(() => undefined);
      let isBroken = false;
      client?.on('error', lost);
      try {
        if (client && (await this.acquire(client))) await this.follow(client);
      } catch (error) {
        isBroken = true;
        this.failure = error instanceof Error ? error.message : String(error);
        this.options.log('error', `the process runner stands at position ${this.position}`, error);
      }
      if (client && !isBroken) await client.query('SELECT pg_advisory_unlock($1)', [LEASE]).catch(() => {});
      client?.off('error', lost);
      client?.release(isBroken);
      if (this.running) await this.sleep(RETRY_MS);
    }
  }

  private async acquire(client: pg.PoolClient): Promise<boolean> {
    while (this.running) {
      const { rows } = await client.query<{ mine: boolean }>('SELECT pg_try_advisory_lock($1) AS mine', [LEASE]);
      if (rows[0]!.mine) return true;
      await this.sleep(500);
    }
    return false;
  }

  private async follow(client: pg.PoolClient): Promise<void> {
    const { rows } = await client.query<{ position: string }>('SELECT position FROM checkpoints WHERE name = $1', [
      CHECKPOINT,
    ]);
    this.position = Number(rows[0]?.position ?? 0);
    const types = [...this.byType.keys()];
    const limit = this.options.limit ?? 500;
    while (this.running) {
      if (this.inHand.size >= limit) {
        await Promise.race(this.inHand.values());
        continue;
      }
      this.isWoken = false;
      const { events, upTo } = await this.options.store.readAll(this.position, limit - this.inHand.size, types);
      for (const event of events) this.take(event);
      this.position = upTo;
      this.failure = undefined;
      await this.save(client, this.inHand.size === 0 && events.length === 0);
      if (events.length === 0 && !this.isWoken) await this.sleep(POLL_MS);
      if (events.length < limit && this.running) await new Promise((resolve) => setTimeout(resolve, GATHER_MS));
    }
    await Promise.allSettled(this.inHand.values());
    await this.save(client, true);
  }

  private take(event: LoggedEvent): void {
    const work = this.handle(event).finally(() => this.inHand.delete(event.position));
    this.inHand.set(event.position, work);
  }

  /** Tries until it is done or parked: an unknown answer is asked for again, and a fault is said each time. */
  private async handle(event: LoggedEvent): Promise<void> {
    const { platform, environment, correlationId } = JSON.parse(event.metadata);
    const tenant: Tenant = { platform, environment };
    const drive = { tenant, correlationId, revision: event.revision };
    for (const process of this.byType.get(event.type) ?? []) {
      const firstFailedAt = new Date();
      for (let [attempts, pause] = [1, 100]; ; attempts += 1, pause = Math.min(pause * 2, 30_000)) {
        try {
          await this.options.driver.drive(process, streamIdOf(event.stream), drive, this.options.calls);
          break;
        } catch (error) {
          if (!this.running) return;
          const isRefused = error instanceof Rejection && error.status < 500;
          const told = `${process.name} of ${event.stream}`;
          this.options.log(isRefused ? 'error' : 'warn', `${told} has to be tried again`, error);
          const { stream, position } = event;
          const letter = { process: process.name, stream, position, ...drive, attempts, firstFailedAt, error };
          if (attempts >= (this.options.tries ?? TRIES) && (await this.isParked(letter))) break;
          await new Promise((resolve) => setTimeout(resolve, pause).unref());
        }
      }
    }
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

  private async save(client: pg.PoolClient, now: boolean): Promise<void> {
    const oldest = Math.min(this.position, ...[...this.inHand.keys()].map((position) => position - 1));
    if (oldest <= this.saved || (!now && Date.now() - this.savedAt < CHECKPOINT_MS)) return;
    await client.query({
      name: 'process_checkpoint',
      text: `INSERT INTO checkpoints (name, position) VALUES ($1, $2)
             ON CONFLICT (name) DO UPDATE SET position = greatest(checkpoints.position, excluded.position), advanced_at = now()`,
      values: [CHECKPOINT, oldest],
    });
    this.saved = oldest;
    this.savedAt = Date.now();
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
