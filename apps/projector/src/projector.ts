import pg from 'pg';
import { promptConnection } from '../../../libs/adapters/postgres/connection.ts';
import { DirectFeed } from '../../../libs/adapters/postgres/direct-feed.ts';
import { LeaseLost, type LeaseOptions } from '../../../libs/adapters/postgres/lease.ts';
import { checkpointsOf } from '../../../libs/adapters/postgres/live-checkpoints.ts';
import { messageOf } from '../../../libs/kernel/errors.ts';
import type { EventStore } from '../../../libs/kernel/event-store.port.ts';
import type { Feed, FeedBatch, FeedFollower, FeedPosition, RunningFeed } from '../../../libs/kernel/feed.port.ts';
import type { EventCodec } from '../../../libs/runtime/codec.ts';
import { routesOf } from './batch.ts';
import { fitCheckpoints, OtherPartitions, requireFit } from './checkpoints.ts';
import { CannotBeProjected, type Catalogue, OtherReadModels, Partition } from './partition.ts';
import { ReadTable } from './tables.ts';

export type { Catalogue } from './partition.ts';

export interface ProjectorOptions {
  url: string;
  store: EventStore;
  codec: EventCodec;
  catalogue: Catalogue;
  log: (level: 'info' | 'warn' | 'error', message: string, error?: unknown) => void;
  /** How the events come; the log itself when absent. */
  feed?: Feed;
  /** Of the log itself as a feed. */
  batchSize?: number;
  /** Told after each batch. */
  advanced?: (batch: Advanced) => void;
  /** Times of the leases, and for how long the database may say nothing; for tests. */
  lease?: Partial<LeaseOptions>;
  silenceMs?: number;
}

export interface Advanced {
  partition: number;
  position: number;
  events: number;
  ms: number;
}

/** Rows of each table that all partitions together keep in memory: each costs up to 3 KB. */
const CACHED_ROWS = 2_000;
const LEAST_CACHED_ROWS = 1_000;

/**
 * Carries the feed into the read tables. All tables, webhook deliveries and timers of a batch, and the checkpoint of its partition,
 * advance in one transaction. Any number of projectors may run: each partition is carried by one of them at a time.
 * An event that cannot be applied stops its partition and alarms; what comes before it is projected, and it is tried again, never
 * passed over, unless an operator has said so. Where the tables are those of another version of the program, or have come to be fed by
 * another feed, it stands by.
 */
export class Projector implements FeedFollower {
  private readonly options: ProjectorOptions;
  private readonly feed: Feed;
  /** For leases, while it works. */
  private pool: pg.Pool | undefined;
  private readonly partitions: readonly Partition[];
  /** What partitions are stuck on. */
  private readonly failures = new Map<number, unknown>();
  /** Partitions that were taken and not given back. */
  private readonly taken = new Set<number>();
  private running: RunningFeed | undefined;
  private hasFitted = false;
  /** The furthest position that it has carried. */
  position = 0;

  constructor(options: ProjectorOptions) {
    this.options = options;
    const { url, store, codec, log, batchSize, catalogue, lease, silenceMs } = options;
    this.feed = options.feed ?? new DirectFeed({ store, log, ...(batchSize && { batchSize }) });
    const tables = new Map(catalogue.projections.map((p) => [p.name, new ReadTable(p)]));
    const routes = routesOf(catalogue.projections, catalogue.announcers);
    const cachedRows = Math.max(LEAST_CACHED_ROWS, Math.floor(CACHED_ROWS / this.feed.partitions));
    const leases = { query: ((...args: [string]) => this.connections.query(...args)) as pg.Pool['query'] };
    const shared = { url, codec, leases, catalogue, routes, tables, cachedRows, lease, silenceMs };
    this.partitions = checkpointsOf(this.feed).map((name, n) => new Partition(n, name, shared));
  }

  /** What it is stuck on, for readiness and alarms; undefined while it goes on or another projector works. */
  get failure(): string | undefined {
    for (const failure of this.failures.values()) return messageOf(failure);
    return this.running?.failure;
  }

  async start(): Promise<void> {
    this.running = await this.feed.follow(this);
  }

  /** Finishes the batches under way and hands over the leases. */
  async stop(): Promise<void> {
    await this.running?.stop();
    const { pool } = this;
    this.pool = undefined;
    await pool?.end();
  }

  async take(partition: number): Promise<FeedPosition | undefined> {
    this.tellLost(partition);
    try {
      await this.fit();
      const stand = await this.partitions[partition]!.take();
      // that it can be taken says nothing of the event that it is stuck on; with the database it worked again
      if (!stand || !(this.failures.get(partition) instanceof CannotBeProjected)) this.failures.delete(partition);
      if (stand) {
        this.taken.add(partition);
        this.position = Math.max(this.position, stand.position);
      }
      return stand;
    } catch (error) {
      if (error instanceof OtherReadModels || error instanceof OtherPartitions) return this.standBy(partition, error);
      this.stands(partition, error);
      throw error;
    }
  }

  isSure(partition: number): boolean {
    return this.partitions[partition]!.isSure;
  }

  async carry(partition: number, batch: FeedBatch): Promise<void> {
    const started = performance.now();
    const before = this.partitions[partition]!.position;
    try {
      await this.carryParts(partition, batch);
      this.failures.delete(partition);
    } catch (error) {
      if (error instanceof LeaseLost) this.failures.delete(partition);
      else await this.stuck(partition, error);
      throw error;
    } finally {
      const { position } = this.partitions[partition]!;
      this.position = Math.max(this.position, position);
      const events = batch.events.filter((e) => e.position > before && e.position <= position).length;
      if (events > 0) this.options.advanced?.({ partition, position, events, ms: performance.now() - started });
    }
  }

  async release(partition: number): Promise<void> {
    this.failures.delete(partition);
    this.taken.delete(partition);
    await this.partitions[partition]!.release();
  }

  /** Projects a batch. When it fails, by halves, so that in the end all before the event that cannot be projected is. */
  private async carryParts(partition: number, batch: FeedBatch): Promise<void> {
    const carrying = this.partitions[partition]!;
    const { events, mark } = batch;
    try {
      await carrying.project(batch);
    } catch (error) {
      if (error instanceof LeaseLost || !(await carrying.isConnected())) throw error;
      if (events.length === 1) throw new CannotBeProjected(events[0]!, error);
      const half = Math.floor(events.length / 2);
      await this.carryParts(partition, { events: events.slice(0, half) });
      await this.carryParts(partition, { events: events.slice(half), ...(mark !== undefined && { mark }) });
    }
  }

  /** Only once, at the start: of two feeds at work the one that was started last is the one that is meant. */
  private async fit(): Promise<void> {
    if (this.hasFitted) return requireFit(this.connections, this.feed);
    await fitCheckpoints(this.connections, this.feed);
    this.hasFitted = true;
  }

  /** Says once why, and leaves the partition to others. */
  private async standBy(partition: number, error: OtherReadModels | OtherPartitions): Promise<undefined> {
    if (this.failures.get(partition)?.constructor !== error.constructor) this.stands(partition, error);
    this.taken.delete(partition);
    await this.partitions[partition]!.release();
  }

  /** It may have been found out between two batches, or by a batch: in either case it is taken again next. */
  private tellLost(partition: number): void {
    const { isHeld, position } = this.partitions[partition]!;
    if (isHeld || !this.taken.delete(partition)) return;
    const reason = 'another projector, a rebuild or an erasure took it, or it could not be renewed';
    this.options.log('info', `the lease was lost at position ${position}${this.where(partition)}: ${reason}`);
  }

  private async stuck(partition: number, error: unknown): Promise<void> {
    this.stands(partition, error);
    if (!(error instanceof CannotBeProjected)) return;
    try {
      await this.partitions[partition]!.noteFailure(error.message);
    } catch (unsaid) {
      this.options.log('warn', 'what the projector is stuck on could not be kept', unsaid);
    }
  }

  private get connections(): pg.Pool {
    if (this.pool) return this.pool;
    const { url, silenceMs } = this.options;
    this.pool = new pg.Pool({ ...promptConnection(url, 'ledgerline-projector', silenceMs), max: 1 });
    this.pool.on('error', () => {}); // an idle connection that dies is replaced at its next use
    return this.pool;
  }

  private stands(partition: number, error: unknown): void {
    this.failures.set(partition, error);
    const { position } = this.partitions[partition]!;
    this.options.log('error', `the projector stands at position ${position}${this.where(partition)}`, error);
  }

  private where(partition: number): string {
    return this.feed.partitions === 1 ? '' : ` of partition ${partition}`;
  }
}
