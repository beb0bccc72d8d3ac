import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import pg from 'pg';
import { freshDatabase, type TestDatabase } from '../database.ts';
import { eventually } from '../eventually.ts';
import { KafkaCluster } from '../kafka/broker.ts';
import { describeKafka, jars } from '../kafka/kafka.ts';
import { type Receiver, startReceiver } from '../receiver.ts';
import { RoleDeployment } from './deployment.ts';
import { Client, PATIENCE_MS } from './story.ts';

jest.setTimeout(900_000); // a broker and eight programs, started from their sources

/** How many events the topic, or a partition of the read models, still lacks. */
async function behind(pool: pg.Pool): Promise<number> {
  const { rows } = await pool.query<{ behind: string }>(
    `SELECT (SELECT position FROM log_head) - r.position
            + (SELECT COALESCE(sum(greatest(last - COALESCE(c.position, 0), 0)), 0)
                 FROM unnest(r.last_positions) WITH ORDINALITY AS p(last, n)
                 LEFT JOIN checkpoints c ON c.name = 'live/' || (p.n - 1)) AS behind
       FROM relays r`,
  );
  return Number(rows[0]!.behind);
}

describeKafka('the five roles on a Kafka broker', () => {
  let cluster: KafkaCluster;
  let database: TestDatabase;
  let deployment: RoleDeployment;
  let receiver: Receiver;
  let client: Client;

  beforeAll(async () => {
    [cluster, database, receiver] = await Promise.all([KafkaCluster.start(jars), freshDatabase(), startReceiver()]);
    const env = { FEED: 'kafka', KAFKA_BROKERS: cluster.brokers.join(','), KAFKA_PARTITIONS: '4' };
    deployment = new RoleDeployment({ databaseUrl: database.url, env: { ...env, SANDBOX_TIME_SCALE: '0.01' } });
    await deployment.startAll('api', 'relay', 'projector', 'worker', 'dispatcher');
    client = new Client(deployment, 'api-1');
    await client.call('PATCH', '/config', { webhookEndpoint: receiver.url });
  });
  afterAll(async () => {
    await deployment?.stop();
    await receiver?.stop();
    await cluster?.stop();
    await database?.drop();
  });

  const paymentGoesThrough = async (amount: number) => {
    const transactionId = await client.pay(amount);
    await client.completed(transactionId);
    await eventually(
      async () => receiver.received.map(({ event }) => `${event.type} ${event.data.id}`),
      (told) => told.includes(`OUTGOING_PAYMENT.COMPLETED ${transactionId}`),
      PATIENCE_MS,
    );
  };

  test('complete a payment and announce it', async () => {
    await paymentGoesThrough(2_001);
  });

  test('go on when relay and projector are killed and others are there', async () => {
    const before = ['relay', 'projector'].flatMap((role) =>
      [...deployment.processes.values()].filter((one) => one.role === role && !one.isOver),
    );
    await deployment.startAll('relay', 'projector');
    for (const one of before) await one.kill();
    await paymentGoesThrough(2_002);
  });

  test('get another number of partitions as docs/operations.md says', async () => {
    const docs = await readFile(path.join(import.meta.dirname, '../../docs/operations.md'), 'utf8');
    const [, sql] = /```sql partitions\n([\s\S]*?)```/.exec(docs)!;
    const pool = new pg.Pool({ connectionString: database.url, max: 1 });
    try {
      await eventually(
        async () => (await deployment.get('api-1').readiness()).status,
        (status) => status === 200,
        PATIENCE_MS,
      );
      await eventually(
        () => behind(pool),
        (count) => count === 0,
        PATIENCE_MS,
      );
      for (const one of deployment.processes.values()) await one.terminate();
      await pool.query(sql!);
    } finally {
      await pool.end();
    }
    deployment.env.KAFKA_TOPIC = 'ledgerline.events.2';
    deployment.env.KAFKA_PARTITIONS = '6';
    await deployment.restart('api-1');
    await deployment.startAll('relay', 'projector', 'worker', 'dispatcher');
    await deployment.get('api-1').untilReady();
    await paymentGoesThrough(2_004);
  });

  test('say that they are not ready while the log does not reach the topic', async () => {
    const relays = [...deployment.processes.values()].filter((one) => one.role === 'relay' && !one.isOver);
    for (const relay of relays) expect(await relay.terminate()).toBe(0);
    const account = await client.usdAccount();
    await client.fund(account, 3);
    const api = deployment.get('api-1');
    const { checks } = await eventually(
      () => api.readiness(),
      ({ status }) => status === 503,
      PATIENCE_MS,
    );
    expect(checks).toEqual({ database: 'ok', projection: expect.stringMatching(/^\d+ s \(\d+ events?\) behind$/) });
    await deployment.startAll('relay');
    await eventually(
      () => api.readiness(),
      ({ status }) => status === 200,
      PATIENCE_MS,
    );
  });
});
