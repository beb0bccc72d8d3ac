import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { TestClock } from '../clock.ts';
import type { TestPlatform } from '../platform.ts';
import { type Money, startMoney, stopBalanced } from './money.setup.ts';

let platform: TestPlatform;
let money: Money;
let usd: string;
const clock = new TestClock();

beforeAll(async () => {
  ({ platform, money } = await startMoney({ clock }));
  usd = money.own('USD');
});
afterAll(() => stopBalanced(platform));

describe('between internal accounts', () => {
  test('a quote is made, executed and complete, and both balances show it', async () => {
    await money.fund(usd, 200_000);
    const [before] = await money.balances(usd);
    const created = await money.from(usd, money.own('EUR'), 100_000).expect(201);
    expect(created.body).toMatchObject({
      status: 'PENDING',
      totalSendingAmount: 100_000,
      totalReceivingAmount: 91_540,
      exchangeRate: 1.08695652,
      feesIncluded: 500,
      platformFeesIncluded: 0,
    });
    expect(await money.transaction(created.body.transactionId)).toMatchObject({ status: 'PENDING', type: 'OUTGOING' });
    const executed = await platform.api('post', `/quotes/${created.body.id}/execute`).send({}).expect(200);
    expect(executed.body.status).toBe('COMPLETED');
    expect(await money.transaction(created.body.transactionId)).toMatchObject({
      status: 'COMPLETED',
      direction: 'DEBIT',
    });
    expect(await money.balances(usd)).toEqual([before - 100_000, before - 100_000]);
    expect(await money.balances(money.own('EUR'))).toEqual([91_540, 91_540]);
    const again = await platform.api('post', `/quotes/${created.body.id}/execute`).expect(409);
    expect(again.body).toMatchObject({ code: 'CONFLICT', details: { reason: 'QUOTE_ALREADY_EXECUTED' } });
  });

  test('without funds nothing changes, and with immediatelyExecute the payment is never listed', async () => {
    const [gbp] = await money.balances(money.own('GBP'));
    expect(gbp).toBe(0);
    const pay = () =>
      money.from(money.own('GBP'), usd, 1_000, { immediatelyExecute: true }).set('Idempotency-Key', 'poor');
    const refused = await pay().expect(400);
    expect(refused.body).toMatchObject({ code: 'INVALID_INPUT', details: { reason: 'INSUFFICIENT_FUNDS' } });
    const list = await platform.api('get', `/transactions?senderAccountIdentifier=${money.own('GBP')}`).expect(200);
    expect(list.body).toMatchObject({ data: [], hasMore: false, totalCount: 0 });
    await money.fund(money.own('GBP'), 1_000);
    const accepted = await pay().expect(201);
    expect(accepted.body.status).toBe('COMPLETED');
    const replayed = await pay().expect(201);
    expect(replayed.headers['idempotent-replayed']).toBe('true');
    expect(replayed.body).toEqual(accepted.body);
    expect(await money.balances(money.own('GBP'))).toEqual([0, 0]);
  });

  test('an expired quote is refused and shown as expired, at once and in the list', async () => {
    const { body: quote } = await money.from(usd, money.own('MXN'), 500).expect(201);
    clock.advance(5 * 60_000 + 1);
    const refused = await platform.api('post', `/quotes/${quote.id}/execute`).expect(409);
    expect(refused.body.details.reason).toBe('QUOTE_EXPIRED');
    expect((await platform.api('get', `/quotes/${quote.id}`).expect(200)).body.status).toBe('EXPIRED');
    expect(await money.transaction(quote.transactionId)).toMatchObject({
      status: 'EXPIRED',
      failureReason: 'QUOTE_EXPIRED',
    });
    const list = await platform.api('get', '/transactions?status=EXPIRED').expect(200);
    expect(list.body.data.map((one: { id: string }) => one.id)).toEqual([quote.transactionId]);
  });
});

describe('to an external account, by its suffix', () => {
  const pay = async (suffix: string) => {
    await money.fund(usd, 10_000);
    const [available] = await money.balances(usd);
    const to = await money.bank(suffix);
    const { body: quote } = await money.from(usd, to, 10_000, { immediatelyExecute: true }).expect(201);
    return { id: quote.transactionId, status: quote.status, available, to };
  };

  test('any other: completed, and the money has left', async () => {
    const { id, available, to } = await pay('999');
    const done = await money.until(id, (one) => one.status === 'COMPLETED');
    expect(done).toMatchObject({ paymentRail: 'ACH', railSelectionMode: 'AUTO', destination: { accountId: to } });
    expect(done.refund).toBeUndefined();
    expect(await money.balances(usd)).toEqual([available - 10_000, available - 10_000]);
  });

  test.each([
    ['002', 'QUOTE_EXECUTION_FAILED'],
    ['004', 'COUNTERPARTY_POST_TX_FAILED'],
    ['005', 'PAYOUT_RETURNED'],
  ])('%s: failed with %s, and the money is back', async (suffix, failureReason) => {
    const { id, available } = await pay(suffix);
    const done = await money.until(id, (one) => one.refund?.status === 'COMPLETED');
    expect(done).toMatchObject({ status: 'FAILED', failureReason, refund: { reason: 'TRANSACTION_FAILED' } });
    expect(await money.balances(usd)).toEqual([available, available]);
  });

  test('003: held for about six minutes, then completed', async () => {
    const { id, status, available } = await pay('003');
    expect(status).toBe('PROCESSING');
    const held = await money.until(id, (one) => one.status === 'PROCESSING' && one.expectedSettlementAt !== undefined);
    expect(held.settlementTimelineSeconds).toBe(360);
    expect(await money.balances(usd)).toEqual([available - 10_000, available]);
    clock.advance(6 * 60_000);
    await money.until(id, (one) => one.status === 'COMPLETED');
    expect(await money.balances(usd)).toEqual([available - 10_000, available - 10_000]);
  });

  test('006: cancelled by the user, and the money is back', async () => {
    const { id, available } = await pay('006');
    const done = await money.until(id, (one) => one.refund?.status === 'COMPLETED');
    expect(done).toMatchObject({ status: 'COMPLETED', refund: { reason: 'USER_CANCELLATION' } });
    expect(await money.balances(usd)).toEqual([available, available]);
  });

  test('007: payout and refund failed, and the money is set aside', async () => {
    const { id, available } = await pay('007');
    const done = await money.until(id, (one) => one.refund?.status === 'FAILED');
    expect(done).toMatchObject({ status: 'FAILED', failureReason: 'COUNTERPARTY_POST_TX_FAILED' });
    expect(await money.balances(usd)).toEqual([available - 10_000, available - 10_000]);
  });
});

describe('pulled from an external account', () => {
  const pull = async (suffix: string) => {
    const [available] = await money.balances(usd);
    const from = await money.bank(suffix);
    const { body: quote } = await money.from(from, usd, 700, { immediatelyExecute: true }).expect(201);
    return { id: quote.transactionId, available };
  };

  test('the money arrives', async () => {
    const { id, available } = await pull('999');
    const done = await money.until(id, (one) => one.status === 'COMPLETED');
    expect(done).toMatchObject({ type: 'INCOMING', direction: 'DEBIT', receivedAmount: { amount: 700 } });
    expect(await money.balances(usd)).toEqual([available + 700, available + 700]);
  });

  test.each(['002', '003', '004'])('%s: fails at once and nothing arrives', async (suffix) => {
    const { id, available } = await pull(suffix);
    const done = await money.until(id, (one) => one.status === 'FAILED');
    expect(done).toMatchObject({ failureReason: 'COLLECTION_FAILED' });
    expect(done.refund).toBeUndefined();
    expect(await money.balances(usd)).toEqual([available, available]);
  });

  test('005: pending for about 30 seconds, then failed', async () => {
    const { id } = await pull('005');
    await money.until(id, (one) => one.status === 'PROCESSING');
    clock.advance(30_000);
    await money.until(id, (one) => one.status === 'FAILED');
  });
});
