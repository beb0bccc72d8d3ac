import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { startEmbeddedPostgres } from '../../libs/adapters/postgres/embedded.ts';
import { loadConfig } from '../../libs/runtime/config.ts';
import { freePort } from '../bench/program.ts';
import { KafkaCluster } from '../kafka/broker.ts';
import { fetchKafka } from '../kafka/fetch.ts';

/** What a deployment of separate parts stands on. */
export const ENGINES = ['postgres+direct', 'postgres+kafka', 'eventstoredb+kafka'] as const;
export type EngineName = (typeof ENGINES)[number];

/** The servers of a deployment, each of which can be killed and comes back with its data. */
export interface Servers {
  databaseUrl: string;
  /** The PostgreSQL lies in it. */
  dataDir: string;
  /** Variables that name the servers to every part. */
  env: Record<string, string>;
  /** By name: `kill -9`, and back again. */
  strikes: Record<string, () => Promise<void>>;
  stop(): Promise<void>;
}

const PARTITIONS = 4;
const isSource = import.meta.url.endsWith('.ts');
const here = path.dirname(fileURLToPath(import.meta.url));

/** Starts them; answers why where a machine lacks what an engine needs. */
export async function startServers(engine: EngineName): Promise<Servers | { reason: string }> {
  const [store, feed] = engine.split('+');
  const fetched = feed === 'kafka' ? await fetchKafka() : undefined;
  if (fetched && 'reason' in fetched) return fetched;
  const folder = await mkdtemp(path.join(tmpdir(), 'ledgerline-faults-'));
  const stops: (() => Promise<unknown>)[] = [() => rm(folder, { recursive: true, force: true })];
  const servers: Servers = {
    databaseUrl: '',
    dataDir: folder,
    env: {},
    strikes: {},
    async stop() {
      for (const stop of stops.toReversed()) await stop();
    },
  };
  try {
    const postgres = await startEmbeddedPostgres({ dataDir: folder, connections: 300, log: () => {} });
    stops.push(() => postgres.stop());
    servers.databaseUrl = postgres.url;
    servers.strikes.postgres = async () => void process.kill(postgres.pid, 'SIGKILL'); // it is started again by itself
    if (store === 'eventstoredb') {
      const server = await EventStoreServer.start(path.join(folder, 'log'));
      stops.push(() => server.kill());
      Object.assign(servers.env, { EVENT_STORE: 'eventstoredb', ESDB_URL: server.url });
      servers.strikes['event store'] = () => server.restart();
    }
    if (fetched) {
      const cluster = await KafkaCluster.start(fetched.jars);
      stops.push(() => cluster.stop());
      const kafka = { KAFKA_BROKERS: cluster.brokers.join(','), KAFKA_PARTITIONS: String(PARTITIONS) };
      Object.assign(servers.env, { FEED: 'kafka', ...kafka });
      servers.strikes.broker = async () => {
        await cluster.broker(1).kill();
        await cluster.broker(1).start();
      };
    }
    return servers;
  } catch (error) {
    await servers.stop();
    throw error;
  }
}

/** The configuration of a part on these servers. */
export const configOn = ({ databaseUrl, env }: Servers) => loadConfig({ ...env, DATABASE_URL: databaseUrl });

/** The test server that speaks EventStoreDB's protocol, in a process of its own, with its log in a file. */
class EventStoreServer {
  readonly url: string;
  private readonly port: number;
  private readonly file: string;
  private child: ChildProcess | undefined;

  private constructor(port: number, file: string) {
    this.port = port;
    this.file = file;
    this.url = `esdb://127.0.0.1:${port}?tls=false`;
  }

  static async start(file: string): Promise<EventStoreServer> {
    const server = new EventStoreServer(await freePort(), file);
    await server.launch();
    return server;
  }

  async restart(): Promise<void> {
    await this.kill();
    await this.launch();
  }

  async kill(): Promise<void> {
    const { child } = this;
    this.child = undefined;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  }

  private async launch(): Promise<void> {
    const main = path.join(here, `../eventstoredb/main.${isSource ? 'ts' : 'js'}`);
    const loader = isSource ? ['--import', path.join(here, '../ts-loader.mjs')] : [];
    const child = spawn(process.execPath, [...loader, main, '--port', String(this.port), '--data', this.file], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { PATH: process.env.PATH, HOME: process.env.HOME },
    });
    this.child = child;
    await Promise.race([
      once(child.stdout!, 'data'),
      once(child, 'exit').then(() => {
        throw new Error('the event store server did not start');
      }),
    ]);
  }
}
