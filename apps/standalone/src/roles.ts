import type { Server } from 'node:http';
import type { BootstrapCredentials } from '../../../libs/adapters/postgres/master-key.ts';
import type { Config } from '../../../libs/runtime/config.ts';
import { announcers, processes, projections } from '../../../projections/index.ts';
import { createApi } from '../../api/src/app.ts';
import { forgetOldWebhooks } from '../../dispatcher/src/retention.ts';
import { supervisedDispatcher } from '../../dispatcher/src/supervised.ts';
import { prepareReadTables } from '../../projector/src/prepare.ts';
import { Projector } from '../../projector/src/projector.ts';
import { rebuild } from '../../projector/src/rebuild.ts';
import { type RunningProjector, SupervisedProjector } from '../../projector/src/supervised.ts';
import { bootstrapPlatform } from '../../shared/bootstrap.ts';
import type { Database } from '../../shared/database.ts';
import { type Engine, openEngine } from '../../shared/engine.ts';
import { engineMetrics } from '../../shared/engine-metrics.ts';
import type { Front } from '../../shared/front.ts';
import { ProjectionWatch } from '../../shared/projection-watch.ts';
import { railsOf } from '../../shared/rails.ts';
import { createWorker } from '../../worker/src/index.ts';
import type { Cleanups, StartOptions } from './platform.ts';

interface RolesOptions extends StartOptions {
  config: Config;
  database: Database;
  credentials: BootstrapCredentials;
  front: Front;
  cleanups: Cleanups;
}

/** How long a receiver of a webhook may still take to answer while the platform ends. One that is cut off gets the webhook again. */
const DELIVERY_PATIENCE_MS = 3_000;
const CATCH_UP_PATIENCE_MS = 10_000;
const TIDY_EVERY_MS = 3_600_000;

/** Starts every role on a running database and opens the front to the API. */
export async function startRoles(
  options: RolesOptions,
): Promise<{ engine: Engine; webhookSecret: string | undefined }> {
  const { config, database, credentials, front, cleanups, logger, signal } = options;
  const { url: databaseUrl, masterKey } = database;
  const metrics = engineMetrics();
  const engine = await openEngine({ databaseUrl, masterKey, logger, flushed: metrics.flushed });
  cleanups.push(() => engine.close());
  metrics.watch(engine);
  await bringReadTablesUp(engine, front, signal);
  const projector = await startProjector(config, engine, masterKey, metrics.advanced);
  cleanups.push(() => projector.stop());
  const { webhookSecret } = await bootstrapPlatform(engine, credentials);
  const worker = createWorker(engine, railsOf(engine.clock, config.sandboxTimeScale));
  await worker.start();
  cleanups.push(() => worker.stop());
  const allowPrivateTargets = config.webhookAllowPrivateTargets;
  const webhooks = { url: databaseUrl, masterKey, allowPrivateTargets, graceMs: DELIVERY_PATIENCE_MS };
  const dispatcher = supervisedDispatcher(webhooks, logTo(engine));
  dispatcher.start();
  cleanups.push(() => dispatcher.stop());
  const watch = new ProjectionWatch(engine, projector);
  cleanups.push(() => watch.stop(), keepTidy(engine));

  const { sandboxTimeScale } = config;
  const checks = [...watch.checks, { name: 'processes', check: async () => stuck(worker.failure()) }];
  const api = await createApi(engine, { logger, checks, settings: { allowPrivateTargets, sandboxTimeScale } });
  cleanups.push(() => api.close());
  await showWhatWasAnswered(engine, projector, front);
  signal?.throwIfAborted();
  front.open(api.getHttpServer() as Server);
  return { engine, webhookSecret };
}

const stuck = (failure: string | undefined) => (failure === undefined ? undefined : 'stuck: see the log');

const logTo =
  ({ logger }: Engine) =>
  (level: 'info' | 'warn' | 'error', message: string, error?: unknown): void =>
    logger[level](error === undefined ? {} : { err: error }, message);

/** Read tables whose shape has changed are built anew before the projector goes on; until then the API says that it is not ready. */
async function bringReadTablesUp(engine: Engine, front: Front, signal: AbortSignal | undefined): Promise<void> {
  const { logger } = engine;
  const outdated = await prepareReadTables(engine.pool, projections);
  if (outdated.length === 0) return;
  const names = outdated.map((projection) => projection.name).join(', ');
  front.doing = `rebuilding ${names}`;
  logger.info(`the shape of ${names} has changed: rebuilding before the API opens`);
  const { events, seconds } = await rebuild(engine, outdated, {
    ...(signal && { signal }),
    progress: ({ position, upTo }) => {
      front.doing = `rebuilding ${names}: event ${position} of ${upTo}`;
    },
  });
  logger.info({ events, seconds: Math.round(seconds * 10) / 10 }, `${names} rebuilt`);
  front.doing = 'starting';
}

/**
 * Waits until the read models show what was answered before a stop or a crash, so that nobody sees an older state than before. A
 * projector that is far behind or stuck keeps the API closed for some seconds only; then readiness tells.
 */
async function showWhatWasAnswered(engine: Engine, projector: RunningProjector, front: Front): Promise<void> {
  const head = await engine.store.head();
  const deadline = performance.now() + CATCH_UP_PATIENCE_MS;
  front.doing = 'catching up with the log';
  while (!(await engine.readModel.caughtUp(head))) {
    if (projector.failure !== undefined || performance.now() > deadline) return;
  }
}

async function startProjector(
  { projector: place }: Config,
  engine: Engine,
  masterKey: Buffer,
  advanced: (batch: { position: number; events: number; ms: number }) => void,
): Promise<RunningProjector> {
  const { url, store, codec } = engine;
  const log = logTo(engine);
  if (place === 'thread') {
    const supervised = new SupervisedProjector({ url, masterKey, log, advanced });
    supervised.start();
    return supervised;
  }
  const catalogue = { projections, announcers, processes };
  const projector = new Projector({ url, store, codec, catalogue, log, advanced });
  await projector.start();
  return projector;
}

/** Forgets answers and webhooks that are older than they have to be kept. Answers how to stop that. */
function keepTidy({ answers, pool, logger }: Engine): () => void {
  const tidy = () =>
    Promise.all([answers.forgetOld(), forgetOldWebhooks(pool)]).catch((error) =>
      logger.warn({ err: error }, 'what is no longer kept could not be forgotten'),
    );
  const timer = setInterval(tidy, TIDY_EVERY_MS).unref();
  return () => clearInterval(timer);
}
