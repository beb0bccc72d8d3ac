import type pg from 'pg';
import { checkpointsOf, liveCheckpoints } from '../../../libs/adapters/postgres/live-checkpoints.ts';
import type { Feed } from '../../../libs/kernel/feed.port.ts';

type Known = ReadonlyMap<string, number>;

/**
 * Brings the checkpoints into the form that a feed needs, all of them at once: which ones there are says in how many partitions the
 * read models are fed. From one partition to several each begins where the one stood. Every other change of their number would have to
 * know which events each old one had carried: `OtherPartitions` is thrown, with what to do.
 */
export async function fitCheckpoints(pool: pg.Pool, feed: Pick<Feed, 'partitions'>): Promise<void> {
  const names = checkpointsOf(feed);
  if (isFit(await liveCheckpoints(pool), names)) return;
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
    await client.query('LOCK TABLE checkpoints IN SHARE ROW EXCLUSIVE MODE');
    const known = await liveCheckpoints(client);
    if (!isFit(known, names)) await makeFit(client, known, names);
    await client.query('COMMIT');
    client.release();
  } catch (error) {
    client.release(true);
    throw error;
  }
}

/** Throws `OtherPartitions` when the checkpoints are those of another feed, to which they were brought since they were this one's. */
export async function requireFit(pool: Pick<pg.Pool, 'query'>, feed: Pick<Feed, 'partitions'>): Promise<void> {
  const known = await liveCheckpoints(pool);
  if (!isFit(known, checkpointsOf(feed))) throw new OtherPartitions(known.size, feed.partitions);
}

/** Another feed than that of the checkpoints: it must not carry anything. */
export class OtherPartitions extends Error {
  constructor(before: number, now: number) {
    super(
      `The read models were fed in ${before} partitions, and are to be fed in ${now} now: docs/operations.md says how to change that.`,
    );
  }
}

const isFit = (known: Known, names: readonly string[]): boolean =>
  known.size === names.length && names.every((name) => known.has(name));

async function makeFit(client: pg.ClientBase, known: Known, names: readonly string[]): Promise<void> {
  const undivided = known.size === 1 ? known.get('live') : undefined;
  const isPartOf = [...known.keys()].every((name) => names.includes(name));
  if (!isPartOf && undivided === undefined) throw new OtherPartitions(known.size, names.length);
  await client.query(`DELETE FROM checkpoints WHERE name = 'live'`);
  await client.query(
    'INSERT INTO checkpoints (name, position) SELECT unnest($1::text[]), $2 ON CONFLICT (name) DO NOTHING',
    [names, undivided ?? 0],
  );
}
