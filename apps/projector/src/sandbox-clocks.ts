import type pg from 'pg';

import type { PlatformState } from '../../../libs/domain/platforms/platform.ts';
import type { StateRow } from '../../../libs/kernel/projection.ts';

/**
 * Keeps the clocks of sandbox platforms as their rows have them. When a clock goes forward, what its platform waits for comes nearer by
 * as much; the order of its timers stays. Applied twice it changes nothing: a clock is where it is.
 */
export async function writeSandboxClocks(
  client: Pick<pg.ClientBase, 'query'>,
  before: ReadonlyMap<string, StateRow>,
  after: readonly StateRow[],
): Promise<void> {
  const aheadMs = (row: StateRow | undefined) => (row?.state as PlatformState | undefined)?.clockAheadMs ?? 0;
  const moved = after.filter((row) => aheadMs(row) !== aheadMs(before.get(row.id)));
  if (moved.length === 0) return;
  await client.query({
    name: 'write_sandbox_clocks',
    text: `WITH moved AS (
             SELECT m.*, m.ahead_ms - COALESCE(c.ahead_ms, 0) AS by_ms
               FROM unnest($1::text[], $2::text[], $3::bigint[]) AS m(platform, environment, ahead_ms)
               LEFT JOIN sandbox_clocks c USING (platform, environment)
           ), nearer AS (
             UPDATE timers t SET due_at = t.due_at - m.by_ms * interval '1 millisecond' FROM moved m
              WHERE t.platform = m.platform AND t.environment = m.environment
           )
           INSERT INTO sandbox_clocks (platform, environment, ahead_ms) SELECT platform, environment, ahead_ms FROM moved
           ON CONFLICT (platform, environment) DO UPDATE SET ahead_ms = excluded.ahead_ms`,
    values: [moved.map((row) => row.platform), moved.map((row) => row.environment), moved.map(aheadMs)],
  });
}
