import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { Carried, RecordingFollower } from '../conformance/feed.follower.ts';
import { eventually } from '../eventually.ts';
import { KafkaCluster } from './broker.ts';
import { Deployment, describeKafka, jars, platforms } from './kafka.ts';

const PATIENCE_MS = 90_000;
const sasl = { mechanism: 'scram-sha-256', username: 'ledgerline', password: 'a secret: for tests' } as const;

describeKafka('the feed on three brokers that ask for a login', () => {
  let cluster: KafkaCluster;
  let deployment: Deployment;
  let carried: Carried;
  beforeAll(async () => {
    cluster = await KafkaCluster.start(jars, { brokers: 3, user: sasl });
  });
  afterAll(() => cluster?.stop());
  beforeEach(() => {
    carried = new Carried();
  });
  afterEach(() => deployment.stop());

  const append = () => deployment.append(...platforms(20));

  test('a broker that leads partitions is killed under load: the other two go on, and it comes back', async () => {
    deployment = await Deployment.open({ brokers: cluster.brokers, sasl }, { partitions: 6 });
    const relay = deployment.relay();
    const running = await deployment.follow(new RecordingFollower(carried));
    await append();
    await deployment.expectCarried(carried);
    const underWay = append();
    await cluster.broker(1).kill();
    await underWay;
    await append();
    await deployment.expectCarried(carried);
    await cluster.broker(1).start();
    await append();
    await deployment.expectCarried(carried);
    await eventually(
      async () => [relay.failure, running.failure],
      (both) => both.every((one) => !one),
      PATIENCE_MS,
    );
  });

  test('who cannot log in stands still and says so', async () => {
    deployment = await Deployment.open({ brokers: cluster.brokers, sasl: { ...sasl, password: 'wrong' } });
    const relay = deployment.relay();
    const running = await deployment.follow(new RecordingFollower(carried));
    await append();
    const failures = await eventually(
      async () => [relay.failure, running.failure],
      (both) => !both.includes(undefined),
      PATIENCE_MS,
    );
    for (const failure of failures) expect(failure).toMatch(/authentication/i);
    expect(JSON.stringify(failures)).not.toContain('wrong');
    expect(carried.all()).toEqual([]);
  });
});
