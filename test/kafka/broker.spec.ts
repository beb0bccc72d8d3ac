import { type ChildProcess, spawn } from 'node:child_process';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { encodeMessage } from '../../libs/adapters/kafka/message.ts';
import { Carried, RecordingFollower } from '../conformance/feed.follower.ts';
import { eventually } from '../eventually.ts';
import { KafkaCluster } from './broker.ts';
import { Deployment, describeKafka, jars, platforms } from './kafka.ts';

const root = path.join(import.meta.dirname, '../..');
const PATIENCE_MS = 90_000;

describeKafka('the feed on one broker', () => {
  let cluster: KafkaCluster;
  let deployment: Deployment;
  let carried: Carried;
  beforeAll(async () => {
    cluster = await KafkaCluster.start(jars);
  });
  afterAll(() => cluster?.stop());
  beforeEach(() => {
    carried = new Carried();
  });
  afterEach(() => deployment.stop());

  const begin = async (options?: Parameters<typeof Deployment.open>[1]) => {
    deployment = await Deployment.open(cluster.brokers, options);
  };
  const append = () => deployment.append(...platforms(20));

  test('a broker that is killed and comes back costs time and nothing else', async () => {
    await begin();
    const relay = deployment.relay();
    const running = await deployment.follow(new RecordingFollower(carried));
    await append();
    await deployment.expectCarried(carried);
    await cluster.broker(1).kill();
    await append();
    await eventually(
      async () => [relay.failure, running.failure],
      (both) => !both.includes(undefined),
      PATIENCE_MS,
    );
    await append();
    await cluster.broker(1).start();
    await append();
    await deployment.expectCarried(carried);
    await eventually(
      async () => [relay.failure, running.failure],
      (both) => both.every((one) => !one),
      PATIENCE_MS,
    );
  });

  test('messages that come again, late or out of order change nothing', async () => {
    await begin();
    deployment.relay();
    await deployment.follow(new RecordingFollower(carried));
    await append();
    await deployment.expectCarried(carried);
    const old = await deployment.messages();
    await append();
    await deployment.send(old);
    await deployment.send(old.slice(10).concat(old.slice(0, 10)));
    await append();
    const ahead = (await deployment.messages()).slice(-5);
    await deployment.send(ahead);
    await deployment.send([{ partition: 0, key: null, value: 'no relay wrote this' }]);
    await append();
    await deployment.expectCarried(carried);
  });

  test('offsets that are rewound, lost, beyond the end or of another feed change nothing', async () => {
    await begin({ partitions: 4 });
    deployment.relay();
    const first = await deployment.follow(new RecordingFollower(carried));
    await append();
    await deployment.expectCarried(carried);
    await first.stop();
    for (const [partition, mark] of ['0', undefined, '1000000', 'x'].entries()) {
      expect(carried.of(partition).mark).toMatch(/^[1-9]\d*$/);
      carried.of(partition).mark = mark;
    }
    await append();
    await deployment.follow(new RecordingFollower(carried));
    await append();
    await deployment.expectCarried(carried);
  });

  test('a topic that is deleted is made anew, and what went with it is read from the store', async () => {
    await begin();
    const relay = deployment.relay();
    const first = await deployment.follow(new RecordingFollower(carried));
    await append();
    await deployment.expectCarried(carried);
    await cluster.deleteTopic(deployment.topic);
    await append();
    await deployment.expectCarried(carried);
    await first.stop();
    await append();
    const head = await deployment.store.head();
    await eventually(
      async () => relay.position,
      (position) => position === head,
      PATIENCE_MS,
    );
    await relay.stop();
    await cluster.deleteTopic(deployment.topic);
    await deployment.follow(new RecordingFollower(carried));
    deployment.relay();
    await deployment.expectCarried(carried); // no event comes after those that were lost
  });

  test('stopping while much is missing from the topic waits for the batch under way, not for all that is missing', async () => {
    await begin({ partitions: 1 });
    for (let i = 0; i < 10; i += 1) await append();
    const head = await deployment.store.head();
    await deployment.send([{ partition: 0, key: null, value: encodeMessage({ position: head, previous: head }) }]);
    const follower = new RecordingFollower(carried);
    let stopped: Promise<void> | undefined;
    follower.before = () => {
      stopped ??= running.stop();
    };
    const running = await deployment.follow(follower, { batchSize: 10 });
    await eventually(async () => stopped !== undefined, Boolean, PATIENCE_MS);
    await stopped;
    expect([carried.all().length, carried.held()]).toEqual([10, []]);
    await deployment.follow(new RecordingFollower(carried));
    await deployment.expectCarried(carried);
  });

  test('a topic with another number of partitions, or of another log, is refused', async () => {
    await begin();
    const relay = deployment.relay();
    await append();
    await eventually(
      async () => relay.position,
      (position) => position === 20,
      PATIENCE_MS,
    );
    await relay.stop();
    const running = await deployment.follow(new RecordingFollower(carried), { partitions: 5 });
    const refusal = `the topic ${deployment.topic} has 4 partitions, not 5`;
    await eventually(
      async () => running.failure,
      (failure) => failure === `Kafka: ${refusal}`,
      PATIENCE_MS,
    );
    const other = deployment.relay({ partitions: 5 });
    const begun = `the topic ${deployment.topic} was begun with 4 partitions, not 5`;
    await eventually(
      async () => other.failure,
      (failure) => failure === begun,
      PATIENCE_MS,
    );
    expect(carried.all()).toEqual([]);
    await other.stop();
    await deployment.pool.query('UPDATE relays SET position = 1000');
    const strange = deployment.relay();
    const another = `the log ends at 20, the topic ${deployment.topic} has it up to 1000: it is another log's`;
    await eventually(
      async () => strange.failure,
      (failure) => failure === another,
      PATIENCE_MS,
    );
    await strange.stop();
  });

  test('a relay that was stopped and continues changes nothing: another one goes on meanwhile', async () => {
    await begin({ isShared: true });
    const { database, topic, partitions } = deployment;
    const settings = { url: database.url, brokers: cluster.brokers, topic, partitions, expiresMs: 2_000 };
    const child = startChild(settings);
    deployment.ended({ stop: () => child.kill() });
    await deployment.follow(new RecordingFollower(carried));
    await append();
    await child.said(/at 20\n/);
    const before = append(); // it is in the middle of these when it is stopped, or has not begun
    child.process.kill('SIGSTOP');
    await before;
    const relay = deployment.relay({ lease: { expiresMs: 2_000, heartbeatMs: 200, pollMs: 50 } });
    await eventually(async () => relay.leads, Boolean, PATIENCE_MS);
    await append();
    await deployment.expectCarried(carried);
    const position = async () => Number((await deployment.pool.query('SELECT position FROM relays')).rows[0].position);
    await eventually(position, (at) => at === 60, PATIENCE_MS);
    child.process.kill('SIGCONT');
    await append();
    await child.said(/another relay goes on/);
    await append();
    await deployment.expectCarried(carried);
    await eventually(position, (at) => at === 100, PATIENCE_MS);
    expect(relay.leads).toBe(true);
    await relay.stop();
    await append(); // the one that was stopped takes its turn
    await deployment.expectCarried(carried);
    await child.said(/at 120\n/);
  });
});

/** A relay in another process. */
function startChild(settings: object) {
  const file = path.join(import.meta.dirname, 'relay.child.ts');
  const child: ChildProcess = spawn(
    process.execPath,
    ['--import', './test/ts-loader.mjs', file, JSON.stringify(settings)],
    { cwd: root, stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, NODE_OPTIONS: '' } },
  );
  let output = '';
  for (const stream of [child.stdout!, child.stderr!]) stream.on('data', (chunk) => (output += chunk));
  return {
    process: child,
    said: (what: RegExp) =>
      eventually(
        async () => output,
        (text) => what.test(text),
        PATIENCE_MS,
      ),
    async kill() {
      const ended = new Promise((resolve) => child.once('exit', resolve));
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGKILL');
      await ended;
    },
  };
}
