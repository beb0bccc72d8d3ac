import { SILENCE_MS } from '../../../libs/adapters/postgres/connection.ts';
import type { BootstrapCredentials } from '../../../libs/adapters/postgres/master-key.ts';
import type { Config } from '../../../libs/runtime/config.ts';
import { startApi } from '../../api/src/part.ts';
import { startDispatcher } from '../../dispatcher/src/part.ts';
import { startProjector } from '../../projector/src/part.ts';
import { bootstrapPlatform } from '../../shared/bootstrap.ts';
import type { Database } from '../../shared/database.ts';
import { type Engine, openEngine } from '../../shared/engine.ts';
import { engineMetrics } from '../../shared/engine-metrics.ts';
import { partitionsOf } from '../../shared/feed.ts';
import type { Front } from '../../shared/front.ts';
import type { Part, PartContext } from '../../shared/part.ts';
import type { Cleanups } from '../../shared/program.ts';
import { requireRightMasterKey } from '../../shared/right-master-key.ts';
import { startWorker } from '../../worker/src/part.ts';
import type { StartOptions } from './platform.ts';

interface RolesOptions extends StartOptions {
  config: Config;
  database: Database;
  credentials: BootstrapCredentials;
  front: Front;
  cleanups: Cleanups;
}

/** Starts every part on a running database and opens the front to the API. */
export async function startRoles(
  options: RolesOptions,
): Promise<{ engine: Engine; webhookSecret: string | undefined }> {
  const { config, database, credentials, front, cleanups, logger, signal } = options;
  const { url: databaseUrl, masterKey } = database;
  const metrics = engineMetrics();
  const engine = await openEngine({
    databaseUrl,
    esdbUrl: config.esdbUrl,
    masterKey,
    logger,
    partitions: partitionsOf(config.kafka),
    flushed: metrics.flushed,
    silenceMs: SILENCE_MS,
  });
  cleanups.push(() => engine.close());
  await requireRightMasterKey(engine);
  metrics.watch(engine);
  const context: PartContext = { config, masterKey, engine, metrics, front, ...(signal && { signal }) };
  const started = <P extends Part>(part: P): P => {
    cleanups.push(() => part.stop());
    return part;
  };
  const relaying = config.kafka ? [started(await (await import('../../relay/src/part.ts')).startRelay(context))] : [];
  const { projector, ...projecting } = started(await startProjector(context, config.projector));
  const { webhookSecret } = await bootstrapPlatform(engine, credentials);
  const working = started(await startWorker(context));
  const dispatching = started(await startDispatcher(context, 'thread'));
  const all = [...relaying, projecting, working, dispatching].flatMap(({ checks }) => checks);
  const checks = [...new Map(all.map((check) => [check.name, check])).values()]; // several need the database
  started(await startApi(context, { checks, isStuck: () => projector.failure !== undefined }));
  return { engine, webhookSecret };
}
