import { createHash, randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { account, OpenAccount, ReceiveDeposit } from '../../libs/domain/accounts/account.ts';
import { tenantIdOf } from '../../libs/domain/platforms/platform.ts';
import type { EventStore } from '../../libs/kernel/event-store.port.ts';
import { startTestPlatform, type TestInstance, type TestPlatform } from '../platform.ts';

let platform: TestPlatform;
let accountId: string;
let key: string;
beforeAll(async () => {
  platform = await startTestPlatform();
});
afterAll(() => platform.stop());

beforeEach(async () => {
  accountId = randomUUID();
  key = `key-${randomUUID()}`;
  await open(accountId);
});
const repairs: (() => void)[] = [];
afterEach(() => {
  for (const repair of repairs.splice(0)) repair();
});

const envelope = () => ({ commandId: randomUUID(), correlationId: 'test', actor: 'test', tenant: platform.tenant });
const holder = () => ({ tenantId: tenantIdOf(platform.tenant), platformCustomerId: 'holder' });
const open = (id: string) => {
  const opening = new OpenAccount({ accountId: id, ...holder(), currency: 'USD', type: 'INTERNAL_FIAT' });
  return platform.engine.writePath.execute(account, opening, envelope());
};
const fund = (amount = 100, on: Pick<TestInstance, 'api'> = platform, id = accountId) =>
  on.api('post', `/sandbox/internal-accounts/InternalAccount:${id}/fund`).set('Idempotency-Key', key).send({ amount });
/** What is really in the log. */
const credits = async () =>
  (await platform.engine.store.readStream(`account-${accountId}`, -1)).filter((e) => e.type === 'DepositReceived')
    .length;

/** Puts something around the appends of an engine until the test ends. */
function around(store: EventStore, wrap: (really: () => Promise<never>) => Promise<never>): void {
  const append = store.append.bind(store);
  store.append = ((batch) => wrap(() => append(batch) as Promise<never>)) as EventStore['append'];
  repairs.push(() => {
    store.append = append;
  });
}
const never = () => new Promise<never>(() => {});

test.each([
  ['after', async (really: () => Promise<never>) => really().then(never)],
  ['before', never],
])('a crash %s the append is invisible to a client that repeats its request elsewhere', async (_, crash) => {
  const dying = await platform.instance();
  around(dying.engine.store, crash);
  await expect(fund(100, dying).timeout(300)).rejects.toThrow('Timeout');
  const alive = await platform.instance();
  const first = await fund(100, alive);
  expect([first.status, first.body.balance.amount]).toEqual([200, 100]);
  const again = await fund(100, platform);
  expect([again.status, again.headers['idempotent-replayed'], again.body]).toEqual([200, 'true', first.body]);
  expect(await credits()).toBe(1);
  for (const repair of repairs.splice(0)) repair();
  Object.assign(dying.engine.writePath, { drain: async () => {} }); // what it waits for died with it
});

test('fund with key K, 5,000 other funds on the account, cold start, K again: one credit', async () => {
  const first = await fund(7);
  const { writePath } = platform.engine;
  const deposit = (i: number) => ({
    accountId,
    ...holder(),
    currency: 'USD',
    amountMinor: 1n,
    counterpart: 'mint:USD',
    paymentId: `p${i}`,
    reference: `R${i}`,
  });
  await Promise.all(
    Array.from({ length: 5_000 }, (_, i) => writePath.execute(account, new ReceiveDeposit(deposit(i)), envelope())),
  );
  const cold = await platform.instance();
  const again = await fund(7, cold);
  expect([again.status, again.headers['idempotent-replayed'], again.body]).toEqual([200, 'true', first.body]);
  expect(await credits()).toBe(5_001);
  const { state } = await cold.engine.writePath.state<{ postedMinor: bigint }>(account, accountId);
  expect(state.postedMinor).toBe(5_007n);
}, 600_000);

test('one key at the same moment on two instances, several times each: one effect, one answer', async () => {
  const other = await platform.instance();
  for (let round = 0; round < 10; round += 1) {
    key = `key-${randomUUID()}`;
    const answers = await Promise.all([platform, other, platform, other, other].map((on) => fund(100, on)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(answers.filter(({ headers }) => headers['idempotent-replayed'] === undefined)).toHaveLength(1);
    expect(await credits()).toBe(round + 1);
  }
});

test('one key many times at once on an instance that knows nothing yet: one effect', async () => {
  const cold = await platform.instance();
  const answers = await Promise.all(Array.from({ length: 12 }, () => fund(100, cold)));
  expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
  expect(answers.filter(({ headers }) => headers['idempotent-replayed'] === 'true')).toHaveLength(11);
  expect(await credits()).toBe(1);
});

test('a second request with the key of one under way waits for it and gives its answer', async () => {
  let commit = () => {};
  let arrived = () => {};
  const underWay = new Promise<void>((resolve) => {
    arrived = resolve;
  });
  around(platform.engine.store, async (really) => {
    arrived();
    await new Promise<void>((resolve) => {
      commit = resolve;
    });
    return really();
  });
  const order: string[] = [];
  const first = fund().then((answer) => {
    order.push('first');
    return answer;
  });
  await underWay;
  const second = fund().then((answer) => {
    order.push('second');
    return answer;
  });
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(order).toEqual([]);
  commit();
  expect((await second).body).toEqual((await first).body);
  expect((await second).headers['idempotent-replayed']).toBe('true');
  expect(order).toEqual(['first', 'second']);
  expect(await credits()).toBe(1);
});

test('the key with another body is a conflict and changes nothing', async () => {
  await fund(100);
  const other = await fund(101);
  expect([other.status, other.body.code, other.body.details]).toEqual([
    409,
    'CONFLICT',
    { reason: 'IDEMPOTENCY_KEY_REUSED' },
  ]);
  expect((await fund(100)).status).toBe(200);
  expect(await credits()).toBe(1);
});

test('the same body with its keys in another order is the same body; a list in another order is not', async () => {
  const post = (body: object) => platform.api('post', '/customers').set('Idempotency-Key', key).send(body);
  const address = { line1: '1 Main Street', city: 'New York', postalCode: '10001', country: 'US' };
  const { country, ...rest } = address;
  const first = await post({ customerType: 'INDIVIDUAL', currencies: ['USD', 'EUR'], address });
  const again = await post({ address: { country, ...rest }, currencies: ['USD', 'EUR'], customerType: 'INDIVIDUAL' });
  expect([first.status, again.status, again.headers['idempotent-replayed']]).toEqual([201, 201, 'true']);
  expect(again.body).toEqual(first.body);
  const other = await post({ customerType: 'INDIVIDUAL', currencies: ['EUR', 'USD'], address });
  expect([other.status, other.body.details]).toEqual([409, { reason: 'IDEMPOTENCY_KEY_REUSED' }]);
});

test('a key that was remembered by the text of its body is known for that text', async () => {
  const post = (body: object) => platform.api('post', '/customers').set('Idempotency-Key', key).send(body);
  const body = { region: 'US', customerType: 'INDIVIDUAL' };
  const first = await post(body).expect(201);
  const textHash = createHash('sha256').update(JSON.stringify(body)).digest('hex');
  const { rowCount } = await platform.engine.pool.query('UPDATE keyed_answers SET body_hash = $1 WHERE stream = $2', [
    textHash,
    `customer-${first.body.id.slice('Customer:'.length)}`,
  ]);
  expect(rowCount).toBe(1);
  const again = await post(body).expect(201);
  expect([again.headers['idempotent-replayed'], again.body]).toEqual(['true', first.body]);
  expect((await post({ ...body, region: 'GB' })).status).toBe(409);
});

test('an answer that was remembered in clear, before its operation was sealed, is given again', async () => {
  const body = { customerType: 'INDIVIDUAL', region: 'US' };
  const post = () => platform.api('post', '/customers').set('Idempotency-Key', key).send(body).expect(201);
  const first = await post();
  const { rowCount } = await platform.engine.pool.query('UPDATE keyed_answers SET body = $1 WHERE stream = $2', [
    JSON.stringify(first.body),
    `customer-${first.body.id.slice('Customer:'.length)}`,
  ]);
  expect(rowCount).toBe(1);
  const again = await post();
  expect([again.headers['idempotent-replayed'], again.body]).toEqual(['true', first.body]);
});

test('a refusal is not remembered: the same request is decided anew', async () => {
  accountId = randomUUID();
  expect((await fund()).status).toBe(404);
  expect((await fund(0)).status).toBe(400);
  await open(accountId);
  const later = await fund();
  expect([later.status, later.headers['idempotent-replayed']]).toEqual([200, undefined]);
  expect((await fund()).headers['idempotent-replayed']).toBe('true');
  expect(await credits()).toBe(1);
});

test('a key belongs to the token, the method and the path', async () => {
  await fund();
  const first = accountId;
  accountId = randomUUID();
  await open(accountId);
  expect((await fund()).headers['idempotent-replayed']).toBeUndefined();
  expect((await fund(100, await platform.another(), first)).status).toBe(404);
  expect(await credits()).toBe(1);
});

test.each([
  ['', 'MIN_LENGTH'],
  ['x'.repeat(256), 'MAX_LENGTH'],
])('a key of a wrong length is refused (%#)', async (wrong, constraint) => {
  key = wrong;
  const { status, body } = await fund();
  expect([status, body.code, body.details.errors[0].field, body.details.errors[0].constraint]).toEqual([
    400,
    'INVALID_INPUT',
    'Idempotency-Key',
    constraint,
  ]);
  expect(await credits()).toBe(0);
});
