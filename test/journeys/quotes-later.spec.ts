import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { TestPlatform } from '../platform.ts';
import { evmWallet } from '../wallets.ts';
import { Money, startMoney, stopBalanced } from './money.setup.ts';

let platform: TestPlatform;
let money: Money;
let usd: string;

beforeAll(async () => {
  ({ platform, money } = await startMoney());
  usd = money.own('USD');
  await money.fund(usd, 1_000_000);
});
afterAll(() => stopBalanced(platform));

const api = (...[method, path]: Parameters<TestPlatform['api']>) => platform.api(method, path);
const execute = (quoteId: string, key?: string) => {
  const request = api('post', `/quotes/${quoteId}/execute`);
  return (key ? request.set('Idempotency-Key', key) : request).send({});
};
const listed = async (customerId: string): Promise<string[]> => {
  const { body } = await api('get', `/transactions?limit=100&customerId=${customerId}`).expect(200);
  return body.data.map((one: { id: string }) => one.id);
};

describe('what has changed since a quote was made', () => {
  test('a customer for whom the platform acts was deleted: it is not executed', async () => {
    const { id } = await money.customer();
    const source = { sourceType: 'ACCOUNT', accountId: usd, customerId: id };
    const { body: quote } = await money.quote(source, money.own('EUR'), 1_000).expect(201);
    await api('delete', `/customers/${id}`).expect(200);
    const { body } = await execute(quote.id).expect(410);
    expect(body.code).toBe('CUSTOMER_DELETED');
    expect((await money.transaction(quote.transactionId)).status).toBe('PENDING');
  });

  test('a customer who was to send the money was deleted: what comes in goes back', async () => {
    const { id } = await money.customer();
    const source = { sourceType: 'REALTIME_FUNDING', currency: 'USD', customerId: id };
    const { body: quote } = await money.quote(source, await money.bank('999'), 700).expect(201);
    await api('delete', `/customers/${id}`).expect(200);
    await money.send(quote.id, 'USD').expect(200);
    const done = await money.until(quote.transactionId, (one) => one.refund?.status === 'COMPLETED');
    expect(done).toMatchObject({ status: 'FAILED', failureReason: 'QUOTE_EXECUTION_FAILED' });
  });

  test('the ownership of a wallet could not be proved: it is not paid', async () => {
    const { id } = await money.customer();
    const { address } = evmWallet('unproved');
    const wallet = {
      currency: 'USDC',
      ownershipType: 'FIRST_PARTY',
      accountInfo: { accountType: 'BASE_WALLET', address },
    };
    const added = await api('post', '/customers/external-accounts')
      .send({ customerId: id, ...wallet })
      .expect(201);
    const { body: quote } = await money.from(usd, added.body.id, 1_000).expect(201);
    const path = `/customers/external-accounts/${added.body.id}`;
    await api('post', `${path}/challenge`).send({ method: 'WALLET_SIGNATURE' }).expect(201);
    await api('post', `${path}/verify`)
      .send({ signature: `0x${'11'.repeat(65)}` })
      .expect(400);
    const { body } = await execute(quote.id).expect(400);
    expect(body.code).toBe('EXTERNAL_ACCOUNT_VERIFICATION_REQUIRED');
  });

  test('a key whose execution was refused for want of funds is decided anew', async () => {
    const gbp = money.own('GBP');
    const { body: quote } = await money.from(gbp, usd, 1_000).expect(201);
    const before = await money.transaction(quote.transactionId);
    for (const key of ['anew', 'anew', 'other']) {
      const refused = await execute(quote.id, key).expect(400);
      expect(refused.body.details).toEqual({ reason: 'INSUFFICIENT_FUNDS' });
    }
    expect(await money.transaction(quote.transactionId)).toEqual(before);
    await money.fund(gbp, 1_000);
    const { body: done, headers } = await execute(quote.id, 'anew').expect(200);
    expect([done.status, headers['idempotent-replayed']]).toEqual(['COMPLETED', undefined]);
    const again = await execute(quote.id, 'anew').expect(200);
    expect([again.body, again.headers['idempotent-replayed']]).toEqual([done, 'true']);
    expect(await money.balances(gbp)).toEqual([0, 0]);
  });

  test('an id that is none is an invalid request', async () => {
    const { body } = await execute('garbage').expect(400);
    expect(body.details.errors).toEqual([
      { field: 'quoteId', constraint: 'FORMAT', message: 'quoteId must be an id of the form Quote:<uuid>.' },
    ]);
  });
});

test("a platform's own transactions are those that it, and no customer, paid or received", async () => {
  const platformId = (await api('get', '/config').expect(200)).body.id;
  const { id, accounts } = await money.customer();
  await money.fund(accounts.USD!, 5_000);
  const paid = async (from: string, to: string) =>
    (await money.from(from, to, 500, { immediatelyExecute: true }).expect(201)).body.transactionId;
  const toBank = await paid(accounts.USD!, await money.external('USD_ACCOUNT', 'USD', '888', id));
  const toPlatform = await paid(accounts.USD!, usd);
  const ownToBank = await paid(usd, await money.bank('999'));
  await money.until(toBank, (one) => one.status === 'COMPLETED');
  await money.until(ownToBank, (one) => one.status === 'COMPLETED');
  const own = await listed(platformId);
  expect([toBank, toPlatform, ownToBank].map((one) => own.includes(one))).toEqual([false, true, true]);
  expect((await listed(id)).slice(0, 2)).toEqual([toPlatform, toBank]);
});

test('a collection that has settled cannot be cancelled any more', async () => {
  const { body } = await money.from(await money.bank('997'), usd, 300, { immediatelyExecute: true }).expect(201);
  await money.until(body.transactionId, (one) => one.status === 'COMPLETED');
  const { body: refused } = await api('post', `/transactions/${body.transactionId}/cancel`).send({}).expect(409);
  expect(refused.code).toBe('TRANSACTION_NOT_CANCELLABLE');
});

test('a lookup says what may be sent by the platform that asks', async () => {
  const { id } = await money.customer();
  const bank = await money.external('USD_ACCOUNT', 'USD', '996', id);
  const range = async () => {
    const { body } = await api('get', `/receiver/external-account/${bank}?customerId=${id}`).expect(200);
    return body.supportedCurrencies.map(({ min, max }: { min: number; max: number }) => [min, max]);
  };
  const [[, most]] = await range();
  const { supportedCurrencies } = (await api('get', '/config').expect(200)).body;
  const narrowed = supportedCurrencies.map((one: { currencyCode: string }) =>
    one.currencyCode === 'USD' ? { ...one, minAmount: 500, maxAmount: 9_000 } : one,
  );
  await api('patch', '/config').send({ supportedCurrencies: narrowed }).expect(200);
  expect(most).toBeGreaterThan(9_000);
  expect(await range()).toEqual([[500, 9_000]]);
  await api('patch', '/config').send({ supportedCurrencies }).expect(200);
});

test('what an embedded wallet pays is never executed at once', async () => {
  const { accounts } = await money.customer();
  const { body } = await money.from(accounts.USDB!, usd, 100, { immediatelyExecute: true }).expect(400);
  expect(
    body.details.errors.map((error: { field: string; constraint: string }) => [error.field, error.constraint]),
  ).toEqual([['immediatelyExecute', 'CONFLICT']]);
});

test('an account of a rejected customer is not taken from, whoever is to have the money', async () => {
  const regulated = await platform.another({ isRegulatedFinancialInstitution: true });
  const there = new Money(regulated);
  const rejected = { customerType: 'INDIVIDUAL', fullName: 'Amina 002', region: 'US' };
  const { id, kycStatus } = (await regulated.api('post', '/customers').send(rejected).expect(201)).body;
  expect(kycStatus).toBe('REJECTED');
  const bank = await there.external('USD_ACCOUNT', 'USD', '995', id);
  const other = (await there.customer()).accounts.USD!;
  for (const destination of [there.own('USD'), other]) {
    const { body } = await there.from(bank, destination, 500, { immediatelyExecute: true }).expect(403);
    expect([body.code, body.details.reason]).toEqual(['USER_NOT_READY', 'CUSTOMER_REJECTED']);
  }
});
