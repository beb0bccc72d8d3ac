import { randomBytes } from 'node:crypto';
import type { NestExpressApplication } from '@nestjs/platform-express';
import supertest from 'supertest';
import { createApi } from '../apps/api/src/app.ts';
import type { Dispatcher } from '../apps/dispatcher/src/dispatcher.ts';
import { createDispatcher, type DispatcherConfig } from '../apps/dispatcher/src/index.ts';
import { prepareReadTables } from '../apps/projector/src/prepare.ts';
import { Projector, type ProjectorOptions } from '../apps/projector/src/projector.ts';
import { type Engine, openEngine } from '../apps/shared/engine.ts';
import { partitionsOf } from '../apps/shared/feed.ts';
import { createPlatform, type IssuedCredentials, issueToken } from '../apps/shared/provision.ts';
import { railsOf } from '../apps/shared/rails.ts';
import { createWorker } from '../apps/worker/src/index.ts';
import type { PlatformSettings } from '../libs/domain/platforms/platform.events.ts';
import type { Clock } from '../libs/kernel/clock.ts';
import type { LoggedEvent } from '../libs/kernel/event-store.port.ts';
import type { Feed } from '../libs/kernel/feed.port.ts';
import { uuidV7 } from '../libs/kernel/ids.ts';
import type { Tenant } from '../libs/kernel/messages.ts';
import type { KafkaConfig } from '../libs/runtime/config.ts';
import { BASE_PATH, createLogger, type Logger } from '../libs/runtime/http/index.ts';
import { announcers, processes, projections } from '../projections/index.ts';
import { freshDatabase } from './database.ts';
import { openServers, startFeed, type TestTopic } from './engine.ts';
import { eventually } from './eventually.ts';
import { type Document, expectMatchesOpenApi } from './openapi-validator.ts';

/** A whole platform on a database of its own, spoken to over real HTTP. */
export interface TestPlatform {
  engine: Engine;
  /** The topic that feeds the read models; absent: the log itself does. */
  kafka: KafkaConfig | undefined;
  app: NestExpressApplication;
  projector: Projector;
  tenant: Tenant;
  credentials: IssuedCredentials;
  /**
   * `api('post', '/quotes')` with the platform's credentials, below the base path. The test fails when the answer is not as the OpenAPI
   * document says. For what no document knows (unknown routes) there is `supertest(app.getHttpServer())`.
   */
  api(method: 'get' | 'post' | 'patch' | 'delete' | 'put', path: string): supertest.Test;
  /** Everything in the log, as it is stored, whichever store keeps it. */
  log(): Promise<readonly LoggedEvent[]>;
  /** A further platform on the same deployment. */
  another(settings?: Partial<PlatformSettings>): Promise<{ tenant: Tenant; api: TestPlatform['api'] }>;
  /** A dispatcher on this deployment, not started; it may send to this machine. */
  dispatcher(config?: Partial<DispatcherConfig>): Dispatcher;
  /** One more API process's worth of engine on the same database: knows nothing of what the first one remembers. */
  instance(): Promise<TestInstance>;
  stop(): Promise<void>;
}

/** A further engine and API, called with the first platform's credentials. */
export interface TestInstance {
  engine: Engine;
  port: number;
  api: TestPlatform['api'];
}

export interface TestPlatformOptions {
  settings?: Partial<PlatformSettings>;
  /** Starts a dispatcher too, so that webhooks are sent. */
  dispatcher?: boolean | Partial<DispatcherConfig>;
  clock?: Clock;
  /** False: processes and timers stand still. */
  worker?: boolean;
  /** Random when absent. */
  masterKey?: Buffer;
  /** What keeps the log: an EventStoreDB test server of its own, a server that is there, or Postgres. */
  eventStore?: 'postgres' | 'eventstoredb' | { esdbUrl: string };
  /** Feeds the read models through a topic on these brokers. */
  topic?: TestTopic;
  /** For how long a read waits for what was written: for tests in which it waits in vain. */
  readWaitMs?: number;
}

/** To begin with: joining a group of Kafka consumers takes seconds on a busy machine. */
const FEED_PATIENCE_MS = 60_000;
/** A read of a resource that was just made waits for it, however busy the machine is. */
const READ_PATIENCE_MS = 60_000;

/** Starts everything in this process on a fresh database; quiet unless something is wrong. */
export async function startTestPlatform(options: TestPlatformOptions = {}): Promise<TestPlatform> {
  const database = await freshDatabase();
  const servers = await openServers(options.eventStore, options.topic);
  const logger = createLogger({ level: 'error' });
  const masterKey = options.masterKey ?? randomBytes(32);
  const { esdbUrl, kafka } = servers;
  const { clock, readWaitMs = READ_PATIENCE_MS } = options;
  const partitions = partitionsOf(kafka);
  const common = { esdbUrl, partitions, logger, readWaitMs, ...(clock && { clock }) };
  const openOne = () => openEngine({ databaseUrl: database.url, masterKey, ...common });
  const engine = await openOne();
  await prepareReadTables(engine.pool, projections);
  const feeding = await startFeed(engine, kafka);
  const projector = projectorOn(engine, feeding.feed);
  await projector.start();
  const worker = createWorker(engine, railsOf(engine.clock, 1), { allowPrivateTargets: true });
  if (options.worker !== false) await worker.start();
  const dispatchers: Dispatcher[] = [];
  const dispatcher: TestPlatform['dispatcher'] = (config = {}) => {
    const log: DispatcherConfig['log'] = (level, message, error) => logger[level]({ err: error }, message);
    const made = createDispatcher(engine, { allowPrivateTargets: true, scanEveryMs: 50, log, ...config });
    dispatchers.push(made);
    return made;
  };
  if (options.dispatcher) dispatcher(options.dispatcher === true ? {} : options.dispatcher).start();
  const listening = (on: Engine) => listeningApi(on, logger);
  const app = await listening(engine);
  const { body: document } = await supertest(app.getHttpServer()).get('/openapi.json').expect(200);
  const platform = async (settings?: Partial<PlatformSettings>) => {
    const tenant: Tenant = { platform: uuidV7(Date.now(), randomBytes(10)), environment: 'sandbox' };
    await createPlatform(engine, tenant, { name: 'Test', ...(settings && { settings }) });
    const credentials = await issueToken(engine, tenant, {
      name: 'test',
      tokenId: uuidV7(Date.now(), randomBytes(10)),
    });
    return { tenant, credentials, api: callerOf(app, document, credentials) };
  };
  const first = await platform(options.settings);
  await untilFed(engine, first.tenant);
  const instances: { engine: Engine; app: NestExpressApplication }[] = [];
  return {
    engine,
    kafka,
    app,
    projector,
    ...first,
    log: async () => (await engine.store.readAll(0, 100_000)).events,
    another: platform,
    dispatcher,
    async instance() {
      const other = await openOne();
      const api = await listening(other);
      instances.push({ engine: other, app: api });
      const { port } = api.getHttpServer().address() as { port: number };
      return { engine: other, port, api: callerOf(api, document, first.credentials) };
    },
    async stop() {
      for (const other of instances) await other.app.close().then(() => other.engine.close());
      await app.close();
      for (const started of dispatchers) await started.stop({ graceMs: 0 });
      if (options.worker !== false) await worker.stop();
      await projector.stop();
      await feeding.stop();
      await engine.close();
      await servers.stop();
      await database.drop();
    },
  };
}

function projectorOn({ url, store, codec, logger }: Engine, feed: Feed | undefined): Projector {
  const catalogue = { projections, announcers, processes };
  const log: ProjectorOptions['log'] = (level, message, error) => logger[level]({ err: error }, message);
  return new Projector({ url, store, codec, catalogue, log, ...(feed && { feed }) });
}

/** Waits until what was written has reached the read models once: a feed takes its time to begin. */
async function untilFed({ readModel }: Engine, tenant: Tenant): Promise<void> {
  await eventually(
    async () => readModel.shown(tenant),
    (position) => position >= readModel.position(tenant),
    FEED_PATIENCE_MS,
  );
}

async function listeningApi(engine: Engine, logger: Logger): Promise<NestExpressApplication> {
  const api = await createApi(engine, { logger, settings: { allowPrivateTargets: true, sandboxTimeScale: 1 } });
  await api.listen(0, '127.0.0.1');
  return api;
}

function callerOf(
  app: NestExpressApplication,
  document: Document,
  { clientId, clientSecret }: IssuedCredentials,
): TestPlatform['api'] {
  return (method, path) =>
    supertest(app.getHttpServer())
      [method](`${BASE_PATH}${path}`)
      .auth(clientId, clientSecret)
      .expect((answer) => expectMatchesOpenApi(document, method, `${BASE_PATH}${path}`, answer));
}
