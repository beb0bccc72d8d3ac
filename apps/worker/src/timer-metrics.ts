import { timestamp } from '../../../libs/kernel/clock.ts';
import { gauge } from '../../../libs/runtime/http/index.ts';
import type { Engine } from '../../shared/engine.ts';
import { every } from '../../shared/part.ts';

const SAMPLE_EVERY_MS = 5_000;
/** A queue of any length is counted in bounded time. */
const COUNT_UP_TO = 100_000;

/** How many timers there are and how late the latest is, for metrics. Answers how to stop. */
export function watchTimers({ pool, clock, logger }: Pick<Engine, 'pool' | 'clock' | 'logger'>): () => Promise<void> {
  const waiting = gauge('timers_waiting', 'Timers that are set, counted up to 100,000.');
  const due = gauge('timers_due', 'Timers whose time has come and that nobody has taken yet, counted up to 100,000.');
  const oldest = gauge('timers_oldest_due_seconds', 'How long the oldest due timer has waited.');
  const sample = async () => {
    const nowMs = clock.nowMs();
    const { rows } = await pool.query<{ waiting: string; due: string; first: string | null }>({
      name: 'timer_backlog',
      text: `SELECT (SELECT count(*) FROM (SELECT 1 FROM timers LIMIT $2) counted) AS waiting,
                    (SELECT count(*) FROM (SELECT 1 FROM timers WHERE due_at <= $1 LIMIT $2) counted) AS due,
                    (SELECT min(due_at) FROM timers WHERE due_at <= $1) AS first`,
      values: [timestamp(nowMs), COUNT_UP_TO],
    });
    const { first, ...counted } = rows[0]!;
    waiting.set(Number(counted.waiting));
    due.set(Number(counted.due));
    oldest.set(first === null ? 0 : Math.max(0, nowMs - new Date(first).getTime()) / 1_000);
  };
  return every(SAMPLE_EVERY_MS, sample, (error) => logger.warn({ err: error }, 'the timers could not be counted'));
}
