import type pg from 'pg';
import {
  checkpointsOf,
  liveCheckpoints,
  partitionOfCheckpoint,
} from '../../../libs/adapters/postgres/live-checkpoints.ts';
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
  if (!isFit(known, checkpointsOf(feed))) throw new OtherPartitions(known, feed.partitions);
}

/** Another feed than that of the checkpoints: it must not carry anything. */
export class OtherPartitions extends Error {
  constructor(known: Known, now: number) {
    const before = isFit(known, checkpointsOf({ partitions: known.size })) ? known.size : 'other';
    super(
      `The read models were fed in ${before} partitions, and are to be fed in ${now} now: docs/operations.md says how to change that.`,
    );
  }
}

const isFit = (known: Known, names: readonly string[]): boolean =>
  known.size === names.length && names.every((name) => known.has(name));

async function makeFit(client: pg.ClientBase, known: Known, names: readonly string[]): Promise<void> {
  const undivided = known.size === 1 ? known.get('live') : undefined;
  if (known.size > 0 && undivided === undefined) {
    if ((await partitionsOf(client, known)) !== names.length) throw new OtherPartitions(known, names.length);
  }
  await client.query(`DELETE FROM checkpoints WHERE name = 'live'`);
  await client.query(
    'INSERT INTO checkpoints (name, position) SELECT unnest($1::text[]), $2 ON CONFLICT (name) DO NOTHING',
    [names, undivided ?? 0],
  );
}

/**
 * The number of partitions of checkpoints that were once written one by one, each when its partition was first taken: that of the only
 * topic which a relay has filled and which has them all. Undefined when nobody can tell.
 */
async function partitionsOf(client: pg.ClientBase, known: Known): Promise<number | undefined> {
  if (known.has('live')) return undefined;
  const last = Math.max(...[...known.keys()].map(partitionOfCheckpoint));
  const { rows } = await client.query<{ partitions: number }>(
    'SELECT DISTINCT partitions FROM relays WHERE partitions > greatest($1::int, 1)',
    [last],
  );
  return rows.length === 1 ? rows[0]!.partitions : undefined;
}
