import type pg from 'pg';
import { reject } from '../../libs/kernel/errors.ts';

/** One rebuild of read tables at a time: whoever holds this advisory lock. */
export const REBUILD_LOCK = 4_904;

/** The table that is filled beside a live one. */
export const tableBeside = (name: string): string => `${name}__rebuild`;

/**
 * Does what must not meet a rebuild: `409 CONFLICT` (`REBUILD_UNDER_WAY`) when one runs, and none begins meanwhile. What was filled ahead is
 * thrown away, since it was read from the log as that was before.
 */
export async function withoutRebuild<T>(pool: pg.Pool, work: () => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let isMine = false;
  try {
    const { rows } = await client.query<{ mine: boolean }>('SELECT pg_try_advisory_lock($1) AS mine', [REBUILD_LOCK]);
    isMine = rows[0]!.mine;
    if (!isMine) {
      const message = 'Read models are being rebuilt: repeat this when that is over.';
      throw reject('CONFLICT', { reason: 'REBUILD_UNDER_WAY' }, message);
    }
    const done = await work();
    const ahead = await client.query<{ name: string }>('DELETE FROM rebuilds RETURNING name');
    for (const { name } of ahead.rows) await client.query(`DROP TABLE IF EXISTS ${tableBeside(name)}`);
    return done;
  } finally {
    if (isMine) await client.query('SELECT pg_advisory_unlock($1)', [REBUILD_LOCK]);
    client.release();
  }
}
