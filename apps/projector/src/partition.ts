import pg from 'pg';
import { withDeadline } from '../../../libs/adapters/deadline.ts';
import { promptConnection } from '../../../libs/adapters/postgres/connection.ts';
import {
  Lease,
  LeaseLost,
  type LeaseOptions,
  leaseHeld,
  limitStandstill,
} from '../../../libs/adapters/postgres/lease.ts';
import { messageOf } from '../../../libs/kernel/errors.ts';
import type { LoggedEvent } from '../../../libs/kernel/event-store.port.ts';
import type { FeedBatch, FeedPosition } from '../../../libs/kernel/feed.port.ts';
import type { RecordedEvent } from '../../../libs/kernel/messages.ts';
import type { AnyProcess } from '../../../libs/kernel/process.ts';
import type { Announcer, AnyProjection, StateRow } from '../../../libs/kernel/projection.ts';
import type { EventCodec } from '../../../libs/runtime/codec.ts';
import { platforms } from '../../../projections/platforms.ts';
import { Listeners, writeAnnouncements } from './announcements.ts';
import { Batch, type Routes, RowCache } from './batch.ts';
import { strangeTables } from './prepare.ts';
import { writeSandboxClocks } from './sandbox-clocks.ts';
import { readSkips } from './skips.ts';
import { prepareSession, type ReadTable } from './tables.ts';
import { writeTimers } from './timers.ts';

const LEAVE_MS = 2_000;

/** What is projected: read models, webhooks, and the timers of processes. */
export interface Catalogue {
  projections: readonly AnyProjection[];
  announcers: readonly Announcer[];
  /** A process's timers follow the rows of its decider's read model. */
  processes: readonly { process: AnyProcess; projection: AnyProjection }[];
}

export interface PartitionOptions {
  url: string;
  codec: EventCodec;
  /** For the lease: its heartbeats must not wait for a batch. */
  leases: Pick<pg.Pool, 'query'>;
  catalogue: Catalogue;
  routes: Routes;
  tables: ReadonlyMap<string, ReadTable>;
  /** Rows of each table to keep in memory. */
  cachedRows: number;
  lease?: Partial<LeaseOptions> | undefined;
  /** For how long the database may say nothing. */
  silenceMs?: number | undefined;
}

/**
 * One partition of the feed as it is carried into the tables, on a connection of its own. A batch begins by moving the checkpoint from
 * where this partition stands, under the lease's token: whoever lost the lease, or stands elsewhere, changes nothing.
 */
export class Partition {
  readonly checkpoint: string;
  private readonly number: number;
  private readonly options: PartitionOptions;
  private readonly lease: Lease;
  private readonly cache: RowCache;
  private readonly listeners = new Listeners();
  private client: pg.Client | undefined;
  private skips: ReadonlySet<number> = new Set();
  /** Where it stands, as of the last commit. */
  position = 0;

  constructor(number: number, checkpoint: string, options: PartitionOptions) {
    this.number = number;
    this.checkpoint = checkpoint;
    this.options = options;
    this.cache = new RowCache(options.cachedRows);
    this.lease = new Lease(options.leases, checkpoint, { role: 'projector', ...options.lease });
  }

  /**
   * Whether the connection lives on which everything was committed since `take`, and the lease is held. The commits are not waited for,
   * so that a crash of the server undoes the last ones; it ends the connection too.
   */
  get isSure(): boolean {
    return this.client !== undefined && this.isHeld;
  }

  /** Whether it has the lease, as far as is known here. */
  get isHeld(): boolean {
    return this.lease.token !== undefined;
  }

  /**
   * Takes the lease and looks where the tables stand; undefined while another projector holds it. Throws `OtherReadModels`, and leaves the
   * lease to others, when the tables are not those of this program: tables are exchanged under the lease only, so that they stay what they
   * are while it is held.
   */
  async take(): Promise<FeedPosition | undefined> {
    this.forget();
    await this.requireOwnTables();
    if (!(await this.lease.tryAcquire())) return undefined;
    await this.requireOwnTables();
    const client = await this.connected();
    try {
      const { position, mark } = await readCheckpoint(client, this.checkpoint);
      this.skips = await readSkips(client);
      this.position = position;
      return { position, ...(mark !== null && { mark }) };
    } catch (error) {
      void this.disconnect(); // one that has said nothing for too long would say nothing to the next question either
      throw error;
    }
  }

  /**
   * One batch in one transaction: checkpoint, rows, deliveries, timers. Throws `LeaseLost` when another projector has taken over; what is
   * in memory is forgotten with every failure. Without the connection of `take` nobody knows where the tables stand: it has to be asked.
   */
  async project({ events: logged, mark }: FeedBatch): Promise<void> {
    const { codec, catalogue, routes } = this.options;
    const wanted = this.skips.size === 0 ? logged : logged.filter((event) => !this.skips.has(event.position));
    const events = await codec.decode(wanted);
    const { client } = this;
    if (!client) throw new Error('the connection was lost on which the batches before were committed');
    const batch = new Batch(catalogue.projections, routes, this.cache);
    const position = logged.at(-1)!.position;
    await client.query('BEGIN');
    try {
      await this.move(client, position, mark);
      await this.write(client, batch, events);
      await client.query('COMMIT');
      batch.keep();
      this.position = position;
    } catch (error) {
      this.forget();
      await client.query('ROLLBACK').catch(() => this.disconnect());
      throw error;
    }
  }

  /** Keeps for operators what it is stuck on; the next batch that is carried forgets it. */
  async noteFailure(message: string): Promise<void> {
    const client = await this.connected();
    await client.query(
      `WITH mine AS (${leaseHeld('$2', '$3')})
       UPDATE checkpoints SET last_error = $4, failed_at = now() FROM mine WHERE name = $1`,
      [this.checkpoint, this.lease.name, this.lease.token, message],
    );
  }

  /** Whether its connection still answers. */
  async isConnected(): Promise<boolean> {
    try {
      await this.client?.query('SELECT 1');
      return this.client !== undefined;
    } catch {
      await this.disconnect();
      return false;
    }
  }

  async release(): Promise<void> {
    this.forget();
    await this.lease.release();
    await this.disconnect();
  }

  private async requireOwnTables(): Promise<void> {
    const { leases, catalogue } = this.options;
    const strange = await strangeTables(leases, catalogue.projections);
    if (strange.length === 0) return;
    await this.lease.release();
    throw new OtherReadModels(strange);
  }

  private async move(client: pg.Client, position: number, mark: string | undefined): Promise<void> {
    const { name, token } = this.lease.held;
    const { rowCount } = await client.query({
      name: 'checkpoint',
      text: `WITH mine AS (${leaseHeld('$5', '$6')})
             UPDATE checkpoints SET position = $2, mark = COALESCE($3, mark), advanced_at = now(), last_error = NULL, failed_at = NULL
               FROM mine WHERE name = $1 AND position = $4
             RETURNING pg_notify('projected', $7)`,
      values: [this.checkpoint, position, mark ?? null, this.position, name, token, `${this.number} ${position}`],
    });
    if (rowCount === 1) return;
    this.lease.notHeld();
    throw new LeaseLost(name);
  }

  private async write(client: pg.Client, batch: Batch, events: readonly RecordedEvent[]): Promise<void> {
    const { announcers } = this.options.catalogue;
    const tables = this.options.tables;
    await batch.read(events, (projection, ids) => tables.get(projection.name)!.read(client, ids));
    batch.apply(events, announcers.length > 0 ? await this.listeners.of(client, events) : () => false);
    for (const [projection, rows] of batch.changed()) await tables.get(projection.name)!.write(client, rows);
    await writeAnnouncements(client, batch.announcements);
    await this.writeTimers(client, batch);
  }

  private async writeTimers(client: pg.Client, batch: Batch): Promise<void> {
    const { processes, projections } = this.options.catalogue;
    if (projections.includes(platforms)) {
      await writeSandboxClocks(
        client,
        batch.before(platforms) as Map<string, StateRow>,
        batch.rowsOf(platforms) as StateRow[],
      );
    }
    for (const { process, projection } of processes) {
      await writeTimers(
        client,
        process,
        batch.before(projection) as Map<string, StateRow>,
        batch.rowsOf(projection) as StateRow[],
      );
    }
  }

  /** What is in memory may not be what the tables hold. */
  private forget(): void {
    this.cache.clear();
    this.listeners.clear();
  }

  private async connected(): Promise<pg.Client> {
    if (this.client) return this.client;
    const { url, silenceMs, lease } = this.options;
    const client = new pg.Client(promptConnection(url, 'ledgerline-projector', silenceMs));
    client.on('error', () => void this.disconnect(client)); // its next query fails and says so
    try {
      await client.connect();
      await prepareSession(client);
      await limitStandstill(client, lease?.expiresMs);
    } catch (error) {
      void this.disconnect(client);
      throw error;
    }
    this.client = client;
    return client;
  }

  /** Takes leave of the server, which may not be there any more. */
  private async disconnect(client = this.client): Promise<void> {
    if (this.client === client) this.client = undefined;
    if (client) await withDeadline(client.end(), LEAVE_MS, 'not closed').catch(() => {});
  }
}

async function readCheckpoint(client: pg.Client, name: string): Promise<{ position: number; mark: string | null }> {
  const { rows } = await client.query<{ position: string; mark: string | null }>(
    'SELECT position, mark FROM checkpoints WHERE name = $1',
    [name],
  );
  if (!rows[0]) throw new Error(`the checkpoint "${name}" is not there any more`);
  const { position, mark } = rows[0];
  return { position: Number(position), mark };
}

/** The tables were exchanged for those of another version of the program: a projector of this one has to be started anew. */
export class OtherReadModels extends Error {
  constructor(tables: readonly string[]) {
    super(`the read models are of another version: ${tables.join(', ')}`);
  }
}

/** An event stops its partition; the message names the event and says why. */
export class CannotBeProjected extends Error {
  constructor({ type, stream, position }: LoggedEvent, cause: unknown) {
    super(`${type} of ${stream} at position ${position} cannot be projected: ${messageOf(cause)}`, { cause });
  }
}
