import type { Server } from 'node:http';
import { Rejection } from '../../../libs/kernel/errors.ts';
import type { HealthCheck } from '../../../libs/runtime/http/index.ts';
import { bootstrapPlatform } from '../../shared/bootstrap.ts';
import { databaseCheck, every, type Part, type PartContext } from '../../shared/part.ts';
import { ProjectionWatch } from '../../shared/projection-watch.ts';
import { untilReadTablesAreCurrent } from '../../shared/read-tables.ts';
import { createApi } from './app.ts';

const CATCH_UP_PATIENCE_MS = 30_000;
/** How many looks in a row, two seconds each, find a projector that does not just have to begin. */
const STUCK_LOOKS = 3;
const TIDY_EVERY_MS = 3_600_000;
const BOOTSTRAP_ATTEMPTS = 5;

/** The API as a part of the platform, with what else has to be well for it to be ready. It takes the front over when it is. */
export async function startApi(
  context: PartContext,
  { checks, isStuck = () => false }: { checks: HealthCheck[]; isStuck?: () => boolean },
): Promise<Part> {
  const { config, engine, front, signal } = context;
  const { webhookAllowPrivateTargets: allowPrivateTargets, sandboxTimeScale } = config;
  const settings = { allowPrivateTargets, sandboxTimeScale };
  const api = await createApi(engine, { logger: engine.logger, checks, settings, exchange: front.exchange });
  await showWhatWasAnswered(context, isStuck);
  signal?.throwIfAborted();
  front.open(api.getHttpServer() as Server);
  const stopTidying = every(
    TIDY_EVERY_MS,
    () => engine.answers.forgetOld(),
    (error) => engine.logger.warn({ err: error }, 'answers that are no longer kept could not be forgotten'),
  );
  return {
    checks,
    async stop() {
      await stopTidying();
      await api.close();
    },
  };
}

/** The API in a process of its own: others project, drive processes and send webhooks. */
export async function startApiAlone(context: PartContext): Promise<Part> {
  const { config, engine } = context;
  await untilReadTablesAreCurrent(context);
  const watch = new ProjectionWatch({ engine, topic: config.kafka?.topic });
  if (config.bootstrap) await bootstrapBesideOthers(context, config.bootstrap);
  const api = await startApi(context, { checks: [databaseCheck(engine), watch.check] });
  return {
    checks: api.checks,
    async stop() {
      await api.stop();
      await watch.stop();
    },
  };
}

/** Several processes may make the platform at once: who comes second finds it made. */
async function bootstrapBesideOthers(
  { engine }: PartContext,
  credentials: Parameters<typeof bootstrapPlatform>[1],
): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await bootstrapPlatform(engine, credentials);
      return;
    } catch (error) {
      if (!(error instanceof Rejection) || attempt === BOOTSTRAP_ATTEMPTS) throw error;
    }
  }
}

/**
 * Waits until the read models show what was answered before a stop or a crash, so that nobody sees an older state than before. A
 * projector that is far behind or stuck keeps the API closed for some seconds only; then readiness tells.
 */
async function showWhatWasAnswered({ engine, front, signal }: PartContext, isStuck: () => boolean): Promise<void> {
  const head = await engine.store.head();
  const deadline = performance.now() + CATCH_UP_PATIENCE_MS;
  front.doing = 'catching up with the log';
  for (let stuck = 0; !(await engine.readModel.caughtUp(head)); ) {
    stuck = isStuck() ? stuck + 1 : 0;
    if (stuck === STUCK_LOOKS || signal?.aborted || performance.now() > deadline) return;
  }
}
