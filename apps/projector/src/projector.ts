import pg from 'pg';
import type { EventStore, LoggedEvent } from '../../../libs/kernel/event-store.port.ts';
import type { RecordedEvent } from '../../../libs/kernel/messages.ts';
import type { AnyProcess } from '../../../libs/kernel/process.ts';
import type { Announcer, AnyProjection, StateRow } from '../../../libs/kernel/projection.ts';
import type { EventCodec } from '../../../libs/runtime/codec.ts';
import { Listeners, writeAnnouncements } from './announcements.ts';
import { Batch, type Routes, RowCache, routesOf } from './batch.ts';
import { ReadTable } from './tables.ts';
import { writeTimers } from './timers.ts';

/** What is projected: read models, webhooks, and the timers of processes. */
export interface Catalogue {
  projections: readonly AnyProjection[];
  announcers: readonly Announcer[];
  /** A process's timers follow the rows of its decider's read model. */
  processes: readonly { process: AnyProcess; projection: AnyProjection }[];
}

export interface ProjectorOptions {
  url: string;
  store: EventStore;
  codec: EventCodec;
  catalogue: Catalogue;
  log: (level: 'info' | 'warn' | 'error', message: string, error?: unknown) => void;
  batchSize?: number;
  /** Told after each batch. */
  advanced?: (batch: { position: number; events: number; ms: number }) => void;
}

/** One projector at a time: whoever holds this advisory lock on the connection that also writes. */
export const LEASE = 4_901;
export const CHECKPOINT = 'live';
const SAFETY_POLL_MS = 1_000;
/** A batch costs some ten statements, however small it is: after one of so many events the next one waits a moment and is larger. */
const BUSY_EVENTS = 12;
const GATHER_MS = 20;
const LEASE_POLL_MS = 500;

/**
 * Carries the log into the read tables. All tables, webhook deliveries and timers of a batch, and the checkpoint, advance in one
 * transaction, on the very connection that holds the lease: whoever lost the lease cannot write.
 * An event that cannot be applied stops the projector and alarms; what comes before it is projected, and it is tried again, never
 * passed over.
 */
export class Projector {
  private readonly options: ProjectorOptions;
  private readonly tables: Map<string, ReadTable>;
  private readonly cache = new RowCache();
  private readonly listeners = new Listeners();
  private readonly routes: Routes;
  private running = false;
  private loop: Promise<void> | undefined;
  private wake: () => void = () => {};
  private hurry: () => void = () => {};
  private unsubscribe: (() => Promise<void>) | undefined;
  private head = 0;
  /** Position up to which everything is projected. */
  position = 0;
  /** What it is stuck on, for readiness and alarms. */
  failure: string | undefined;

  constructor(options: ProjectorOptions) {
    this.options = options;
    const { projections, announcers } = options.catalogue;
    this.routes = routesOf(projections, announcers);
    this.tables = new Map(projections.map((p) => [p.name, new ReadTable(p)]));
  }

  async start(): Promise<void> {
    this.running = true;
    this.unsubscribe = await this.options.store.subscribe((head) => {
      this.head = Math.max(this.head, head);
      this.wake();
    });
    this.loop = this.run();
  }

  /** Finishes the batch under way and hands over the lease. */
  async stop(): Promise<void> {
    this.running = false;
    this.wake();
    this.hurry();
    await this.unsubscribe?.();
    await this.loop;
  }

  private async run(): Promise<void> {
    let pause = 100;
    while (this.running) {
      const client = new pg.Client({
        connectionString: this.options.url,
        application_name: 'ledgerline-projector',
        keepAlive: true,
      });
      let lost: unknown;
      client.on('error', (error) => {
        lost ??= error;
      });
      try {
        await client.connect();
        await client.query('SET synchronous_commit = off'); // everything written here can be rebuilt from the log
        if (await this.acquire(client)) {
          pause = 100;
          await this.follow(client);
        }
      } catch (error) {
        if (isSentAway(lost) || isSentAway(error))
          this.options.log('info', `the lease is taken over at position ${this.position}`);
        else {
          this.failure = error instanceof Error ? error.message : String(error);
          this.options.log('error', `the projector stands at position ${this.position}`, error);
          pause = Math.min(pause * 2, 5_000);
        }
      }
      this.forget();
      await client.end().catch(() => {});
      await this.pause(pause);
    }
  }

  private async acquire(client: pg.Client): Promise<boolean> {
    while (this.running) {
      const { rows } = await client.query<{ mine: boolean }>('SELECT pg_try_advisory_lock($1) AS mine', [LEASE]);
      if (rows[0]!.mine) return true;
      await this.pause(LEASE_POLL_MS);
    }
    return false;
  }

  private async follow(client: pg.Client): Promise<void> {
    const { rows } = await client.query<{ position: string }>('SELECT position FROM checkpoints WHERE name = $1', [
      CHECKPOINT,
    ]);
    this.position = Number(rows[0]?.position ?? 0);
    const { batchSize = 1_000 } = this.options;
    while (this.running) {
      const { events: logged } = await this.options.store.readAll(this.position, batchSize);
      if (logged.length === 0) {
        this.failure = undefined;
        if (this.head <= this.position) await this.untilWoken(SAFETY_POLL_MS);
        else this.head = this.position;
        continue;
      }
      const started = performance.now();
      await this.carry(client, logged);
      if (this.position === logged.at(-1)!.position) this.failure = undefined;
      const events = logged.filter(({ position }) => position <= this.position).length;
      this.options.advanced?.({ position: this.position, events, ms: performance.now() - started });
      if (events >= BUSY_EVENTS && logged.length < batchSize) await this.pause(GATHER_MS);
    }
  }

  /** What is in memory may not be what the tables hold. */
  private forget(): void {
    this.cache.clear();
    this.listeners.clear();
  }

  /** Projects a batch. When it fails, half of it, so that in the end all but the event that cannot be projected is. */
  private async carry(client: pg.Client, logged: readonly LoggedEvent[]): Promise<void> {
    try {
      await this.project(client, await this.options.codec.decode(logged));
    } catch (error) {
      await client.query('SELECT 1').catch(() => {
        throw error; // it is the connection that failed
      });
      if (logged.length > 1) return this.carry(client, logged.slice(0, logged.length / 2));
      const [{ type, stream, position }] = logged as [LoggedEvent];
      const reason = error instanceof Error ? error.message : String(error);
      throw new Error(`${type} of ${stream} at position ${position} cannot be projected: ${reason}`, { cause: error });
    }
  }

  /** One batch in one transaction: rows, deliveries, timers, checkpoint. */
  private async project(client: pg.Client, events: readonly RecordedEvent[]): Promise<void> {
    const { projections, announcers, processes } = this.options.catalogue;
    const batch = new Batch(projections, this.routes, this.cache);
    await client.query('BEGIN');
    try {
      await batch.read(events, (projection, ids) => this.tables.get(projection.name)!.read(client, ids));
      batch.apply(events, announcers.length > 0 ? await this.listeners.of(client, events) : () => false);
      for (const [projection, rows] of batch.changed()) await this.tables.get(projection.name)!.write(client, rows);
      await writeAnnouncements(client, batch.announcements);
      for (const { process, projection } of processes) {
        await writeTimers(
          client,
          process,
          batch.before(projection) as Map<string, StateRow>,
          batch.rowsOf(projection) as StateRow[],
        );
      }
      const position = events.at(-1)!.position;
      await client.query({
        name: 'checkpoint',
        text: `INSERT INTO checkpoints (name, position) VALUES ($1, $2)
               ON CONFLICT (name) DO UPDATE SET position = excluded.position, advanced_at = now()
               RETURNING pg_notify('projected', position::text)`,
        values: [CHECKPOINT, position],
      });
      await client.query('COMMIT');
      batch.keep();
      this.position = position;
    } catch (error) {
      this.forget();
      await client.query('ROLLBACK').catch(() => {});
      throw error;
    }
  }

  /** Waits until there may be newer events. */
  private untilWoken(ms: number): Promise<void> {
    return this.running ? this.sleep(ms, (end) => (this.wake = end)) : Promise.resolve();
  }

  /** Waits however many events come, unless the projector is stopped. */
  private pause(ms: number): Promise<void> {
    return this.running ? this.sleep(ms, (end) => (this.hurry = end)) : Promise.resolve();
  }

  private sleep(ms: number, early: (end: () => void) => void): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      early(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }
}

/** A rebuild ends the connection that holds the lease, which hands the lease over to it for a while (rebuild.ts). */
const isSentAway = (error: unknown): boolean => (error as { code?: string } | undefined)?.code === '57P01';
