import type pg from 'pg';
import { liveCheckpoints } from '../../../libs/adapters/postgres/live-checkpoints.ts';
import type { AnyProjection } from '../../../libs/kernel/projection.ts';
import { ReadTable } from './tables.ts';

/** Several programs may prepare at once. */
const PREPARE_LOCK = 4_905;

/**
 * Makes the read tables that are missing and says which ones have another shape than the code: those have to be rebuilt before the
 * projector may go on. At the very first start there is nothing to rebuild.
 */
export async function prepareReadTables(
  pool: pg.Pool,
  projections: readonly AnyProjection[],
): Promise<AnyProjection[]> {
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
    await client.query('SELECT pg_advisory_xact_lock($1)', [PREPARE_LOCK]);
    const outdated = await prepare(client, projections);
    await client.query('COMMIT');
    client.release();
    return outdated;
  } catch (error) {
    client.release(true);
    throw error;
  }
}

async function prepare(client: pg.ClientBase, projections: readonly AnyProjection[]): Promise<AnyProjection[]> {
  const { rows } = await client.query<{ name: string; version: number }>('SELECT name, version FROM read_tables');
  // tables that are added later are missing to a projector that is at work already, though nothing has happened yet
  const isFirst =
    rows.length === 0 && [...(await liveCheckpoints(client)).values()].every((position) => position === 0);
  const known = new Map(rows.map((row) => [row.name, row.version]));
  const outdated: AnyProjection[] = [];
  for (const projection of projections) {
    const version = known.get(projection.name);
    if (version === projection.version) continue;
    if (version !== undefined || !isFirst) outdated.push(projection);
    if (version !== undefined) continue;
    const table = new ReadTable(projection);
    await table.create(client);
    await table.createIndexes(client);
    if (isFirst) {
      await client.query('INSERT INTO read_tables (name, version) VALUES ($1, $2) ON CONFLICT DO NOTHING', [
        projection.name,
        projection.version,
      ]);
    }
  }
  return outdated;
}

/**
 * The read tables that are not as this program makes them: of another version, not there, or of a read model that it does not know. While
 * there are any, its projector would leave rows wrong or out.
 */
export async function strangeTables(
  db: Pick<pg.ClientBase, 'query'>,
  projections: readonly AnyProjection[],
): Promise<string[]> {
  const { rows } = await db.query<{ name: string; version: number }>(
    'SELECT name, version FROM read_tables ORDER BY name',
  );
  const known = new Map(rows.map((row) => [row.name, row.version]));
  const outdated = projections.filter(({ name, version }) => known.get(name) !== version).map(({ name }) => name);
  return [...outdated, ...formerOf(rows, projections)];
}

/**
 * Drops the tables of read models that there are no more: nothing would carry events into them, nor blank what they hold of an erased
 * person. For a program that is about to project, after it has brought all others into shape.
 */
export async function dropFormerTables(pool: pg.Pool, projections: readonly AnyProjection[]): Promise<void> {
  const { rows } = await pool.query<{ name: string }>('SELECT name FROM read_tables');
  for (const name of formerOf(rows, projections)) {
    await pool.query(`DROP TABLE IF EXISTS ${name}`);
    await pool.query('DELETE FROM read_tables WHERE name = $1', [name]);
  }
}

function formerOf(tables: readonly { name: string }[], projections: readonly AnyProjection[]): string[] {
  const present = new Set(projections.map(({ name }) => name));
  return tables.map(({ name }) => name).filter((name) => !present.has(name));
}
