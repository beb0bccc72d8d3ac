import type pg from 'pg';
import { onOwnConnection } from '../../libs/adapters/postgres/own-connection.ts';
import { reject } from '../../libs/kernel/errors.ts';

const REBUILD_LOCK = 4_904;

/** One rebuild of read tables at a time: true when this connection is the one that may, until it ends. */
export async function tryRebuildLock(client: Pick<pg.ClientBase, 'query'>): Promise<boolean> {
  const { rows } = await client.query<{ mine: boolean }>('SELECT pg_try_advisory_lock($1) AS mine', [REBUILD_LOCK]);
  return rows[0]!.mine;
}

const BESIDE = '__rebuild';

/** The table that is filled beside a live one. */
export const tableBeside = (name: string): string => `${name}${BESIDE}`;

/**
 * Does what must not meet a rebuild: `409 CONFLICT` (`REBUILD_UNDER_WAY`) when one runs, and none begins meanwhile. What was filled ahead is
 * thrown away, since it was read from the log as that was before.
 */
export const withoutRebuild = <T>(databaseUrl: string, work: () => Promise<T>): Promise<T> =>
  onOwnConnection(databaseUrl, 'ledgerline-no-rebuild', async (client) => {
    if (!(await tryRebuildLock(client))) {
      const message = 'Read models are being rebuilt: repeat this when that is over.';
      throw reject('CONFLICT', { reason: 'REBUILD_UNDER_WAY' }, message);
    }
    const done = await work();
    // by their names: a rebuild that was interrupted as it began may have left one that it has no note of
    const ahead = await client.query<{ name: string }>(
      'SELECT tablename AS name FROM pg_tables WHERE schemaname = current_schema() AND right(tablename, $1) = $2',
      [BESIDE.length, BESIDE],
    );
    for (const { name } of ahead.rows) await client.query(`DROP TABLE IF EXISTS ${name}`);
    await client.query('DELETE FROM rebuilds');
    return done;
  });
