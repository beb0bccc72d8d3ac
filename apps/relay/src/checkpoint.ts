import type pg from 'pg';
import { type Held, LeaseLost, leaseHeld } from '../../../libs/adapters/postgres/lease.ts';

/** How far the log was brought into a topic. */
export interface RelayStanding {
  /** All events up to here are in the topic. */
  position: number;
  /** For each partition the position of its last event up to there; 0: none. */
  lastPositions: readonly number[];
}

/**
 * Where the relay of a topic stands. Throws when the topic was begun with another number of partitions: what is in it would not lie
 * where it is looked for.
 */
export async function loadStanding(
  pool: Pick<pg.Pool, 'query'>,
  topic: string,
  partitions: number,
): Promise<RelayStanding> {
  const { rows } = await pool.query<{ position: string; partitions: number; last_positions: string[] }>(
    'SELECT position, partitions, last_positions FROM relays WHERE topic = $1',
    [topic],
  );
  const [row] = rows;
  if (!row) return { position: 0, lastPositions: new Array(partitions).fill(0) };
  if (row.partitions !== partitions) {
    throw new Error(`the topic ${topic} was begun with ${row.partitions} partitions, not ${partitions}`);
  }
  return { position: Number(row.position), lastPositions: row.last_positions.map(Number) };
}

/** Moves it forward while the lease is held. Throws `LeaseLost` when it is not, or when somebody has come further. */
export async function saveStanding(
  pool: Pick<pg.Pool, 'query'>,
  topic: string,
  { position, lastPositions }: RelayStanding,
  held: Held,
): Promise<void> {
  const { rowCount } = await pool.query({
    name: 'save_relay_standing',
    text: `WITH mine AS (${leaseHeld('$1', '$2')})
           INSERT INTO relays (topic, partitions, position, last_positions)
           SELECT $3, cardinality($5::bigint[]), $4, $5::bigint[] FROM mine
           ON CONFLICT (topic) DO UPDATE SET position = excluded.position, last_positions = excluded.last_positions,
             advanced_at = now()
            WHERE relays.position < excluded.position`,
    values: [held.name, held.token, topic, position, lastPositions],
  });
  if (rowCount !== 1) throw new LeaseLost(held.name);
}
