import { databaseCheck, every, logTo, type Part, type PartContext } from '../../shared/part.ts';
import { untilReadTablesAreCurrent } from '../../shared/read-tables.ts';
import { createDispatcher, dispatcherMetrics } from './index.ts';
import { forgetOldWebhooks } from './retention.ts';
import { supervisedDispatcher } from './supervised.ts';

/** How long a receiver of a webhook may still take to answer while the platform ends. One that is cut off gets the webhook again. */
const DELIVERY_PATIENCE_MS = 3_000;
const TIDY_EVERY_MS = 3_600_000;
/** It looks at its queues every few seconds, also when there is nothing to send. */
const STALLED_SECONDS = 30;

/** The dispatcher as a part of the platform: in a thread beside other parts, or in this thread where it has the process for itself. */
export async function startDispatcher(context: PartContext, place: 'thread' | 'inline'): Promise<Part> {
  const { engine } = context;
  await untilReadTablesAreCurrent(context); // which platforms have an endpoint is read from one of them
  const { stop, checks } = place === 'thread' ? inThread(context) : inline(context);
  const stopTidying = every(
    TIDY_EVERY_MS,
    () => forgetOldWebhooks(engine.pool),
    (error) => engine.logger.warn({ err: error }, 'webhooks that are no longer kept could not be forgotten'),
  );
  return {
    checks: [databaseCheck(engine), ...checks],
    async stop() {
      await stopTidying();
      await stop();
    },
  };
}

function inThread({ engine, masterKey, config }: PartContext): Part {
  const allowPrivateTargets = config.webhookAllowPrivateTargets;
  const { url, esdbUrl } = engine;
  const data = { url, esdbUrl, masterKey, allowPrivateTargets, graceMs: DELIVERY_PATIENCE_MS };
  const dispatcher = supervisedDispatcher(data, logTo(engine));
  dispatcher.start();
  return { checks: [], stop: () => dispatcher.stop() };
}

function inline({ engine, config }: PartContext): Part {
  const allowPrivateTargets = config.webhookAllowPrivateTargets;
  const { waiting } = dispatcherMetrics();
  let lookedAt = performance.now();
  const dispatcher = createDispatcher(engine, {
    allowPrivateTargets,
    log: logTo(engine),
    waiting(backlog) {
      lookedAt = performance.now();
      waiting(backlog);
    },
  });
  dispatcher.start();
  const deliveries = async () => {
    const seconds = Math.round((performance.now() - lookedAt) / 1_000);
    return seconds > STALLED_SECONDS ? `nothing was sent or looked for in ${seconds} s: see the log` : undefined;
  };
  return {
    checks: [{ name: 'deliveries', check: deliveries }],
    stop: () => dispatcher.stop({ graceMs: DELIVERY_PATIENCE_MS }),
  };
}
