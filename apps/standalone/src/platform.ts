import { isIPv6 } from 'node:net';
import { type BootstrapCredentials, loadBootstrapCredentials } from '../../../libs/adapters/postgres/master-key.ts';
import type { Config } from '../../../libs/runtime/config.ts';
import type { Logger } from '../../../libs/runtime/http/logging.ts';
import { type Database, openDatabase } from '../../shared/database.ts';
import type { Engine } from '../../shared/engine.ts';
import { Front } from '../../shared/front.ts';
import { type Cleanups, cleanUp } from '../../shared/program.ts';

/** A platform that runs in this process. */
export interface RunningPlatform {
  /** `http://127.0.0.1:3000`, without the path of the API. */
  url: string;
  engine: Engine;
  credentials: BootstrapCredentials;
  /** What the webhooks of the bootstrap platform are signed with. */
  webhookSecret: string | undefined;
  /** Answers what is under way, finishes what is written, ends everything, the embedded PostgreSQL last. */
  stop(): Promise<void>;
}

export interface StartOptions {
  logger: Logger;
  /** Raised to give up a start that is under way. */
  signal?: AbortSignal;
  /** Told about the database as soon as it runs, for whoever has to end it in an emergency. */
  opened?: (database: Database) => void;
}

const REQUEST_PATIENCE_MS = 10_000;

/**
 * Starts the whole platform in this process: database, projector, processes, webhooks, API. What was started is ended again when a
 * later part fails. Nothing here reads the log, so that a start takes as long with a million events as with none.
 */
export async function startPlatform(config: Config, options: StartOptions): Promise<RunningPlatform> {
  const { logger, signal, opened } = options;
  const front = new Front();
  const cleanups: Cleanups = [];
  let stopped: Promise<unknown> | undefined;
  const stop = async () => {
    stopped ??= cleanUp([...cleanups, () => front.close(REQUEST_PATIENCE_MS)], logger);
    await stopped;
  };
  try {
    const port = await front.listen(config.host, config.port);
    const loading = import('./roles.ts'); // most of a start is loading code, which goes on while PostgreSQL starts
    loading.catch(() => {}); // awaited below, unless PostgreSQL fails first
    const database = await openDatabase(config, { logger });
    opened?.(database);
    cleanups.push(() => database.stop());
    const credentials = await loadBootstrapCredentials({ configured: config.bootstrap, dataDir: config.dataDir });
    signal?.throwIfAborted();
    const { startRoles } = await loading;
    const roles = await startRoles({ config, database, credentials, front, cleanups, ...options });
    return { url: urlOf(config.host, port), credentials, stop, ...roles };
  } catch (error) {
    await stop();
    throw error;
  }
}

function urlOf(host: string, port: number): string {
  const reachable = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `http://${isIPv6(reachable) ? `[${reachable}]` : reachable}:${port}`;
}
