import type pg from 'pg';

import type { AnyProcess } from '../../../libs/kernel/process.ts';
import type { StateRow } from '../../../libs/kernel/projection.ts';

/** When a stream is to be woken, by the clock of its platform, and by which process. */
export interface Timer {
  stream: string;
  process: string;
  at: string;
  platform: string;
  environment: string;
}

/**
 * Keeps the timer rows of a process equal to what its states wait for. Only what changed is written. States know the time of their
 * platform, rows are due by wall time: in the sandbox the platform's clock may be ahead of it.
 */
export async function writeTimers(
  client: Pick<pg.ClientBase, 'query'>,
  process: AnyProcess,
  before: ReadonlyMap<string, StateRow>,
  after: readonly StateRow[],
): Promise<void> {
  const due: Timer[] = [];
  const done: string[] = [];
  for (const row of after) {
    const old = before.get(row.id);
    const was = old && process.dueAt(old.state);
    const is = process.dueAt(row.state);
    if (is === was) continue;
    const stream = `${process.decider.name}-${row.id}`;
    const { platform, environment } = row;
    if (is === undefined) done.push(stream);
    else due.push({ stream, process: process.name, at: is, platform, environment });
  }
  await insertTimers(client, due);
  if (done.length > 0) {
    await client.query({ name: 'drop_timers', text: 'DELETE FROM timers WHERE stream = ANY($1)', values: [done] });
  }
}

/** Writes timers, in the place of those that their streams had. */
export async function insertTimers(client: Pick<pg.ClientBase, 'query'>, timers: readonly Timer[]): Promise<void> {
  if (timers.length === 0) return;
  await client.query({
    name: 'write_timers',
    text: `INSERT INTO timers (stream, process, due_at, platform, environment)
           SELECT t.stream, t.process, t.due_at - COALESCE(c.ahead_ms, 0) * interval '1 millisecond', t.platform, t.environment
             FROM unnest($1::text[], $2::text[], $3::timestamptz[], $4::text[], $5::text[])
               AS t(stream, process, due_at, platform, environment)
             LEFT JOIN sandbox_clocks c USING (platform, environment)
           ON CONFLICT (stream) DO UPDATE SET due_at = excluded.due_at, process = excluded.process`,
    values: [
      timers.map((t) => t.stream),
      timers.map((t) => t.process),
      timers.map((t) => t.at),
      timers.map((t) => t.platform),
      timers.map((t) => t.environment),
    ],
  });
}
