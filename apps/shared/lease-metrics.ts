import { ownerOf } from '../../libs/adapters/postgres/lease.ts';
import { gauge } from '../../libs/runtime/http/metrics.ts';
import type { Engine } from './engine.ts';
import { every } from './part.ts';

const SAMPLE_EVERY_MS = 5_000;

/** Which leases this process holds, threads included, for metrics. Answers how to stop. */
export function watchLeases({ pool, logger }: Pick<Engine, 'pool' | 'logger'>): () => Promise<void> {
  const held = gauge('leases_held', 'Leases that this process holds.', ['lease']);
  const sample = async () => {
    const { rows } = await pool.query<{ name: string }>({
      name: 'leases_held',
      text: `SELECT name FROM leases WHERE starts_with(owner, $1) AND heartbeat_at > now() - interval '10 seconds'`,
      values: [ownerOf('')],
    });
    held.reset();
    for (const { name } of rows) held.set({ lease: name }, 1);
  };
  return every(SAMPLE_EVERY_MS, sample, (error) => logger.warn({ err: error }, 'the leases could not be read'));
}
