import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { platformAccountId } from '../../apps/shared/provision.ts';
import { startTestPlatform, type TestPlatform } from '../platform.ts';

let platform: TestPlatform;
let usd: string;
let eur: string;

beforeAll(async () => {
  platform = await startTestPlatform();
  usd = account('USD');
  eur = account('EUR');
});
afterAll(() => platform.stop());

const account = (currency: string) => `InternalAccount:${platformAccountId(platform.tenant, currency)}`;
const source = (accountId: string, more: object = {}) => ({ sourceType: 'ACCOUNT', accountId, ...more });
const destination = (accountId: string, more: object = {}) => ({ destinationType: 'ACCOUNT', accountId, ...more });
const valid = (more: object = {}) => ({
  source: source(usd),
  destination: destination(eur),
  lockedCurrencySide: 'SENDING',
  lockedCurrencyAmount: 10_000,
  ...more,
});
const quote = (body: object) => platform.api('post', '/quotes').send(body);

describe('a quote request is refused', () => {
  test('with every invalid field named at once', async () => {
    const { status, body } = await quote({
      source: { sourceType: 'CASH' },
      destination: { destinationType: 'ACCOUNT', paymentRail: 'PIGEON' },
      lockedCurrencyAmount: 0,
      immediatelyExecute: 'yes',
      remittanceInformation: 'x'.repeat(81),
      purposeOfPayment: 'FUN',
    });
    expect(status).toBe(400);
    expect(body.code).toBe('INVALID_INPUT');
    const named = body.details.errors.map((error: { field: string; constraint: string }) => [
      error.field,
      error.constraint,
    ]);
    expect(named.sort()).toEqual([
      ['destination.accountId', 'REQUIRED'],
      ['destination.paymentRail', 'ENUM'],
      ['immediatelyExecute', 'TYPE'],
      ['lockedCurrencyAmount', 'MINIMUM'],
      ['lockedCurrencySide', 'REQUIRED'],
      ['purposeOfPayment', 'ENUM'],
      ['remittanceInformation', 'MAX_LENGTH'],
      ['source.sourceType', 'ENUM'],
    ]);
  });

  const none = '0195a000-0000-7000-8000-000000000000';
  test.each<[string, () => object, number, string, string | undefined]>([
    ['from an account to itself', () => valid({ destination: destination(usd) }), 400, 'SELF_PAYMENT', undefined],
    [
      'from an account that is not there',
      () => valid({ source: source(`InternalAccount:${none}`) }),
      404,
      'REFERENCE_NOT_FOUND',
      undefined,
    ],
    [
      'to an account that is not there',
      () => valid({ destination: destination(`ExternalAccount:${none}`) }),
      404,
      'REFERENCE_NOT_FOUND',
      undefined,
    ],
    [
      'of an id that is no account',
      () => valid({ source: source(`Customer:${none}`) }),
      400,
      'INVALID_INPUT',
      undefined,
    ],
    [
      'of which nothing arrives',
      () => valid({ source: source(account('MXN')), destination: destination(usd), lockedCurrencyAmount: 1 }),
      400,
      'INVALID_AMOUNT',
      'RECEIVING_AMOUNT_IS_ZERO',
    ],
    [
      'above what a corridor takes',
      () => valid({ lockedCurrencyAmount: 999_999_999_999 }),
      400,
      'TRANSACTION_SIZE_LIMIT_EXCEEDED',
      undefined,
    ],
    [
      'above what the platform allows',
      () => valid({ lockedCurrencyAmount: 1_000_000_000_001 }),
      400,
      'AMOUNT_OUT_OF_RANGE',
      undefined,
    ],
    ['with an unknown lookup', () => valid({ lookupId: `Lookup:${none}` }), 404, 'LOOKUP_REQUEST_NOT_FOUND', undefined],
    [
      'with a rail to an internal account',
      () => valid({ destination: destination(eur, { paymentRail: 'SEPA' }) }),
      400,
      'INVALID_INPUT',
      undefined,
    ],
    [
      'for somebody who is not a customer',
      () => valid({ source: source(usd, { customerId: `Customer:${none}` }) }),
      404,
      'USER_NOT_FOUND',
      undefined,
    ],
    [
      'out of an embedded wallet',
      () => valid({ source: source(account('USDB')) }),
      501,
      'NOT_IMPLEMENTED',
      'EMBEDDED_WALLET_SOURCE',
    ],
    [
      'to a UMA address that nobody has',
      () => valid({ destination: { destinationType: 'UMA_ADDRESS', umaAddress: '$a@b.test' } }),
      404,
      'UMA_NOT_FOUND',
      undefined,
    ],
  ])('%s', async (_, body, status, code, reason) => {
    const answer = await quote(body());
    expect([answer.status, answer.body.code, answer.body.details?.reason]).toEqual([status, code, reason]);
  });

  test('with a fee override that the sending currency does not allow', async () => {
    const override = { platformFixedFee: { amount: 1, currency: 'USD' }, platformVariableFeeBps: 10 };
    const { body } = await quote(
      valid({ source: source(eur), destination: destination(usd), platformFeeOverride: override }),
    );
    expect(body.details.errors.map((error: { field: string }) => error.field)).toEqual([
      'platformFeeOverride',
      'platformFeeOverride.platformFixedFee.currency',
    ]);
  });

  test("with another platform's account", async () => {
    const other = await platform.another();
    const { status, body } = await other.api('post', '/quotes').send(valid());
    expect([status, body.code]).toEqual([404, 'REFERENCE_NOT_FOUND']);
  });

  test('by a token that may only look', async () => {
    const { body: token } = await platform
      .api('post', '/tokens')
      .send({ name: 'viewer', permissions: ['VIEW'] })
      .expect(201);
    const answer = await platform.api('post', '/quotes').auth(token.clientId, token.clientSecret).send(valid());
    expect([answer.status, answer.body.code]).toEqual([403, 'FORBIDDEN']);
  });
});

test('fees: a platform fee override is priced as the worked example, and credited to the platform', async () => {
  await platform.api('post', `/sandbox/internal-accounts/${usd}/fund`).send({ amount: 100_000 }).expect(200);
  const { body } = await quote(
    valid({
      lockedCurrencyAmount: 1_000,
      immediatelyExecute: true,
      platformFeeOverride: { platformFixedFee: { amount: 50, currency: 'USD' }, platformVariableFeeBps: 30 },
    }),
  ).expect(201);
  // 950 cents after the fixed fee: 50 bps for the service are 4.75, rounded to 5; 30 bps for the platform are 2.85, rounded to 3.
  expect(body).toMatchObject({
    status: 'COMPLETED',
    feesIncluded: 58,
    platformFeesIncluded: 53,
    totalReceivingAmount: 866,
  });
  const accounts = await platform.api('get', '/platform/internal-accounts?currency=USD').expect(200);
  expect(accounts.body.data[0].balance.amount).toBe(100_000 - 1_000 + 53);
});

test("a platform's own account pays for a customer, whose transaction it is", async () => {
  const person = { customerType: 'INDIVIDUAL', fullName: 'Amina Diallo', region: 'US' };
  const { body: customer } = await platform.api('post', '/customers').send(person).expect(201);
  const { body } = await quote(valid({ source: source(usd, { customerId: customer.id }) })).expect(201);
  expect(body.source).toEqual(source(usd, { customerId: customer.id }));
  const { body: transaction } = await platform.api('get', `/transactions/${body.transactionId}`).expect(200);
  expect(transaction.customerId).toBe(customer.id);
});

test('receiving side: exactly the locked amount arrives', async () => {
  const { body } = await quote(valid({ lockedCurrencySide: 'RECEIVING', lockedCurrencyAmount: 9_154 })).expect(201);
  expect(body.totalReceivingAmount).toBe(9_154);
  expect(body.totalSendingAmount).toBe(10_000);
});

test('what is not a quote or a transaction of the platform is not found', async () => {
  const created = (await quote(valid()).expect(201)).body;
  const other = await platform.another();
  for (const [path, code] of [
    [`/quotes/${created.id}`, 'QUOTE_NOT_FOUND'],
    [`/transactions/${created.transactionId}`, 'TRANSACTION_NOT_FOUND'],
    ['/quotes/Quote:nonsense', 'QUOTE_NOT_FOUND'],
    ['/transactions/nonsense', 'TRANSACTION_NOT_FOUND'],
  ] as const) {
    const { status, body } = await other.api('get', path);
    expect([path, status, body.code]).toEqual([path, 404, code]);
  }
  const executed = await other.api('post', `/quotes/${created.id}/execute`);
  expect([executed.status, executed.body.code]).toEqual([404, 'QUOTE_NOT_FOUND']);
  const { body: same } = await platform.api('get', `/quotes/${created.id.replace(':', '%3A')}`).expect(200);
  expect(same).toEqual(created);
});

test('transactions: filters, order, pages', async () => {
  const fresh = await platform.another();
  const [from, to] = ['USD', 'MXN'].map((currency) => `InternalAccount:${platformAccountId(fresh.tenant, currency)}`);
  await fresh.api('post', `/sandbox/internal-accounts/${from}/fund`).send({ amount: 10_000 }).expect(200);
  const made: string[] = [];
  for (const amount of [100, 200, 300]) {
    const body = {
      source: source(from!),
      destination: destination(to!),
      lockedCurrencySide: 'SENDING',
      lockedCurrencyAmount: amount,
    };
    const answer = await fresh
      .api('post', '/quotes')
      .send({ ...body, immediatelyExecute: amount !== 300 })
      .expect(201);
    made.push(answer.body.transactionId);
  }
  const list = async (query: string) => (await fresh.api('get', `/transactions?${query}`).expect(200)).body;
  const ids = async (query: string) => (await list(query)).data.map((one: { id: string }) => one.id);
  expect(await ids('type=OUTGOING')).toEqual([made[2], made[1], made[0]]);
  expect(await ids('type=OUTGOING&sortOrder=asc')).toEqual(made);
  expect(await ids('status=PENDING')).toEqual([made[2]]);
  expect(await ids('status=COMPLETED&type=OUTGOING')).toEqual([made[1], made[0]]);
  expect(await ids(`receiverAccountIdentifier=${to}`)).toEqual([made[2], made[1], made[0]]);
  expect(await ids(`senderAccountIdentifier=${to}`)).toEqual([]);
  expect(await ids('type=INCOMING')).toHaveLength(1);
  expect(await ids('type=CARD')).toEqual([]);
  const config = (await fresh.api('get', '/config').expect(200)).body;
  expect(await ids(`customerId=${config.id}&type=OUTGOING`)).toEqual([made[2], made[1], made[0]]);
  const first = await list('limit=2&type=OUTGOING');
  expect(first).toMatchObject({ hasMore: true, totalCount: 3 });
  const second = await list(`limit=2&type=OUTGOING&cursor=${first.nextCursor}`);
  expect(second.data.map((one: { id: string }) => one.id)).toEqual([made[0]]);
  expect(second).toMatchObject({ hasMore: false });
  const misused = await fresh.api('get', `/transactions?limit=2&cursor=${first.nextCursor}`);
  expect([misused.status, misused.body.details.errors[0].field]).toEqual([400, 'cursor']);
  const wrong = await fresh.api('get', '/transactions?status=LOST&limit=0&startDate=yesterday');
  expect(wrong.body.details.errors.map((error: { field: string }) => error.field).sort()).toEqual([
    'limit',
    'startDate',
    'status',
  ]);
});
