import type pg from 'pg';
import { checkpointsOf, liveCheckpoints } from '../../../libs/adapters/postgres/live-checkpoints.ts';
import type { Feed } from '../../../libs/kernel/feed.port.ts';

/**
 * Brings the checkpoints into the form that a feed needs. From one partition to several each begins where the one stood. Every other
 * change of their number would have to know which events each old one had carried: it is refused, with what to do.
 */
export async function fitCheckpoints(pool: pg.Pool, feed: Pick<Feed, 'partitions'>): Promise<void> {
  const names = checkpointsOf(feed);
  const isFit = (known: ReadonlyMap<string, number>) => [...known.keys()].every((name) => names.includes(name));
  if (isFit(await liveCheckpoints(pool))) return;
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
    await client.query('LOCK TABLE checkpoints IN SHARE ROW EXCLUSIVE MODE');
    const known = await liveCheckpoints(client);
    if (!isFit(known)) {
      const position = known.get('live');
      if (known.size !== 1 || position === undefined) throw new Error(otherPartitions(known.size, names.length));
      await client.query(`DELETE FROM checkpoints WHERE name = 'live'`);
      await client.query('INSERT INTO checkpoints (name, position) SELECT unnest($1::text[]), $2', [names, position]);
    }
    await client.query('COMMIT');
    client.release();
  } catch (error) {
    client.release(true);
    throw error;
  }
}

const otherPartitions = (before: number, now: number): string =>
  `The read models were fed in ${before} partitions, and are to be fed in ${now} now: docs/operations.md says how to change that.`;
