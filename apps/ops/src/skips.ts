import { checkpointsOf, partitionOfCheckpoint } from '../../../libs/adapters/postgres/live-checkpoints.ts';
import { readSkips } from '../../projector/src/skips.ts';
import type { Engine } from '../../shared/engine.ts';
import { Misused } from './command.ts';
import { replay } from './replay.ts';

type Log = Pick<Engine, 'pool' | 'store' | 'partitions'>;

/**
 * Refuses to pass an event over at which nothing is stuck: a healthy one would be missing from every read model. One that is passed over
 * already may be named again.
 */
export async function requireStuck(log: Log, positions: readonly number[]): Promise<void> {
  const head = await log.store.head();
  const skips = await readSkips(log.pool);
  for (const position of positions.filter((one) => !skips.has(one))) {
    if (position > head) throw new Misused(`The log ends at position ${head}: there is no event at ${position}.`);
    if (await isStuckAt(log, position)) continue;
    throw new Misused(
      `Nothing is stuck at position ${position}: only an event that cannot be projected is passed over.`,
    );
  }
}

/** Refuses to take an event back that is not passed over. */
export async function requireSkipped({ pool }: Pick<Engine, 'pool'>, positions: readonly number[]): Promise<void> {
  const skips = await readSkips(pool);
  const other = positions.find((position) => !skips.has(position));
  if (other !== undefined) throw new Misused(`The event at position ${other} is not passed over.`);
}

/** Whether a partition of the projectors, or an unfinished rebuild, that has said so stands right before an event. */
async function isStuckAt(log: Log, position: number): Promise<boolean> {
  const { rows } = await log.pool.query<{ name: string; position: string }>(
    `SELECT name, position FROM checkpoints WHERE name = ANY($1) AND last_error IS NOT NULL
     UNION ALL SELECT 'rebuild', position FROM rebuilds WHERE last_error IS NOT NULL`,
    [checkpointsOf(log.partitions)],
  );
  for (const row of rows) {
    const partition = row.name === 'rebuild' ? undefined : partitionOfCheckpoint(row.name);
    if ((await nextEvent(log, Number(row.position), position, partition)) === position) return true;
  }
  return false;
}

/** The position of the first event between two, the last one included: of one partition of the feed, or of the whole log. */
async function nextEvent(log: Log, after: number, upTo: number, partition?: number): Promise<number | undefined> {
  const { partitions, partitionOf } = log.partitions;
  for await (const batch of replay(log, { after, upTo })) {
    const isMine = ({ metadata }: { metadata: string }) =>
      partition === undefined || partitions === 1 || partitionOf(JSON.parse(metadata).platform) === partition;
    const next = batch.find(isMine);
    if (next) return next.position;
  }
  return undefined;
}
