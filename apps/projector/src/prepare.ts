import type pg from 'pg';
import { liveCheckpoints } from '../../../libs/adapters/postgres/live-checkpoints.ts';
import type { AnyProjection } from '../../../libs/kernel/projection.ts';
import { ReadTable } from './tables.ts';

/** Several programs may prepare at once. */
const PREPARE_LOCK = 4_905;

/**
 * Makes the read tables that are missing and says which ones have another shape than the code: those have to be rebuilt before the
 * projector may go on. On an empty log there is nothing to rebuild.
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
  const isEmpty = [...(await liveCheckpoints(client)).values()].every((position) => position === 0);
  const known = new Map(rows.map((row) => [row.name, row.version]));
  const outdated: AnyProjection[] = [];
  for (const projection of projections) {
    const version = known.get(projection.name);
    if (version === projection.version) continue;
    if (version !== undefined || !isEmpty) outdated.push(projection);
    if (version !== undefined) continue;
    const table = new ReadTable(projection);
    await table.create(client);
    await table.createIndexes(client);
    if (isEmpty) {
      await client.query('INSERT INTO read_tables (name, version) VALUES ($1, $2) ON CONFLICT DO NOTHING', [
        projection.name,
        projection.version,
      ]);
    }
  }
  return outdated;
}
