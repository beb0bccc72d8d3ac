import { gauge } from '../../../libs/runtime/http/index.ts';
import { processes } from '../../../projections/index.ts';
import type { Engine } from '../../shared/engine.ts';
import { lagAfter } from '../../shared/lag.ts';
import { every } from '../../shared/part.ts';
import type { Worker } from './index.ts';

const SAMPLE_EVERY_MS = 5_000;

/** How far the processes are behind the log, by shard, and what is parked, for metrics. Answers how to stop. */
export function watchProcesses(
  engine: Pick<Engine, 'pool' | 'store' | 'clock' | 'logger'>,
  worker: Pick<Worker, 'inHand'>,
): () => Promise<void> {
  gauge('processes_in_hand', 'Events that this worker has in hand.', [], (inHand) => inHand.set(worker.inHand()));
  const position = gauge('process_position', 'Position up to which the processes of a shard are done.', ['shard']);
  const lagSeconds = gauge('process_lag_seconds', 'Age of the oldest event that a shard is not done with.', ['shard']);
  const parked = gauge('dead_letters_parked', 'Work of processes that waits for an operator after its last try.');
  const types = [...new Set(processes.flatMap(({ process }) => process.startsOn))];
  const sample = async () => {
    const { rows } = await engine.pool.query<{ name: string; position: string }>({
      name: 'process_positions',
      text: `SELECT name, position FROM checkpoints WHERE name LIKE 'processes/%'`,
    });
    for (const row of rows) {
      const shard = row.name.slice('processes/'.length);
      position.set({ shard }, Number(row.position));
      lagSeconds.set({ shard }, (await lagAfter(engine, Number(row.position), types)).seconds);
    }
    const letters = await engine.pool.query<{ parked: string }>({
      name: 'parked',
      text: `SELECT count(*) AS parked FROM dead_letters WHERE status = 'PARKED'`,
    });
    parked.set(Number(letters.rows[0]!.parked));
  };
  const failed = (error: unknown) => engine.logger.warn({ err: error }, 'the lag of processes could not be measured');
  return every(SAMPLE_EVERY_MS, sample, failed);
}
