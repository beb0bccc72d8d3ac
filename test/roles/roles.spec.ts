import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { parse } from 'yaml';
import { freePort } from '../bench/program.ts';
import { freshDatabase, type TestDatabase } from '../database.ts';
import { startEventStoreServer, type TestServer } from '../eventstoredb/server.ts';
import { eventually } from '../eventually.ts';
import { type Receiver, startReceiver } from '../receiver.ts';
import { type ApartRole, RoleDeployment, type RoleProcess } from './deployment.ts';
import { Client, PATIENCE_MS } from './story.ts';

jest.setTimeout(600_000); // each role is a whole program, started from its sources

const ROLES = ['api', 'projector', 'worker', 'dispatcher'] as const;

let database: TestDatabase;
let deployment: RoleDeployment;
let receiver: Receiver;

beforeAll(async () => {
  database = await freshDatabase();
  deployment = new RoleDeployment({ databaseUrl: database.url, env: { SANDBOX_TIME_SCALE: '0.01' } });
  const [api] = await deployment.startAll(...ROLES);
  receiver = await startReceiver();
  await new Client(deployment, api!.name).call('PATCH', '/config', { webhookEndpoint: receiver.url });
});
afterAll(async () => {
  await deployment.stop();
  await receiver.stop();
  await database.drop();
});

/** Makes sure that so many processes of each role are running and ready, whatever tests did before; answers them by role. */
async function running(count: number, ...roles: ApartRole[]): Promise<Record<string, RoleProcess[]>> {
  const alive = (role: ApartRole) =>
    [...deployment.processes.values()].filter((one) => one.role === role && !one.isOver);
  for (const role of roles) {
    for (let missing = count - alive(role).length; missing > 0; missing -= 1) await deployment.start(role);
  }
  await Promise.all(roles.flatMap(alive).map((one) => one.untilReady()));
  return Object.fromEntries(roles.map((role) => [role, alive(role)]));
}

/** A payment from its request to its webhook, through whichever processes are running. */
async function paymentGoesThrough(api: RoleProcess, amount: number): Promise<void> {
  const client = new Client(deployment, api.name);
  const transactionId = await client.pay(amount);
  await client.completed(transactionId);
  await eventually(
    async () => receiver.received.map(({ event }) => `${event.type} ${event.data.id}`),
    (told) => told.includes(`OUTGOING_PAYMENT.COMPLETED ${transactionId}`),
    PATIENCE_MS,
  );
}

describe('the roles as processes of their own', () => {
  test('complete a payment and announce it', async () => {
    const { api } = await running(1, ...ROLES);
    await paymentGoesThrough(api![0]!, 1_001);
  });

  test('end with 0 when they are told to, and the next of their kind goes on', async () => {
    const found = await running(2, ...ROLES);
    for (const role of ROLES) expect([role, await found[role]![0]!.terminate()]).toEqual([role, 0]);
    for (const role of ROLES) expect(found[role]![0]!.logged('error', 'fatal')).toEqual([]);
    await paymentGoesThrough(found.api![1]!, 1_002);
  });

  test('are replaced by the next of their kind after kill -9', async () => {
    const found = await running(2, ...ROLES);
    for (const role of ROLES) await found[role]![0]!.kill();
    await paymentGoesThrough(found.api![1]!, 1_003);
  });

  test('the API says that it is not ready while nothing is projected, and is again when something is', async () => {
    const { api, projector } = await running(1, 'api', 'projector');
    const [first] = api!;
    for (const one of projector!) await one.terminate();
    const client = new Client(deployment, first!.name);
    await client.fund(await client.usdAccount(), 7);
    const stalled = await eventually(
      () => first!.readiness(),
      ({ status }) => status === 503, // 0 is that nobody has answered in time
      PATIENCE_MS,
    );
    expect(stalled).toEqual({
      status: 503,
      checks: { database: 'ok', projection: expect.stringMatching(/^\d+ s \(\d+ events?\) behind$/) },
    });
    await running(1, 'projector');
    await eventually(
      () => first!.readiness(),
      ({ status }) => status === 200,
      PATIENCE_MS,
    );
  });
});

test('every metric that the alerts and the dashboard name is exported by a role', async () => {
  const found = await running(1, ...ROLES);
  const relay = await deployment.start('relay', {
    env: { FEED: 'kafka', KAFKA_BROKERS: `127.0.0.1:${await freePort()}` },
  });
  const withoutBroker = await eventually(
    () => relay.readiness(),
    ({ checks }) => 'relay' in checks && checks.relay !== 'ok',
    PATIENCE_MS,
  );
  expect(withoutBroker).toMatchObject({
    status: 503,
    checks: { relay: expect.stringMatching(/behind$|see the log$/) },
  });
  const texts = await Promise.all([relay, ...ROLES.map((role) => found[role]![0]!)].map((one) => one.metrics()));
  const exported = new Set(texts.flatMap(exportedBy));
  const named = [...namedIn(read('docker/prometheus/rules.yml')), ...namedIn(read('docker/grafana/dashboard.json'))];
  expect(named.length).toBeGreaterThan(40);
  expect([...new Set(named)].filter((name) => !exported.has(name) && name !== 'up')).toEqual([]);
  expect(await relay.terminate()).toBe(0);
});

const read = (file: string): string => readFileSync(path.join(import.meta.dirname, '../..', file), 'utf8');

/** The series that a text of metrics declares, those without a value yet included. */
const exportedBy = (text: string): string[] =>
  [...text.matchAll(/^# TYPE (\w+) (\w+)$/gm)].flatMap(([, name, type]) =>
    type === 'histogram' ? ['_bucket', '_sum', '_count'].map((end) => `${name}${end}`) : [name!],
  );

/** The metrics in the expressions of a file of rules, or of a dashboard. */
function namedIn(text: string): string[] {
  const expressions: string[] = [];
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    for (const [name, member] of Object.entries(value)) {
      if (name === 'expr') expressions.push(String(member));
      else visit(member);
    }
  };
  visit(parse(text));
  return expressions.flatMap((expression) =>
    [...expression.replace(/\{[^}]*\}|\[[^\]]*\]|\bby \([^)]*\)/g, '').matchAll(/[a-z_][a-z0-9_]*/gi)]
      .map(([word]) => word)
      .filter((word) => !FUNCTIONS.has(word)),
  );
}

const FUNCTIONS = new Set(['sum', 'max', 'min', 'rate', 'increase', 'histogram_quantile', 'max_over_time', 'unless']);

describe('a role', () => {
  test('comes up before its database does, and says that it waits', async () => {
    const port = await freePort();
    const { hostname, port: target } = new URL(database.url);
    const url = new URL(database.url);
    url.host = `127.0.0.1:${port}`;
    const late = new RoleDeployment({ databaseUrl: url.href, masterKey: deployment.masterKey });
    const worker = await late.start('worker');
    let proxy: Server | undefined;
    try {
      const waiting = await eventually(
        () => worker.readiness(),
        ({ checks }) => checks.role?.startsWith('waiting') === true,
        PATIENCE_MS,
      );
      expect(waiting).toEqual({ status: 503, checks: { role: 'waiting for what it stands on: see the log' } });
      expect((await fetch(`${worker.url}/healthz`)).status).toBe(200);
      expect(worker.logged('warn')).toEqual([expect.stringContaining('ECONNREFUSED')]);
      proxy = createServer((socket) => {
        const there = connect(Number(target), hostname);
        socket.on('error', () => there.destroy());
        there.on('error', () => socket.destroy());
        socket.pipe(there).pipe(socket);
      }).listen(port, '127.0.0.1');
      await once(proxy, 'listening');
      await worker.untilReady();
      expect(await worker.terminate()).toBe(0);
    } finally {
      await late.stop();
      proxy?.close();
    }
  });

  test('comes up before the event store does', async () => {
    const port = await freePort();
    const env = { EVENT_STORE: 'eventstoredb', ESDB_URL: `esdb://127.0.0.1:${port}?tls=false` };
    const apart = await freshDatabase();
    const early = new RoleDeployment({ databaseUrl: apart.url, env });
    let server: TestServer | undefined;
    try {
      const worker = await early.start('worker');
      await eventually(
        async () => worker.logged('warn').length,
        (lines) => lines > 0,
        PATIENCE_MS,
      );
      await eventually(
        () => worker.readiness(),
        ({ status }) => status === 503,
        PATIENCE_MS,
      );
      server = await startEventStoreServer({ port });
      await worker.untilReady();
      expect(await worker.terminate()).toBe(0);
    } finally {
      await early.stop();
      await server?.stop();
      await apart.drop();
    }
  });

  test('can be ended while it waits', async () => {
    const nowhere = new RoleDeployment({ databaseUrl: `postgres://127.0.0.1:${await freePort()}/payments` });
    const dispatcher = await nowhere.start('dispatcher');
    await eventually(
      async () => dispatcher.logged('warn').length,
      (lines) => lines > 0,
      PATIENCE_MS,
    );
    expect(await dispatcher.terminate()).toBe(0);
  });

  test('ends with 1 after an error that nobody expected', async () => {
    const fault = `process.on('SIGUSR2', () => Promise.reject(new Error('nobody expected this')))`;
    const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(fault)}`;
    const projector = await (await deployment.start('projector', { env: { NODE_OPTIONS } })).untilReady();
    process.kill(projector.pid, 'SIGUSR2');
    expect(await projector.ended).toBe(1);
    expect(projector.logged('fatal')).toEqual([expect.stringContaining('nobody expected this')]);
  });

  test('is refused with another key than the one that the stored data is encrypted with', async () => {
    await running(1, 'api'); // has made a platform, whose secrets are personal data
    const worker = await deployment.start('worker', { env: { MASTER_KEY: 'f'.repeat(64) } });
    expect(await worker.ended).toBe(1);
    expect(worker.logged('fatal')).toEqual([expect.stringContaining('MASTER_KEY is not the key')]);
  });

  test('is refused without the database and the key that it shares with the others', async () => {
    const alone = new RoleDeployment({ databaseUrl: '', env: { MASTER_KEY: '' } });
    const worker = await alone.start('worker');
    expect(await worker.ended).toBe(1);
    expect(worker.output).toContain('DATABASE_URL must be set for the worker');
    expect(worker.output).toContain('MASTER_KEY must be set for the worker');
  });
});
