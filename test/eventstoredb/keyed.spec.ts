import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { platformAccountId } from '../../apps/shared/provision.ts';
import { account, ReceiveDeposit } from '../../libs/domain/accounts/account.ts';
import { tenantIdOf } from '../../libs/domain/platforms/platform.ts';
import { BASE_PATH } from '../../libs/runtime/http/index.ts';
import { basic } from '../bench/program.ts';
import { eventually } from '../eventually.ts';
import { startTestPlatform, type TestPlatform } from '../platform.ts';
import { RoleDeployment } from '../roles/deployment.ts';
import { startEventStoreServer, type TestServer } from './server.ts';

const OTHERS = 5_000;
const PATIENCE_MS = 60_000;

let server: TestServer;
let platform: TestPlatform;
let apart: RoleDeployment;
let accountId: string;
const cleanUps: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  server = await startEventStoreServer();
  const masterKey = randomBytes(32);
  platform = await startTestPlatform({ eventStore: { esdbUrl: server.url }, masterKey });
  const env = { EVENT_STORE: 'eventstoredb', ESDB_URL: server.url };
  apart = new RoleDeployment({ databaseUrl: platform.engine.url, masterKey, env });
  accountId = platformAccountId(platform.tenant, 'USD');
});
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});
afterAll(async () => {
  await apart.stop();
  await platform.stop();
  await server.stop();
});

const deposits = () =>
  server.log.stream(`account-${accountId}`).filter(({ type }) => type === 'DepositReceived').length;
const path = () => `/sandbox/internal-accounts/InternalAccount:${accountId}/fund`;
const fund = (key: string, amount = 100) => platform.api('post', path()).set('Idempotency-Key', key).send({ amount });

/** Deposits of one cent by no keyed request. */
async function others(count: number): Promise<void> {
  const { writePath } = platform.engine;
  const deposit = () => {
    const envelope = { commandId: randomUUID(), correlationId: 'test', actor: 'test', tenant: platform.tenant };
    const tenantId = tenantIdOf(platform.tenant);
    const what = { accountId, tenantId, platformCustomerId: 'holder', currency: 'USD', amountMinor: 1n };
    const from = { counterpart: 'mint:USD', paymentId: randomUUID(), reference: 'OTHER' };
    return writePath.execute(account, new ReceiveDeposit({ ...what, ...from }), envelope);
  };
  for (let i = 0; i < count; i += 500) await Promise.all(Array.from({ length: 500 }, deposit));
}

/** Answers of keyed requests cannot be written until `release` is called, which also forgets those that waited. */
async function holdAnswersBack(): Promise<{ awaited: () => Promise<void>; release: () => Promise<void> }> {
  const holder = new pg.Client({ connectionString: platform.engine.url });
  await holder.connect();
  await holder.query('BEGIN');
  await holder.query('LOCK TABLE keyed_answers IN EXCLUSIVE MODE');
  const waiting = async () => {
    const { rows } = await holder.query<{ pid: number }>(
      `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    );
    return rows.map(({ pid }) => pid);
  };
  return {
    async awaited() {
      await eventually(waiting, (pids) => pids.length > 0, PATIENCE_MS);
    },
    async release() {
      for (const pid of await waiting()) await holder.query('SELECT pg_terminate_backend($1)', [pid]);
      await holder.end(); // and with it the transaction
    },
  };
}

test('a process that dies between append and answer leaves one credit, however many others came before the repetition', async () => {
  const key = randomUUID();
  const api = await apart.start('api');
  await api.untilReady();
  const answers = await holdAnswersBack();
  cleanUps.push(answers.release);
  const headers = {
    authorization: basic(platform.credentials),
    'content-type': 'application/json',
    'idempotency-key': key,
  };
  const body = JSON.stringify({ amount: 100 });
  const lost = fetch(`${api.url}${BASE_PATH}${path()}`, { method: 'POST', headers, body }).catch(() => 'lost');
  await eventually(
    async () => deposits(),
    (count) => count === 1,
    PATIENCE_MS,
  );
  await answers.awaited();
  await api.kill();
  await answers.release();
  cleanUps.pop();
  expect(await lost).toBe('lost');
  expect((await platform.engine.pool.query('SELECT 1 FROM keyed_answers')).rowCount).toBe(0);

  await others(OTHERS);
  const first = await fund(key).expect(200);
  expect(deposits()).toBe(1 + OTHERS);
  expect(first.body.balance.amount).toBe(100 + OTHERS);
  expect(first.headers['idempotent-replayed']).toBeUndefined();
  const again = await fund(key).expect(200);
  expect(again.headers['idempotent-replayed']).toBe('true');
  expect(again.body).toEqual(first.body);
  expect(deposits()).toBe(1 + OTHERS);
  const other = await fund(key, 101).expect(409);
  expect(other.body.details.reason).toBe('IDEMPOTENCY_KEY_REUSED');
}, 600_000);

test('a refused request leaves its key for another body, and what an attempt before it did is still found', async () => {
  const key = randomUUID();
  const create = (platformCustomerId: string) =>
    platform.api('post', '/customers').send({ customerType: 'INDIVIDUAL', platformCustomerId });
  await create('taken').expect(201);
  expect((await create('taken').set('Idempotency-Key', key)).status).toBe(409);
  const free = 'SELECT 1 FROM key_reservations WHERE body_hash IS NULL';
  expect((await platform.engine.pool.query(free)).rowCount).toBe(1);
  const made = await create('free').set('Idempotency-Key', key).expect(201);
  const again = await create('free').set('Idempotency-Key', key).expect(201);
  expect(again.headers['idempotent-replayed']).toBe('true');
  expect(again.body).toEqual(made.body);
});

test('a body that is not valid is refused as such and takes no key', async () => {
  const key = randomUUID();
  const before = deposits();
  const reserved = async () => (await platform.engine.pool.query('SELECT 1 FROM key_reservations')).rowCount;
  const keys = await reserved();
  expect((await fund(key, -5)).status).toBe(400);
  expect(await reserved()).toBe(keys);
  await fund(key, 7).expect(200);
  expect((await fund(key, -5)).status).toBe(400);
  expect(deposits()).toBe(before + 1);
});

test('of two processes with the same key at the same moment one writes, and both give its answer', async () => {
  const other = await platform.instance();
  const before = deposits();
  const keys = Array.from({ length: 8 }, () => randomUUID());
  for (const key of keys) {
    const [a, b] = await Promise.all([
      fund(key),
      other.api('post', path()).set('Idempotency-Key', key).send({ amount: 100 }),
    ]);
    expect([a.status, b.status]).toEqual([200, 200]);
    expect(a.body).toEqual(b.body);
  }
  expect(deposits()).toBe(before + keys.length);
});
