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

const cancel = (id: string, body: object = {}) => platform.api('post', `/transactions/${id}/cancel`).send(body);
const confirm = (id: string, body: object = {}) => platform.api('post', `/transactions/${id}/confirm`).send(body);

/** A payout that its rail takes six minutes for. */
async function slowPayout(paymentRail: string): Promise<string> {
  await money.fund(usd, 10_000);
  const destination = { destinationType: 'ACCOUNT', accountId: await money.bank('003'), paymentRail };
  const { body } = await money.from(usd, destination, 10_000, { immediatelyExecute: true }).expect(201);
  return body.transactionId;
}

describe('cancelling', () => {
  test.each(['ACH', 'WIRE'])('an unsettled transfer by %s brings its money back', async (rail) => {
    const id = await slowPayout(rail);
    const before = await money.balances(usd);
    const { body } = await cancel(id, { reason: 'Sent twice' }).expect(200);
    expect(body).toMatchObject({ id, status: 'PROCESSING' });
    const done = await money.until(id, (one) => one.refund?.status === 'COMPLETED');
    expect(done).toMatchObject({ status: 'COMPLETED', refund: { reason: 'USER_CANCELLATION' } });
    expect(await money.balances(usd)).toEqual([before[0] + 10_000, before[1]]);
    const again = await cancel(id).expect(409);
    expect(again.body.code).toBe('TRANSACTION_NOT_CANCELLABLE');
    clock.advance(6 * 60_000);
    expect(await money.transaction(id)).toEqual(done);
  });

  test('a collection under way leaves nothing taken, and it failed', async () => {
    const ach = await money.bank('005');
    const before = await money.balances(usd);
    const { body } = await money.from(ach, usd, 500, { immediatelyExecute: true }).expect(201);
    await cancel(body.transactionId).expect(200);
    const done = await money.until(body.transactionId, (one) => one.status === 'FAILED');
    expect(done).toMatchObject({ type: 'INCOMING', failureReason: 'COLLECTION_FAILED' });
    expect(done.refund).toBeUndefined();
    expect(await money.balances(usd)).toEqual(before);
  });

  test('what was sent for a customer who is gone by then cannot come back, and has failed', async () => {
    const { id } = await money.customer();
    const source = { sourceType: 'REALTIME_FUNDING', currency: 'USDC', cryptoNetwork: 'SOLANA', customerId: id };
    const { body: quote } = await money.quote(source, await money.bank('003'), 5_000_000).expect(201);
    await money.send(quote.id, 'USDC').expect(200);
    await platform.api('delete', `/customers/${id}`).expect(200);
    await cancel(quote.transactionId).expect(200);
    const done = await money.until(quote.transactionId, (one) => one.refund?.settledAt);
    expect(done).toMatchObject({
      status: 'FAILED',
      failureReason: 'COUNTERPARTY_POST_TX_FAILED',
      refund: { reason: 'USER_CANCELLATION', status: 'FAILED' },
    });
  });

  test('is refused for other kinds of transfer', async () => {
    const refused = async (id: string) => {
      const { status, body } = await cancel(id);
      return [status, body.code, body.details?.reason];
    };
    const otherKind = [400, 'INVALID_INPUT', 'RAIL_NOT_CANCELLABLE'];
    const { body: internal } = await money.from(usd, money.own('EUR'), 100).expect(201);
    expect(await refused(internal.transactionId)).toEqual(otherKind);
    expect(await refused(await slowPayout('RTP'))).toEqual(otherKind);
    const { body: deposits } = await platform.api('get', '/transactions?type=INCOMING&status=COMPLETED').expect(200);
    expect(await refused(deposits.data[0].id)).toEqual(otherKind);
  });

  test('is refused when it has settled, before it is executed, and for what is not there', async () => {
    await money.fund(usd, 500);
    const bank = await money.bank('999');
    const { body: open } = await money.from(usd, bank, 100).expect(201);
    expect((await cancel(open.transactionId).expect(409)).body.code).toBe('TRANSACTION_NOT_CANCELLABLE');
    await platform.api('post', `/quotes/${open.id}/execute`).expect(200);
    await money.until(open.transactionId, (one) => one.status === 'COMPLETED');
    expect((await cancel(open.transactionId).expect(409)).body.code).toBe('TRANSACTION_NOT_CANCELLABLE');
    const other = await platform.another();
    const foreign = await other.api('post', `/transactions/${open.transactionId}/cancel`).expect(404);
    expect(foreign.body.code).toBe('TRANSACTION_NOT_FOUND');
    expect((await cancel('Transaction:nonsense').expect(404)).body.code).toBe('TRANSACTION_NOT_FOUND');
  });

  test('too late: the rail had settled, and the transfer completes', async () => {
    const id = await slowPayout('ACH');
    await money.until(id, (one) => one.status === 'PROCESSING');
    clock.advance(6 * 60_000);
    await cancel(id); // refused when the timer was faster, else asked of the rail, which says that it is too late
    const done = await money.until(id, (one) => one.status === 'COMPLETED');
    expect(done.refund).toBeUndefined();
  });
});

describe('confirming a receipt', () => {
  const at = '2026-01-02T03:04:05.000Z';

  test('is kept with the transaction, and the last time holds', async () => {
    const { body: quote } = await money.from(usd, money.own('EUR'), 100).expect(201);
    const first = await confirm(quote.transactionId, {
      receiptDeliveryConfirmedAt: '2026-01-01T01:00:00+01:00',
    }).expect(200);
    expect(first.body.receiptDeliveryConfirmedAt).toBe('2026-01-01T00:00:00.000Z');
    await confirm(quote.transactionId, { receiptDeliveryConfirmedAt: at }).expect(200);
    expect(await money.transaction(quote.transactionId)).toMatchObject({
      status: 'PENDING',
      receiptDeliveryConfirmedAt: at,
    });
  });

  test('is now when no time is given, and for deposits too', async () => {
    await money.fund(usd, 1);
    const { body: list } = await platform.api('get', '/transactions?type=INCOMING&limit=1').expect(200);
    const [deposit] = list.data;
    const { body } = await confirm(deposit.id).expect(200);
    expect(body).toMatchObject({ id: deposit.id, status: deposit.status, direction: 'CREDIT' });
    expect(await money.transaction(deposit.id)).toEqual(body);
    await confirm(deposit.id, { receiptDeliveryConfirmedAt: at }).expect(200);
    expect((await money.transaction(deposit.id)).receiptDeliveryConfirmedAt).toBe(at);
  });

  test('is refused for what is no time and no transaction', async () => {
    const { body: quote } = await money.from(usd, money.own('EUR'), 100).expect(201);
    const invalid = await confirm(quote.transactionId, { receiptDeliveryConfirmedAt: 'yesterday' }).expect(400);
    expect(invalid.body.details.errors[0].field).toBe('receiptDeliveryConfirmedAt');
    const none = await confirm('Transaction:0195a000-0000-7000-8000-000000000000').expect(404);
    expect(none.body.code).toBe('TRANSACTION_NOT_FOUND');
  });
});
