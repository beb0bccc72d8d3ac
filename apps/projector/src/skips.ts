import type pg from 'pg';
import { ownerOf } from '../../../libs/adapters/postgres/lease.ts';

type Queryable = Pick<pg.ClientBase, 'query'>;

/** Positions of events that an operator has ordered to be passed over, wherever the log is projected or replayed. */
export async function readSkips(client: Queryable): Promise<ReadonlySet<number>> {
  const { rows } = await client.query<{ position: string }>('SELECT position FROM projection_skips ORDER BY position');
  return new Set(rows.map(({ position }) => Number(position)));
}

/** Orders events to be passed over from now on. Projectors hear of it when they are stuck or start. */
export async function recordSkips(client: Queryable, positions: readonly number[]): Promise<void> {
  if (positions.length === 0) return;
  await client.query(
    'INSERT INTO projection_skips (position, ordered_by) SELECT unnest($1::bigint[]), $2 ON CONFLICT DO NOTHING',
    [positions, ownerOf('rebuild')],
  );
}

/** Takes the order back. What has passed the events over has them only after it was rebuilt. */
export async function forgetSkips(client: Queryable, positions: readonly number[]): Promise<void> {
  if (positions.length > 0) await client.query('DELETE FROM projection_skips WHERE position = ANY($1)', [positions]);
}

/** What has been left out up to a position, as it is kept with a table that is being rebuilt. */
export const skipsUpTo = (position: number, skips: ReadonlySet<number>): string =>
  [...skips].filter((skipped) => skipped <= position).join(',');
