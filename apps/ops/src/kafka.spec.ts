import { createServer, type Server } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { partitionOf } from '../../../libs/adapters/kafka/partition.ts';
import { projections } from '../../../projections/index.ts';
import { type Activity, someActivity } from '../../../test/activity.ts';
import { freePort } from '../../../test/bench/program.ts';
import { eventually } from '../../../test/eventually.ts';
import { KafkaCluster } from '../../../test/kafka/broker.ts';
import { describeKafka, jars } from '../../../test/kafka/kafka.ts';
import { startTestPlatform, type TestPlatform } from '../../../test/platform.ts';
import { type Receiver, startReceiver } from '../../../test/receiver.ts';
import type { ListedDelivery } from './deliveries.ts';
import { doctorIn, opsOn } from './ops.examples.ts';
import type { Status } from './status.ts';
import { checks } from './verify.ts';

const PARTITIONS = 4;
const PATIENCE_MS = 60_000;
const names = Array.from({ length: PARTITIONS }, (_, partition) => `live/${partition}`);

describeKafka('the command line on read models that are fed in four partitions', () => {
  const masterKey = Buffer.alloc(32, 9);
  let cluster: KafkaCluster;
  let receiver: Receiver;
  let platform: TestPlatform;
  let activities: Activity[];
  let isWell = false;
  beforeAll(async () => {
    [cluster, receiver] = await Promise.all([KafkaCluster.start(jars), startReceiver(() => (isWell ? 204 : 503))]);
    platform = await startTestPlatform({ topic: { brokers: cluster.brokers, partitions: PARTITIONS }, masterKey });
    platform.dispatcher({ delayMs: () => 'GIVE_UP' }).start();
    const tenants = [platform];
    const isMet = (partition: number) =>
      tenants.some(({ tenant }) => partitionOf(tenant.platform, PARTITIONS) === partition);
    while (!names.every((_, partition) => isMet(partition)))
      tenants.push({ ...platform, ...(await platform.another()) });
    activities = [];
    for (const one of tenants) activities.push(await someActivity(one));
    await platform.api('patch', '/config').send({ webhookEndpoint: receiver.url }).expect(200);
    await platform.api('post', `/sandbox/internal-accounts/${activities[0]!.usd}/fund`).send({ amount: 5 }).expect(200);
    await caughtUp();
  });
  afterAll(async () => {
    await platform?.stop();
    await receiver?.stop();
    await cluster?.stop();
  });

  const { ops, json } = opsOn(() => platform);
  const caughtUp = (): Promise<Status> =>
    eventually(
      () => json('status', '--sample', '0'),
      ({ followers }: Status) => followers.every(({ lagEvents }) => lagEvents === 0),
      PATIENCE_MS,
    );

  test('status has a row for each partition, and one for the relay', async () => {
    const { head, followers } = await caughtUp();
    expect(followers.map(({ name, kind, lagEvents, lagSeconds }) => [name, kind, lagEvents, lagSeconds])).toEqual([
      ...names.map((name) => [name, 'read models', 0, 0]),
      ...Array.from({ length: 8 }, (_, shard) => [`processes/${shard}`, 'processes', 0, 0]),
      [`relay/${platform.kafka!.topic}`, 'relay', 0, 0],
    ]);
    expect(Math.max(...followers.map(({ position }) => position))).toBe(head);
    const owners = followers.filter(({ kind }) => kind !== 'processes').map(({ owner }) => owner?.split(':').at(-1));
    expect(owners).toEqual([...names.map(() => 'projector'), 'relay']);
    const { code, out } = await ops('status', '--sample', '0');
    expect([code, out.match(/^live\/\d(?= +read models )/gm)]).toEqual([0, names]);
  });

  test('rebuild --all finds nothing to be different, and verify nothing wrong', async () => {
    const { tables } = await json('rebuild', '--all');
    expect(tables.map(({ name, compared }: { name: string; compared: unknown }) => [name, compared])).toEqual(
      projections.map(({ name }) => [name, { differing: 0, differences: [] }]),
    );
    const { code, out } = await ops('verify');
    expect([code, out.match(/^(ok|FAILED)/gm)]).toEqual([0, checks.map(() => 'ok')]);
    expect(await json('verify')).toMatchObject({ unprojected: 0, findings: [] });
  });

  test('the trial balance of the journal is the one of the log', async () => {
    const ofLog = await json('trial-balance');
    const ofJournal = await json('trial-balance', '--journal');
    expect(ofLog.isBalanced).toBe(true);
    expect({ ...ofJournal, position: ofLog.position }).toEqual(ofLog);
    expect(ofJournal.position).toBe(await platform.engine.store.head());
  });

  test('what a payment did is found in each partition', async () => {
    for (const { completed, usd } of activities) {
      const { trails, deliveries } = await json('inspect', completed);
      expect(trails.map(({ commands }: { commands: unknown[] }) => commands.length)).toEqual([4]);
      expect(deliveries).toEqual([]); // there was no endpoint yet
      expect((await json('balance', usd)).pendingMinor).toBe('10000');
    }
  });

  test('a webhook that failed is sent again', async () => {
    const listed = (...args: string[]): Promise<ListedDelivery[]> => json('deliveries', ...args);
    const failed = await eventually(
      () => listed('--status', 'FAILED'),
      ({ length }) => length === 3,
      PATIENCE_MS,
    );
    const types = ['INCOMING_PAYMENT.COMPLETED', 'INTERNAL_ACCOUNT.BALANCE_UPDATED', 'TEST'];
    expect(failed.map(({ type }) => type).sort()).toEqual(types);
    isWell = true;
    const { id } = failed.find(({ type }) => type === types[0])!;
    expect((await ops('redeliver', id)).code).toBe(0);
    expect(await json('recover', '--since', '2000-01-01')).toEqual({ recovered: 1 });
    const delivered = await eventually(
      () => listed('--status', 'DELIVERED'),
      ({ length }) => length === 2,
      PATIENCE_MS,
    );
    expect(delivered.map(({ type }) => type).sort()).toEqual(types.slice(0, 2));
  });

  test('a platform is made, and its read models are waited for', async () => {
    const { platform: made } = await json('platform', 'create', '--name', 'Acme', '--environment', 'sandbox');
    const listed = await json('platform', 'list');
    expect(listed.filter((one: { platform: string }) => one.platform === made)).toMatchObject([{ name: 'Acme' }]);
  });

  const environment = (more: NodeJS.ProcessEnv = {}) => ({
    DATABASE_URL: platform.engine.url,
    MASTER_KEY: masterKey.toString('hex'),
    DATA_DIR: '/not/there',
    FEED: 'kafka',
    KAFKA_BROKERS: cluster.brokers.join(','),
    KAFKA_TOPIC: platform.kafka!.topic,
    KAFKA_PARTITIONS: String(PARTITIONS),
    ...more,
  });

  test('doctor finds brokers, topic and relay well', async () => {
    await caughtUp();
    const { found, of } = await doctorIn(environment());
    const { topic } = platform.kafka!;
    expect(found.filter(({ check }) => check !== 'durability').map(({ check, outcome }) => [check, outcome])).toEqual([
      ['configuration', 'ok'],
      ['connectivity', 'ok'],
      ['topic', 'ok'],
      ['connectivity', 'ok'],
      ['connections', expect.stringMatching(/^(ok|warn)$/)],
      ['clocks', 'ok'],
      ['migrations', 'ok'],
      ['event store', 'ok'],
      ['master key', 'ok'],
      ['read models', 'ok'],
      ['relay', 'ok'],
      ['lag', 'ok'],
      ['timers', 'ok'],
      ['deliveries', 'ok'],
      ['dead letters', 'ok'],
    ]);
    expect(of('connectivity')[0]).toBe(`ok Kafka broker ${cluster.brokers[0]} answers`);
    expect(of('topic')).toEqual([`ok ${topic} has 4 partitions, each with a leader and all its replicas in sync`]);
    expect(of('relay')).toEqual([
      expect.stringMatching(/^ok \S+:relay brings the log into ledgerline\.\S+: 0 events, 0\.0 s behind$/),
    ]);
    expect(of('lag')).toEqual([
      expect.stringMatching(/^ok up to date: live\/0, live\/1, live\/2, live\/3, processes\/0/),
    ]);
  });

  test('doctor says that the topic is another one than is configured, or not there', async () => {
    const { topic } = platform.kafka!;
    const other = await doctorIn(environment({ KAFKA_PARTITIONS: '6' }));
    expect([other.code, other.of('topic')]).toEqual([1, [`fail ${topic} has 4 partitions, not 6`]]);
    const missing = await doctorIn(environment({ KAFKA_TOPIC: 'not.there' }));
    expect([missing.code, missing.of('topic')]).toEqual([1, ['fail there is no topic not.there']]);
    expect(missing.of('relay')).toEqual(['fail nobody brings the log into not.there']);
    expect(missing.of('lag')).toEqual([expect.not.stringContaining('relay/')]);
  });

  test('doctor names each broker that does not answer', async () => {
    const silent: Server = createServer().listen(0, '127.0.0.1');
    try {
      const [broker] = cluster.brokers as [string];
      const nowhere = `127.0.0.1:${await freePort()}`;
      const mute = `127.0.0.1:${(silent.address() as { port: number }).port}`;
      const some = await doctorIn(environment({ KAFKA_BROKERS: `${nowhere},${broker},${mute}` }));
      expect([some.of('connectivity').slice(0, 3), some.of('topic')]).toEqual([
        [
          `warn Kafka broker ${nowhere}: Connection error: connect ECONNREFUSED ${nowhere}`,
          `ok Kafka broker ${broker} answers`,
          `warn Kafka broker ${mute}: no answer within 10 s`,
        ],
        [expect.stringMatching(/^ok /)],
      ]);
      const KAFKA_SASL = 'plain:someone:hidden';
      const none = await doctorIn(environment({ KAFKA_BROKERS: nowhere, KAFKA_SASL }));
      expect([none.code, none.of('topic')]).toEqual([1, []]);
      expect(none.of('connectivity')).toEqual([
        `fail Kafka broker ${nowhere}: Connection error: connect ECONNREFUSED ${nowhere}`,
        expect.stringMatching(/^ok PostgreSQL /),
      ]);
      expect(none.printed).not.toContain('hidden');
    } finally {
      silent.close();
    }
  });
});
