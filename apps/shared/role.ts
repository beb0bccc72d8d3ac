import { createServer, type Server } from 'node:http';
import express from 'express';
import { SILENCE_MS } from '../../libs/adapters/postgres/connection.ts';
import { type Config, loadConfig, type Role } from '../../libs/runtime/config.ts';
import { type HealthCheck, healthHandler, readyHandler } from '../../libs/runtime/http/health.ts';
import { createLogger, type Logger } from '../../libs/runtime/http/logging.ts';
import { metricsHandler, processMetrics, registry } from '../../libs/runtime/http/metrics.ts';
import { Front } from './front.ts';
import type { Part, PartContext } from './part.ts';
import { type Cleanups, cleanUp, endOnFault, endOnSignal, giveUp } from './program.ts';
import { untilReachable } from './reachable.ts';
import { requireRightMasterKey } from './right-master-key.ts';

/** How long what is in hand may take when the process is told to end; then it ends with 1, as after a crash. */
const PATIENCE_MS = 10_000;
const REQUEST_PATIENCE_MS = 8_000;

/** Starts a part on the engine; loaded late, so that the process answers `/healthz` before its code is read. */
export type LoadPart = () => Promise<(context: PartContext) => Promise<Part>>;

/**
 * One part of the platform as a program of its own. It answers `/healthz`, `/readyz` and `/metrics` on PORT from its first moment, waits
 * for the database and whatever else it stands on, and ends cleanly on a signal. Exit code 0 after a clean end, 1 when something
 * failed, 130 when it was forced.
 */
export async function runRole(role: Role, load: LoadPart): Promise<void> {
  let config: Config;
  try {
    config = loadConfig(undefined, role);
  } catch (error) {
    return giveUp(error);
  }
  const logger = createLogger({ level: config.logLevel, pretty: process.stdout.isTTY === true }).child({ role });
  endOnFault(logger);
  registry.setDefaultLabels({ role });
  processMetrics();
  const program = new RoleProgram(config, logger);
  endOnSignal(logger, 'what is in hand is finished first', () => program.end());
  await program.start(load);
}

class RoleProgram {
  private readonly config: Config;
  private readonly logger: Logger;
  private readonly front = new Front();
  private readonly cleanups: Cleanups = [];
  private readonly ending = new AbortController();
  private starting: Promise<void> | undefined;
  private isStarted = false;
  /** What `/readyz` asks; the part adds its own. */
  private readonly checks: HealthCheck[] = [{ name: 'role', check: async () => this.state() }];

  constructor(config: Config, logger: Logger) {
    this.config = config;
    this.logger = logger;
  }

  async start(load: LoadPart): Promise<void> {
    this.starting = this.run(load);
    try {
      await this.starting;
    } catch (error) {
      if (this.ending.signal.aborted) return; // `end` goes on
      this.logger.fatal({ err: error }, 'the start failed');
      await cleanUp(this.cleanups, this.logger);
      process.exit(1);
    }
  }

  async end(): Promise<void> {
    this.ending.abort(new Error('ended while starting'));
    setTimeout(() => {
      this.logger.error(`what was in hand was not finished within ${PATIENCE_MS / 1_000} s`);
      process.exit(1);
    }, PATIENCE_MS).unref();
    await this.starting?.catch(() => {});
    const isClean = await cleanUp(this.cleanups, this.logger);
    this.logger.info('ended');
    process.exit(isClean ? 0 : 1);
  }

  private async run(load: LoadPart): Promise<void> {
    const { config, front, cleanups, logger } = this;
    const { signal } = this.ending;
    const port = await front.listen(config.host, config.port);
    const isApi = config.role === 'api';
    if (!isApi) {
      front.open(this.statusServer());
      cleanups.push(() => front.close(0)); // to the last, it says how things stand
    }
    logger.info({ port }, 'starting');
    const [startPart, { openEngine }, { partitionsOf }, { engineMetrics }, { watchLeases }] = await Promise.all([
      load(),
      import('./engine.ts'),
      import('./feed.ts'),
      import('./engine-metrics.ts'),
      import('./lease-metrics.ts'),
    ]);
    const metrics = engineMetrics();
    const masterKey = config.masterKey!; // a role is refused without
    const waiting = (reason: string) => {
      front.doing = 'waiting for what it stands on: see the log';
      logger.warn({ reason }, 'waiting for the database and the event store');
    };
    const open = () =>
      openEngine({
        databaseUrl: config.databaseUrl!,
        esdbUrl: config.esdbUrl,
        masterKey,
        logger,
        partitions: partitionsOf(config.kafka),
        flushed: metrics.flushed,
        silenceMs: SILENCE_MS,
      });
    const engine = await untilReachable(open, { waiting, signal });
    cleanups.push(() => engine.close());
    front.doing = 'starting';
    await requireRightMasterKey(engine);
    metrics.watch(engine);
    cleanups.push(watchLeases(engine));
    const part = await startPart({ config, masterKey, engine, metrics, front, signal });
    this.checks.push(...part.checks);
    cleanups.push(() => part.stop());
    if (isApi) cleanups.push(() => front.close(REQUEST_PATIENCE_MS));
    this.isStarted = true;
    logger.info({ port }, 'started');
  }

  private state(): string | undefined {
    if (this.ending.signal.aborted) return 'ending';
    return this.isStarted ? undefined : this.front.doing;
  }

  private statusServer(): Server {
    const app = express();
    app.disable('x-powered-by');
    app.get('/healthz', healthHandler);
    app.get('/readyz', readyHandler(this.checks));
    app.get('/metrics', metricsHandler);
    return createServer(app);
  }
}
