import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { platformAccountId } from '../../apps/shared/provision.ts';
import { withSuffix } from '../../libs/domain/external-accounts/account.examples.ts';
import { TestClock } from '../clock.ts';
import { eventually } from '../eventually.ts';
import { startTestPlatform, type TestPlatform } from '../platform.ts';

let platform: TestPlatform;
const clock = new TestClock();
let usd: string;

beforeAll(async () => {
  platform = await startTestPlatform({ clock });
  usd = `InternalAccount:${platformAccountId(platform.tenant, 'USD')}`;
});
afterAll(() => platform.stop());

const account = (currency: string) => `InternalAccount:${platformAccountId(platform.tenant, currency)}`;

async function balances(id: string): Promise<[available: number, total: number]> {
  const { body } = await platform.api('get', '/platform/internal-accounts').expect(200);
  const found = body.data.find((one: { id: string }) => one.id === id);
  return [found.balance.amount, found.totalBalance.amount];
}

const fund = (id: string, amount: number) =>
  platform.api('post', `/sandbox/internal-accounts/${id}/fund`).send({ amount }).expect(200);

const transaction = async (id: string) => (await platform.api('get', `/transactions/${id}`).expect(200)).body;

const banks = new Map<string, string>();

/** The external account of a suffix, added once. */
async function bank(suffix: string): Promise<string> {
  if (!banks.has(suffix)) {
    const body = { currency: 'USD', accountInfo: withSuffix('USD_ACCOUNT', suffix) };
    const added = await platform.api('post', '/platform/external-accounts').send(body).expect(201);
    banks.set(suffix, added.body.id);
  }
  return banks.get(suffix)!;
}

function quoteBody(from: string, to: string, amount: number, more: object = {}) {
  return {
    source: { sourceType: 'ACCOUNT', accountId: from },
    destination: { destinationType: 'ACCOUNT', accountId: to },
    lockedCurrencySide: 'SENDING',
    lockedCurrencyAmount: amount,
    ...more,
  };
}

describe('between internal accounts', () => {
  test('a quote is made, executed and complete, and both balances show it', async () => {
    await fund(usd, 200_000);
    const [before] = await balances(usd);
    const created = await platform
      .api('post', '/quotes')
      .send(quoteBody(usd, account('EUR'), 100_000))
      .expect(201);
    expect(created.body).toMatchObject({
      status: 'PENDING',
      totalSendingAmount: 100_000,
      totalReceivingAmount: 91_540,
      exchangeRate: 1.08695652,
      feesIncluded: 500,
      platformFeesIncluded: 0,
    });
    expect(await transaction(created.body.transactionId)).toMatchObject({ status: 'PENDING', type: 'OUTGOING' });
    const executed = await platform.api('post', `/quotes/${created.body.id}/execute`).send({}).expect(200);
    expect(executed.body.status).toBe('COMPLETED');
    expect(await transaction(created.body.transactionId)).toMatchObject({ status: 'COMPLETED', direction: 'DEBIT' });
    expect(await balances(usd)).toEqual([before - 100_000, before - 100_000]);
    expect(await balances(account('EUR'))).toEqual([91_540, 91_540]);
    const again = await platform.api('post', `/quotes/${created.body.id}/execute`).expect(409);
    expect(again.body).toMatchObject({ code: 'CONFLICT', details: { reason: 'QUOTE_ALREADY_EXECUTED' } });
  });

  test('without funds nothing changes, and with immediatelyExecute the payment is never listed', async () => {
    const [gbp] = await balances(account('GBP'));
    expect(gbp).toBe(0);
    const body = quoteBody(account('GBP'), usd, 1_000, { immediatelyExecute: true });
    const refused = await platform.api('post', '/quotes').set('Idempotency-Key', 'poor').send(body).expect(400);
    expect(refused.body).toMatchObject({ code: 'INVALID_INPUT', details: { reason: 'INSUFFICIENT_FUNDS' } });
    const list = await platform.api('get', `/transactions?senderAccountIdentifier=${account('GBP')}`).expect(200);
    expect(list.body).toMatchObject({ data: [], hasMore: false, totalCount: 0 });
    await fund(account('GBP'), 1_000);
    const accepted = await platform.api('post', '/quotes').set('Idempotency-Key', 'poor').send(body).expect(201);
    expect(accepted.body.status).toBe('COMPLETED');
    const replayed = await platform.api('post', '/quotes').set('Idempotency-Key', 'poor').send(body).expect(201);
    expect(replayed.headers['idempotent-replayed']).toBe('true');
    expect(replayed.body).toEqual(accepted.body);
    expect(await balances(account('GBP'))).toEqual([0, 0]);
  });

  test('an expired quote is refused and shown as expired, at once and in the list', async () => {
    const { body: quote } = await platform
      .api('post', '/quotes')
      .send(quoteBody(usd, account('MXN'), 500))
      .expect(201);
    clock.advance(5 * 60_000 + 1);
    const refused = await platform.api('post', `/quotes/${quote.id}/execute`).expect(409);
    expect(refused.body.details.reason).toBe('QUOTE_EXPIRED');
    expect((await platform.api('get', `/quotes/${quote.id}`).expect(200)).body.status).toBe('EXPIRED');
    expect(await transaction(quote.transactionId)).toMatchObject({ status: 'EXPIRED', failureReason: 'QUOTE_EXPIRED' });
    const list = await platform.api('get', '/transactions?status=EXPIRED').expect(200);
    expect(list.body.data.map((one: { id: string }) => one.id)).toEqual([quote.transactionId]);
  });
});

describe('to an external account, by its suffix', () => {
  const pay = async (suffix: string) => {
    await fund(usd, 10_000);
    const [available] = await balances(usd);
    const to = await bank(suffix);
    const body = quoteBody(usd, to, 10_000, { immediatelyExecute: true });
    const { body: quote } = await platform.api('post', '/quotes').send(body).expect(201);
    return { id: quote.transactionId, status: quote.status, available, to };
  };

  test('any other: completed, and the money has left', async () => {
    const { id, available, to } = await pay('999');
    const done = await eventually(
      () => transaction(id),
      (one) => one.status === 'COMPLETED',
    );
    expect(done).toMatchObject({ paymentRail: 'ACH', railSelectionMode: 'AUTO', destination: { accountId: to } });
    expect(done.refund).toBeUndefined();
    expect(await balances(usd)).toEqual([available - 10_000, available - 10_000]);
  });

  test.each([
    ['002', 'QUOTE_EXECUTION_FAILED'],
    ['004', 'COUNTERPARTY_POST_TX_FAILED'],
    ['005', 'PAYOUT_RETURNED'],
  ])('%s: failed with %s, and the money is back', async (suffix, failureReason) => {
    const { id, available } = await pay(suffix);
    const done = await eventually(
      () => transaction(id),
      (one) => one.refund?.status === 'COMPLETED',
    );
    expect(done).toMatchObject({ status: 'FAILED', failureReason, refund: { reason: 'TRANSACTION_FAILED' } });
    expect(await balances(usd)).toEqual([available, available]);
  });

  test('003: held for about six minutes, then completed', async () => {
    const { id, status, available } = await pay('003');
    expect(status).toBe('PROCESSING');
    const held = await eventually(
      () => transaction(id),
      (one) => one.status === 'PROCESSING' && one.expectedSettlementAt !== undefined,
    );
    expect(held.settlementTimelineSeconds).toBe(360);
    expect(await balances(usd)).toEqual([available - 10_000, available]);
    clock.advance(6 * 60_000);
    await eventually(
      () => transaction(id),
      (one) => one.status === 'COMPLETED',
    );
    expect(await balances(usd)).toEqual([available - 10_000, available - 10_000]);
  });

  test('006: cancelled by the user, and the money is back', async () => {
    const { id, available } = await pay('006');
    const done = await eventually(
      () => transaction(id),
      (one) => one.refund?.status === 'COMPLETED',
    );
    expect(done).toMatchObject({ status: 'COMPLETED', refund: { reason: 'USER_CANCELLATION' } });
    expect(await balances(usd)).toEqual([available, available]);
  });

  test('007: payout and refund failed, and the money is set aside', async () => {
    const { id, available } = await pay('007');
    const done = await eventually(
      () => transaction(id),
      (one) => one.refund?.status === 'FAILED',
    );
    expect(done).toMatchObject({ status: 'FAILED', failureReason: 'COUNTERPARTY_POST_TX_FAILED' });
    expect(await balances(usd)).toEqual([available - 10_000, available - 10_000]);
  });
});

describe('pulled from an external account', () => {
  const pull = async (suffix: string) => {
    const [available] = await balances(usd);
    const body = quoteBody(await bank(suffix), usd, 700, { immediatelyExecute: true });
    const { body: quote } = await platform.api('post', '/quotes').send(body).expect(201);
    return { id: quote.transactionId, available };
  };

  test('the money arrives', async () => {
    const { id, available } = await pull('999');
    const done = await eventually(
      () => transaction(id),
      (one) => one.status === 'COMPLETED',
    );
    expect(done).toMatchObject({ type: 'INCOMING', direction: 'DEBIT', receivedAmount: { amount: 700 } });
    expect(await balances(usd)).toEqual([available + 700, available + 700]);
  });

  test.each(['002', '003', '004'])('%s: fails at once and nothing arrives', async (suffix) => {
    const { id, available } = await pull(suffix);
    const done = await eventually(
      () => transaction(id),
      (one) => one.status === 'FAILED',
    );
    expect(done).toMatchObject({ failureReason: 'COLLECTION_FAILED' });
    expect(done.refund).toBeUndefined();
    expect(await balances(usd)).toEqual([available, available]);
  });

  test('005: pending for about 30 seconds, then failed', async () => {
    const { id } = await pull('005');
    await eventually(
      () => transaction(id),
      (one) => one.status === 'PROCESSING',
    );
    clock.advance(30_000);
    await eventually(
      () => transaction(id),
      (one) => one.status === 'FAILED',
    );
  });
});

test('the journal balances, and nothing stays in transit', async () => {
  const { rows } = await platform.engine.pool.query(
    `SELECT currency, sum(amount) FILTER (WHERE to_account LIKE 'transit:%')
       - sum(amount) FILTER (WHERE from_account LIKE 'transit:%') AS left
     FROM journal GROUP BY currency ORDER BY currency`,
  );
  expect(rows.filter((row) => row.left !== null).map((row) => [row.currency, row.left])).toEqual([
    ['EUR', '0'],
    ['GBP', '0'],
    ['USD', '0'],
  ]);
});
