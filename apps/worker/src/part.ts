import { databaseCheck, type Part, type PartContext } from '../../shared/part.ts';
import { railsOf } from '../../shared/rails.ts';
import { umaOf as sandboxUmaOf } from '../../shared/uma.ts';
import { createWorker } from './index.ts';
import { watchProcesses } from './process-metrics.ts';
import { watchTimers } from './timer-metrics.ts';

/** The worker as a part of the platform. */
export async function startWorker({ config, engine }: PartContext): Promise<Part> {
  const { sandboxTimeScale, webhookAllowPrivateTargets: allowPrivateTargets } = config;
  const { clock } = engine;
  const umaOf = sandboxUmaOf(clock, sandboxTimeScale);
  const worker = createWorker(engine, railsOf(clock, sandboxTimeScale), { allowPrivateTargets, umaOf });
  await worker.start();
  const stops = [watchTimers(engine), watchProcesses(engine, worker)];
  const processes = async () => (worker.failure() === undefined ? undefined : 'stuck: see the log');
  return {
    checks: [databaseCheck(engine), { name: 'processes', check: processes }],
    async stop() {
      for (const stopWatching of stops) await stopWatching();
      await worker.stop();
    },
  };
}
