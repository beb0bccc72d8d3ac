import pg from 'pg';
import type { AnyProjection } from '../../../libs/kernel/projection.ts';
import type { Engine } from '../../shared/engine.ts';
import { type Comparison, compareTables, haveSameRows } from './compare.ts';
import { Fill } from './fill.ts';
import { oneByOne } from './one-by-one.ts';
import { CHECKPOINT, LEASE } from './projector.ts';

export interface RebuildOptions {
  signal?: AbortSignal;
  /** Told after each batch. `rate` is in events per second. */
  progress?: (at: { position: number; upTo: number; rate: number }) => void;
  batchSize?: number;
  /** Rows of differences to keep per table. */
  show?: number;
}

export interface RebuiltTable {
  name: string;
  rows: number;
  /** What was different in the table that was live; undefined when that one had another shape. */
  compared: Comparison | undefined;
}

export interface Rebuilt {
  events: number;
  seconds: number;
  tables: RebuiltTable[];
}

type Source = Pick<Engine, 'url' | 'pool' | 'store' | 'codec'>;

/** One rebuild at a time. */
const REBUILD_LOCK = 4_904;
/** Small enough to be garbage before the collector has to move it: larger batches cost a quarter more. */
const BATCH_SIZE = 1_000;
/** With fewer events than this to go, the projector is made to wait for the rest. */
const NEARLY = 5_000;
const SHOWN_ROWS = 20;
const LOCK_TIMEOUT_MS = 5_000;
const SWAP_ATTEMPTS = 12;

/**
 * Builds read tables anew from the log, beside the live ones (architecture §7). At the end the projector is kept waiting while the last
 * events are added, the new rows are compared with the live ones, and the tables change places in one transaction. Webhooks, deliveries
 * and timers are not touched: nothing is sent or started again.
 */
export async function rebuild(
  source: Source,
  projections: readonly AnyProjection[],
  options: RebuildOptions = {},
): Promise<Rebuilt> {
  const client = new pg.Client({ connectionString: source.url, application_name: 'ledgerline-rebuild' });
  client.on('error', () => {});
  await client.connect();
  try {
    const { rows } = await client.query<{ mine: boolean }>('SELECT pg_try_advisory_lock($1) AS mine', [REBUILD_LOCK]);
    if (!rows[0]!.mine) throw new Error('Another rebuild is under way on this database.');
    await client.query('SET synchronous_commit = off');
    await client.query(`SET work_mem = '64MB'; SET maintenance_work_mem = '128MB'`);
    return await new Rebuild(source, projections, options, client).run();
  } finally {
    await client.end();
  }
}

const besideOf = (projection: AnyProjection): string => `${projection.name}__rebuild`;

class Rebuild {
  private readonly source: Source;
  private readonly options: RebuildOptions;
  private readonly client: pg.Client;
  private readonly fills: Fill[];
  private readonly startedMs = performance.now();
  private position = 0;

  constructor(source: Source, projections: readonly AnyProjection[], options: RebuildOptions, client: pg.Client) {
    this.source = source;
    this.options = options;
    this.client = client;
    const db = oneByOne(client);
    this.fills = projections.map((projection) => new Fill(projection, besideOf(projection), db));
  }

  async run(): Promise<Rebuilt> {
    try {
      for (const { table } of this.fills) {
        await this.client.query(`DROP TABLE IF EXISTS ${table.table}`);
        await table.create(this.client);
        await this.client.query(`ALTER TABLE ${table.table} SET (autovacuum_enabled = off)`);
      }
      do await this.fillUpTo(await this.checkpoint());
      while ((await this.checkpoint()) - this.position > NEARLY);
      for (const { table } of this.fills) {
        await table.createIndexes(this.client);
        await this.client.query(`ALTER TABLE ${table.table} RESET (autovacuum_enabled)`);
        await this.client.query(`ANALYZE ${table.table}`);
      }
      await this.takeLease();
      await this.fillUpTo(await this.checkpoint());
      const tables: RebuiltTable[] = [];
      for (const fill of this.fills) tables.push(await this.exchange(fill));
      return { events: this.position, seconds: (performance.now() - this.startedMs) / 1_000, tables };
    } catch (error) {
      for (const { table } of this.fills) {
        await this.client.query(`DROP TABLE IF EXISTS ${table.table}`).catch(() => {}); // the next rebuild drops it too
      }
      throw error;
    }
  }

  /** Position that the live tables stand at. */
  private async checkpoint(): Promise<number> {
    const { rows } = await this.client.query<{ position: string }>('SELECT position FROM checkpoints WHERE name = $1', [
      CHECKPOINT,
    ]);
    return Number(rows[0]?.position ?? 0);
  }

  /** The next batch is fetched while this one is folded and the one before is written. */
  private async fillUpTo(upTo: number): Promise<void> {
    const { store, codec } = this.source;
    const read = (after: number) =>
      after < upTo ? store.readAll(after, Math.min(this.options.batchSize ?? BATCH_SIZE, upTo - after)) : undefined;
    let ahead = read(this.position);
    while (ahead) {
      const { events, upTo: reached } = await ahead;
      if (events.length === 0) throw new Error(`The log ends at position ${this.position}, before ${upTo}.`);
      this.options.signal?.throwIfAborted();
      ahead = read(reached);
      ahead?.catch(() => {}); // awaited in the next round, unless this one fails
      const decoded = await codec.decode(events);
      for (const fill of this.fills) await fill.take(decoded);
      this.position = reached;
      const seconds = (performance.now() - this.startedMs) / 1_000;
      this.options.progress?.({ position: reached, upTo, rate: reached / seconds });
    }
    for (const fill of this.fills) await fill.flush();
  }

  /**
   * The projector gives its lease up when its connection ends; until this connection ends it cannot have it back. What it has in
   * memory is forgotten on the way, so that it goes on from the new rows.
   */
  private async takeLease(): Promise<void> {
    let isMine = false;
    const { rows } = await this.client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    const taken = this.client.query('SELECT pg_advisory_lock($1)', [LEASE]).finally(() => {
      isMine = true;
    });
    while (!isMine) {
      await this.source.pool.query(
        `SELECT pg_terminate_backend(pid) FROM pg_locks
          WHERE locktype = 'advisory' AND classid = 0 AND objid = $1 AND objsubid = 1 AND granted AND pid <> $2
            AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
        [LEASE, rows[0]!.pid],
      );
      await Promise.race([taken, new Promise((resolve) => setTimeout(resolve, 100))]);
    }
    await taken;
  }

  private async exchange({ projection, table }: Fill): Promise<RebuiltTable> {
    const { rows: known } = await this.client.query<{ version: number }>(
      'SELECT version FROM read_tables WHERE name = $1',
      [projection.name],
    );
    const isSameShape = known[0]?.version === projection.version;
    const compared = isSameShape ? await this.compare(projection, table.table) : undefined;
    const { rows } = await this.client.query<{ count: string }>(`SELECT count(*) FROM ${table.table}`);
    await this.swap(projection, table.table);
    return { name: projection.name, rows: Number(rows[0]!.count), compared };
  }

  private async compare(projection: AnyProjection, rebuilt: string): Promise<Comparison> {
    const { name: live } = projection;
    if (await haveSameRows(this.client, live, rebuilt)) return { differing: 0, differences: [] };
    await this.client.query('BEGIN');
    const found = await compareTables(this.client, projection, { live, rebuilt }, this.options.show ?? SHOWN_ROWS);
    await this.client.query('COMMIT');
    return found;
  }

  /** A reader that takes long holds the exchange up; the exchange waits in short turns, so as not to hold up all others. */
  private async swap(projection: AnyProjection, fresh: string): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        await this.client.query('BEGIN');
        await this.client.query(`SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}`);
        await this.client.query(`DROP TABLE IF EXISTS ${projection.name}`);
        await this.client.query(`ALTER TABLE ${fresh} RENAME TO ${projection.name}`);
        const { rows } = await this.client.query<{ name: string }>(
          `SELECT indexname AS name FROM pg_indexes WHERE schemaname = current_schema() AND tablename = $1`,
          [projection.name],
        );
        for (const { name } of rows) {
          await this.client.query(`ALTER INDEX ${name} RENAME TO ${name.replace(fresh, projection.name)}`);
        }
        await this.client.query(
          `INSERT INTO read_tables (name, version) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET version = excluded.version`,
          [projection.name, projection.version],
        );
        await this.client.query('COMMIT');
        return;
      } catch (error) {
        await this.client.query('ROLLBACK');
        const isLocked = (error as { code?: string }).code === '55P03';
        if (!isLocked || attempt === SWAP_ATTEMPTS) throw error;
      }
    }
  }
}
