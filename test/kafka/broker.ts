import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, openSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { type Admin, Kafka, logLevel } from 'kafkajs';
import { fetchKafka } from './fetch.ts';

const run = promisify(execFile);
const START_MS = 150_000;
const PREFIX = 'ledgerline-test-kafka-';
const JVM = ['-Xmx256m', '-Xms64m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-Djava.awt.headless=true'];

/** Users of a cluster that asks for a password; its connections are not encrypted. */
export interface SaslUser {
  username: string;
  password: string;
}

export interface ClusterOptions {
  brokers?: 1 | 3;
  /** Every connection of a client must log in, with SCRAM-SHA-256. */
  user?: SaslUser;
}

/** Real Kafka brokers on loopback (KRaft, each broker and controller in one), with their data in a temporary folder. */
export class KafkaCluster {
  private readonly nodes: Node[];
  private readonly folder: string;

  private constructor(folder: string, nodes: Node[]) {
    this.folder = folder;
    this.nodes = nodes;
  }

  /** Formats the storage and waits until every broker accepts connections. */
  static async start(jars: string, { brokers = 1, user }: ClusterOptions = {}): Promise<KafkaCluster> {
    await removeAbandoned();
    const folder = await mkdtemp(path.join(tmpdir(), PREFIX));
    await writeFile(path.join(folder, 'runner.pid'), String(process.pid));
    const ports = await freePorts(brokers * 2);
    const voters = Array.from({ length: brokers }, (_, i) => `${i + 1}@127.0.0.1:${ports[i * 2]}`).join(',');
    const clusterId = randomBytes(16).toString('base64url');
    const nodes = Array.from({ length: brokers }, (_, i) => {
      const [controller, broker] = [ports[i * 2]!, ports[i * 2 + 1]!];
      return new Node({
        id: i + 1,
        jars,
        folder: path.join(folder, String(i + 1)),
        broker,
        controller,
        voters,
        brokers,
        user,
      });
    });
    const cluster = new KafkaCluster(folder, nodes);
    try {
      await Promise.all(nodes.map((node) => node.format(clusterId)));
      await Promise.all(nodes.map((node) => node.start()));
      return cluster;
    } catch (error) {
      await cluster.stop();
      throw error;
    }
  }

  /** `host:port` of each broker. */
  get brokers(): string[] {
    return this.nodes.map(({ settings }) => `127.0.0.1:${settings.broker}`);
  }

  /** By number, from 1, as Kafka calls them. */
  broker(id: number): Node {
    return this.nodes[id - 1]!;
  }

  /** Makes a topic with one partition led by each broker, each partition on so many of them. Soon every broker knows it. */
  async createTopic(topic: string, copies: number): Promise<void> {
    const ids = this.nodes.map(({ settings }) => settings.id);
    const replicaAssignment = ids.map((_, partition) => ({
      partition,
      replicas: ids.map((_, i) => ids[(partition + i) % ids.length]!).slice(0, copies),
    }));
    await this.administer((admin) =>
      admin.createTopics({ topics: [{ topic, replicaAssignment }], waitForLeaders: false }),
    );
  }

  /** Takes a topic away with all that is in it; returns when no broker knows it. */
  async deleteTopic(topic: string): Promise<void> {
    await this.administer((admin) => admin.deleteTopics({ topics: [topic] }));
  }

  private async administer(work: (admin: Admin) => Promise<unknown>): Promise<void> {
    const { user } = this.nodes[0]!.settings;
    const sasl = user && { mechanism: 'scram-sha-256' as const, ...user };
    const admin = new Kafka({ brokers: this.brokers, logLevel: logLevel.NOTHING, ...(sasl && { sasl }) }).admin();
    await admin.connect();
    try {
      await work(admin);
    } finally {
      await admin.disconnect();
    }
  }

  /** Ends all brokers and deletes their data. */
  async stop(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.kill()));
    await rm(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

interface NodeSettings {
  id: number;
  jars: string;
  folder: string;
  broker: number;
  controller: number;
  voters: string;
  brokers: number;
  user: SaslUser | undefined;
}

/** One broker: what can happen to it. */
class Node {
  readonly settings: NodeSettings;
  private child: ChildProcess | undefined;

  constructor(settings: NodeSettings) {
    this.settings = settings;
  }

  async format(clusterId: string): Promise<void> {
    const { folder, user } = this.settings;
    await mkdir(folder, { recursive: true });
    await writeFile(this.file('server.properties'), propertiesOf(this.settings));
    const scram = user ? ['--add-scram', `SCRAM-SHA-256=[name=${user.username},password=${user.password}]`] : [];
    const cluster = `--cluster-id=${clusterId}`; // it may begin with a dash
    const args = ['format', cluster, '-c', this.file('server.properties'), ...scram];
    await run('java', [...this.jvm(), 'kafka.tools.StorageTool', ...args], { timeout: START_MS });
  }

  /** Starts it on the data it has, and waits until it accepts connections. */
  async start(): Promise<void> {
    const log = openSync(this.file('broker.log'), 'a');
    const child = spawn('java', [...this.jvm(), 'kafka.Kafka', this.file('server.properties')], {
      stdio: ['ignore', log, log],
    });
    this.child = child;
    await writeFile(this.file('broker.pid'), String(child.pid ?? ''));
    const deadline = Date.now() + START_MS;
    while (!(await accepts(this.settings.broker))) {
      if (child.exitCode !== null || child.signalCode !== null || Date.now() > deadline) {
        await this.kill();
        throw new Error(`broker ${this.settings.id} did not start:\n${this.logTail()}`);
      }
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }

  /** As the machine's power failing, but for what the operating system still writes. */
  async kill(): Promise<void> {
    const { child } = this;
    this.child = undefined;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await ended;
  }

  /** Silent from here on, with its connections open. */
  pause(): void {
    this.child!.kill('SIGSTOP');
  }

  resume(): void {
    this.child!.kill('SIGCONT');
  }

  private logTail(): string {
    const file = this.file('broker.log');
    return existsSync(file) ? readFileSync(file, 'utf8').slice(-3_000) : '';
  }

  private file(name: string): string {
    return path.join(this.settings.folder, name);
  }

  private jvm(): string[] {
    return [...JVM, '-Dorg.slf4j.simpleLogger.defaultLogLevel=warn', '-cp', path.join(this.settings.jars, '*')];
  }
}

/** What a killed run left behind: brokers and their folders. */
async function removeAbandoned(): Promise<void> {
  for (const name of (await readdir(tmpdir())).filter((entry) => entry.startsWith(PREFIX))) {
    const folder = path.join(tmpdir(), name);
    const pidIn = async (file: string) => Number(await readFile(path.join(folder, file), 'utf8').catch(() => '')) || 0;
    const runner = await pidIn('runner.pid');
    if (!runner || isAlive(runner)) continue;
    for (const id of ['1', '2', '3']) {
      const broker = await pidIn(path.join(id, 'broker.pid'));
      const command = broker ? await readFile(`/proc/${broker}/cmdline`, 'utf8').catch(() => '') : '';
      if (command.includes(folder)) process.kill(broker, 'SIGKILL');
    }
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Small, and quick to notice that another broker is gone. */
function propertiesOf({ id, folder, broker, controller, voters, brokers, user }: NodeSettings): string {
  const client = user ? 'SASL_PLAINTEXT' : 'PLAINTEXT';
  const copies = brokers === 1 ? 1 : 3;
  return Object.entries({
    'process.roles': 'broker,controller',
    'node.id': id,
    'controller.quorum.voters': voters,
    listeners: `CLIENT://127.0.0.1:${broker},CONTROLLER://127.0.0.1:${controller}`,
    'advertised.listeners': `CLIENT://127.0.0.1:${broker}`,
    'listener.security.protocol.map': `CLIENT:${client},CONTROLLER:PLAINTEXT`,
    'controller.listener.names': 'CONTROLLER',
    'inter.broker.listener.name': 'CLIENT',
    'log.dirs': path.join(folder, 'data'),
    'auto.create.topics.enable': false,
    'default.replication.factor': copies,
    'min.insync.replicas': brokers === 1 ? 1 : 2,
    'offsets.topic.num.partitions': 1,
    'offsets.topic.replication.factor': copies,
    'transaction.state.log.replication.factor': copies,
    'share.coordinator.state.topic.replication.factor': copies,
    'group.initial.rebalance.delay.ms': 0,
    'group.min.session.timeout.ms': 1_000,
    'broker.session.timeout.ms': 6_000,
    'broker.heartbeat.interval.ms': 1_000,
    'log.cleaner.dedupe.buffer.size': 4 << 20,
    'log.retention.check.interval.ms': 1_000,
    'log.segment.delete.delay.ms': 500,
    'num.network.threads': 2,
    'num.io.threads': 2,
    ...(user && {
      'sasl.enabled.mechanisms': 'SCRAM-SHA-256',
      'sasl.mechanism.inter.broker.protocol': 'SCRAM-SHA-256',
      'listener.name.client.scram-sha-256.sasl.jaas.config': `org.apache.kafka.common.security.scram.ScramLoginModule required username="${user.username}" password="${user.password}";`,
    }),
  })
    .map(([name, value]) => `${name}=${value}\n`)
    .join('');
}

/** All at once, so that no two are the same. */
async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer());
  await Promise.all(servers.map((one) => new Promise<void>((resolve) => one.listen(0, '127.0.0.1', resolve))));
  const ports = servers.map((one) => (one.address() as { port: number }).port);
  await Promise.all(servers.map((one) => new Promise((resolve) => one.close(resolve))));
  return ports;
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}

/** `node --import ./test/ts-loader.mjs test/kafka/broker.ts [1|3]`: brokers until Ctrl-C, their addresses on the first line. */
async function main(): Promise<void> {
  const fetched = await fetchKafka();
  if ('reason' in fetched) {
    process.stderr.write(`${fetched.reason}\n`);
    process.exit(1);
  }
  const cluster = await KafkaCluster.start(fetched.jars, { brokers: process.argv[2] === '3' ? 3 : 1 });
  process.stdout.write(`${cluster.brokers.join(',')}\n`);
  const keepAlive = setInterval(() => {}, 60_000);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void cluster.stop().then(() => clearInterval(keepAlive)));
  }
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) await main();
