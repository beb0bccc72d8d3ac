import type pg from 'pg';
import type { Feed } from '../../kernel/feed.port.ts';

/** Names of the read side's checkpoints and leases: `live` where the feed has one partition, else `live/<n>`. */
export const checkpointsOf = ({ partitions }: Pick<Feed, 'partitions'>): string[] =>
  partitions === 1 ? ['live'] : Array.from({ length: partitions }, (_, partition) => `live/${partition}`);

/** The partition that a checkpoint of the read side stands for. */
export const partitionOfCheckpoint = (name: string): number => Number(name.split('/')[1] ?? 0);

/** Where the read tables stand, by the name of the checkpoint. */
export async function liveCheckpoints(client: Pick<pg.ClientBase, 'query'>): Promise<ReadonlyMap<string, number>> {
  const { rows } = await client.query<{ name: string; position: string }>({
    name: 'live_checkpoints',
    text: `SELECT name, position FROM checkpoints WHERE name = 'live' OR name LIKE 'live/%'`,
  });
  return new Map(rows.map(({ name, position }) => [name, Number(position)]));
}
