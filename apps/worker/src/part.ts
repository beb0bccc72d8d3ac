import { databaseCheck, type Part, type PartContext } from '../../shared/part.ts';
import { railsOf } from '../../shared/rails.ts';
import { createWorker } from './index.ts';
import { watchTimers } from './timer-metrics.ts';

/** The worker as a part of the platform. */
export async function startWorker({ config, engine }: PartContext): Promise<Part> {
  const worker = createWorker(engine, railsOf(engine.clock, config.sandboxTimeScale));
  await worker.start();
  const stopWatching = watchTimers(engine);
  const processes = async () => (worker.failure() === undefined ? undefined : 'stuck: see the log');
  return {
    checks: [databaseCheck(engine), { name: 'processes', check: processes }],
    async stop() {
      await stopWatching();
      await worker.stop();
    },
  };
}
