import type pg from 'pg';
import { holdsLease, Lease, LeaseLost, type LeaseOptions } from '../../../libs/adapters/postgres/lease.ts';
import { checkpointsOf } from '../../../libs/adapters/postgres/live-checkpoints.ts';
import { onOwnConnection } from '../../../libs/adapters/postgres/own-connection.ts';
import type { AnyProjection } from '../../../libs/kernel/projection.ts';
import type { Engine } from '../../shared/engine.ts';
import { tryRebuildLock } from '../../shared/rebuild-lock.ts';
import { fitCheckpoints } from './checkpoints.ts';
import { type Comparison, compareTables, haveSameRows } from './compare.ts';
import { besideOf, Refill } from './refill.ts';
import { forgetSkips, readSkips, recordSkips } from './skips.ts';

export interface RebuildOptions {
  signal?: AbortSignal;
  /** Told after each batch. `rate` is in positions per second. */
  progress?: (at: RebuildProgress) => void;
  batchSize?: number;
  /** Rows of differences to keep per table. */
  show?: number;
  /** How many tables are filled by one pass over the log; all by default, which is quickest and takes most memory. */
  atOnce?: number;
  /** Positions of events to be passed over, here and by every projector from now on. Recorded before anything else. */
  skip?: readonly number[];
  /** Positions of events that are not to be passed over any more, which is kept before anything else too. */
  unskip?: readonly number[];
  /**
   * Only fills the new tables beside the live ones, without exchanging them: the next rebuild goes on from there. What a new version
   * needs can be made while the old one works.
   */
  ahead?: boolean;
  /** Waits while another rebuild is under way, and then leaves out the tables that it has brought into shape: for the start of a program. */
  wait?: boolean;
  /** Events after which the position of the new tables is kept, for going on after an interruption. */
  keepEvery?: number;
  /** Times of the leases; for tests. */
  lease?: Partial<LeaseOptions>;
}

export interface RebuildProgress {
  position: number;
  upTo: number;
  rate: number;
  /** The tables of this pass. */
  tables: readonly string[];
}

export interface RebuiltTable {
  name: string;
  rows: number;
  /** What was different in the table that was live; undefined when that one had another shape. */
  compared: Comparison | undefined;
}

export interface Rebuilt {
  /** Events that were replayed, those of an interrupted rebuild before it not counted. */
  events: number;
  seconds: number;
  /** The tables that have been exchanged; none when only filled ahead. */
  tables: RebuiltTable[];
}

export type RebuildSource = Pick<Engine, 'url' | 'pool' | 'store' | 'codec' | 'partitions'>;

const LOCK_POLL_MS = 500;
/** When the last round was shorter than so many events, the projectors are made to wait for the rest. */
const NEARLY = 5_000;
const SHOWN_ROWS = 20;
const LOCK_TIMEOUT_MS = 5_000;
const SWAP_ATTEMPTS = 12;

/**
 * Builds read tables anew from the log, beside the live ones (architecture §7). At the end the projectors are kept waiting while the last
 * events are added, the new rows are compared with the live ones, and the tables of a pass change places in one transaction. Webhooks
 * and deliveries are not touched, so nothing is sent again. A timer that a row waits for and that is missing, since the event was passed
 * over that sets it, is made up for.
 *
 * When it is interrupted or an event cannot be projected (the error names it), the new tables stay, and the next rebuild of the same
 * shape goes on from them.
 */
export async function rebuild(
  source: RebuildSource,
  projections: readonly AnyProjection[],
  options: RebuildOptions = {},
): Promise<Rebuilt> {
  return onOwnConnection(source.url, 'ledgerline-rebuild', async (client) => {
    await lock(client, options);
    await client.query(`SET work_mem = '64MB'`);
    await fitCheckpoints(source.pool, source.partitions);
    await recordSkips(source.pool, options.skip ?? []);
    await forgetSkips(source.pool, options.unskip ?? []);
    const startedMs = performance.now();
    const done: Rebuilt = { events: 0, seconds: 0, tables: [] };
    const due = options.wait ? await outdated(client, projections) : projections;
    const atOnce = Math.max(1, options.atOnce ?? due.length);
    for (let from = 0; from < due.length; from += atOnce) {
      const { events, tables } = await new Pass(source, due.slice(from, from + atOnce), options, client).run();
      done.events += events;
      done.tables.push(...tables);
    }
    return { ...done, seconds: (performance.now() - startedMs) / 1_000 };
  });
}

/** On the connection that also writes. */
async function lock(client: pg.Client, { wait, signal }: RebuildOptions): Promise<void> {
  for (;;) {
    signal?.throwIfAborted();
    if (await tryRebuildLock(client)) return;
    if (!wait) throw new Error('Another rebuild is under way on this database.');
    await new Promise((resolve) => setTimeout(resolve, LOCK_POLL_MS));
  }
}

async function outdated(client: pg.Client, projections: readonly AnyProjection[]): Promise<AnyProjection[]> {
  const { rows } = await client.query<{ name: string; version: number }>('SELECT name, version FROM read_tables');
  const known = new Map(rows.map(({ name, version }) => [name, version]));
  return projections.filter(({ name, version }) => known.get(name) !== version);
}

/** Some tables, filled by one pass over the log and exchanged together. */
class Pass {
  private readonly source: RebuildSource;
  private readonly projections: readonly AnyProjection[];
  private readonly options: RebuildOptions;
  private readonly client: pg.Client;
  /** Of the live tables: what projectors hold while they work. */
  private readonly live: readonly Lease[];

  constructor(
    source: RebuildSource,
    projections: readonly AnyProjection[],
    options: RebuildOptions,
    client: pg.Client,
  ) {
    this.source = source;
    this.projections = projections;
    this.options = options;
    this.client = client;
    this.live = checkpointsOf(source.partitions).map(
      (name) => new Lease(source.pool, name, { role: 'rebuild', ...options.lease }),
    );
  }

  async run(): Promise<{ events: number; tables: RebuiltTable[] }> {
    const skips = await readSkips(this.client);
    const refill = new Refill(this.source, this.projections, { ...this.options, skips }, this.client);
    await refill.begin();
    try {
      let moved: number;
      do moved = await refill.untilLive();
      while (moved > NEARLY);
      if (this.options.ahead) return { events: refill.events, tables: [] };
      await refill.index();
      for (const lease of this.live) await lease.seize();
      await refill.rest();
      const tables: RebuiltTable[] = [];
      for (const projection of this.projections) tables.push(await this.compared(projection));
      await this.swap(refill);
      return { events: refill.events, tables };
    } finally {
      for (const lease of this.live) await lease.release();
    }
  }

  private async compared(projection: AnyProjection): Promise<RebuiltTable> {
    const { client } = this;
    const { name } = projection;
    const rebuilt = besideOf(projection);
    const isOutdated = (await outdated(client, [projection])).length > 0;
    const compared = isOutdated ? undefined : await this.compare(projection);
    const { rows } = await client.query<{ count: string }>(`SELECT count(*) FROM ${rebuilt}`);
    return { name, rows: Number(rows[0]!.count), compared };
  }

  private async compare(projection: AnyProjection): Promise<Comparison> {
    const { client } = this;
    const { name: live } = projection;
    const rebuilt = besideOf(projection);
    if (await haveSameRows(client, live, rebuilt)) return { differing: 0, differences: [] };
    await client.query('BEGIN');
    const found = await compareTables(client, projection, { live, rebuilt }, this.options.show ?? SHOWN_ROWS);
    await client.query('COMMIT');
    return found;
  }

  /** A reader that takes long holds the exchange up; the exchange waits in short turns, so as not to hold up all others. */
  private async swap(refill: Refill): Promise<void> {
    const { client } = this;
    for (let attempt = 1; ; attempt += 1) {
      try {
        await client.query('BEGIN');
        await client.query(`SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}`);
        for (const lease of this.live) {
          if (!(await holdsLease(client, lease.held))) throw new LeaseLost(lease.name);
        }
        for (const projection of this.projections) await exchange(client, projection, besideOf(projection));
        await refill.makeUpTimers(client);
        await client.query('COMMIT');
        return;
      } catch (error) {
        await client.query('ROLLBACK');
        const isLocked = (error as { code?: string }).code === '55P03';
        if (!isLocked || attempt === SWAP_ATTEMPTS) throw error;
      }
    }
  }
}

/** Puts a table in the place of the live one, with its indexes' names, in the transaction that `client` is in. */
async function exchange(client: pg.ClientBase, { name, version }: AnyProjection, fresh: string): Promise<void> {
  await client.query(`DROP TABLE IF EXISTS ${name}`);
  await client.query(`ALTER TABLE ${fresh} RENAME TO ${name}`);
  const { rows } = await client.query<{ index: string }>(
    `SELECT indexname AS index FROM pg_indexes WHERE schemaname = current_schema() AND tablename = $1`,
    [name],
  );
  for (const { index } of rows) await client.query(`ALTER INDEX ${index} RENAME TO ${index.replace(fresh, name)}`);
  await client.query(
    `INSERT INTO read_tables (name, version) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET version = excluded.version`,
    [name, version],
  );
  await client.query('DELETE FROM rebuilds WHERE name = $1', [name]);
}
