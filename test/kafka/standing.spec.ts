import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { kafka } from '../../apps/ops/src/servers.ts';
import type { KafkaConfig } from '../../libs/runtime/config.ts';
import { eventually } from '../eventually.ts';
import { KafkaCluster } from './broker.ts';
import { describeKafka, jars } from './kafka.ts';

const PATIENCE_MS = 60_000;
const login = { username: 'ledgerline', password: 'a secret: for tests' };

describeKafka('what doctor says of three brokers that ask for a login', () => {
  let cluster: KafkaCluster;
  beforeAll(async () => {
    cluster = await KafkaCluster.start(jars, { brokers: 3, user: login });
    await cluster.createTopic('three.copies', 3);
    await cluster.createTopic('one.copy', 1);
  });
  afterAll(() => cluster?.stop());

  const findings = async (topic: string, sasl?: Partial<typeof login> | 'none') => {
    const found: string[] = [];
    const { brokers } = cluster;
    const mechanism = 'scram-sha-256';
    const config: KafkaConfig = { brokers, topic, partitions: 3, tls: false, sasl: undefined };
    const credentials = sasl === 'none' ? undefined : ({ mechanism, ...login, ...sasl } as const);
    for await (const { check, outcome, message } of kafka({ ...config, sasl: credentials }))
      found.push(`${outcome} ${check}: ${message}`);
    return found;
  };
  const answers = (...ids: number[]) =>
    ids.map((id) => `ok connectivity: Kafka broker ${cluster.brokers[id - 1]} answers`);

  test('all is well', async () => {
    const well = 'has 3 partitions, each with a leader and all its replicas in sync';
    for (const topic of ['three.copies', 'one.copy']) {
      const found = await eventually(
        () => findings(topic),
        (lines) => lines.at(-1)!.startsWith('ok'),
        PATIENCE_MS,
      );
      expect(found).toEqual([...answers(1, 2, 3), `ok topic: ${topic} ${well}`]);
    }
  });

  test.each([
    ['a wrong password', { password: 'hidden' }],
    ['no login', 'none'],
  ] as const)('with %s each of them is named', async (_, sasl) => {
    const found = await findings('three.copies', sasl);
    expect(found).toEqual(
      cluster.brokers.map((broker) => expect.stringMatching(`^fail connectivity: Kafka broker ${broker}: `)),
    );
    expect(found.join()).not.toContain('hidden');
  });

  test('one that is gone is named, as are the partitions that lack it, or have no leader', async () => {
    await cluster.broker(2).kill();
    const lacking = await eventually(
      () => findings('three.copies'),
      (found) => found.at(-1)!.startsWith('warn'),
      PATIENCE_MS,
    );
    // those that answer name the one that is gone: the client may go on to it, by chance
    for (const found of [lacking, ...(await Promise.all(Array.from({ length: 10 }, () => findings('three.copies'))))]) {
      expect(found).toEqual([
        ...answers(1),
        expect.stringMatching(`^warn connectivity: Kafka broker ${cluster.brokers[1]}: Connection error: `),
        ...answers(3),
        'warn topic: three.copies: replicas of partitions 0, 1, 2 are not in sync',
      ]);
    }
    const leaderless = await findings('one.copy');
    expect(leaderless.at(-1)).toBe('fail topic: a partition of the topic one.copy has no leader');
  });
});
