import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { account, CloseAccount, ReopenAccount } from '../../libs/domain/accounts/account.ts';
import { TestClock } from '../clock.ts';
import type { TestPlatform } from '../platform.ts';
import { Money, startMoney, stopBalanced } from './money.setup.ts';

let platform: TestPlatform;
let money: Money;
const clock = new TestClock();

beforeAll(async () => {
  ({ platform, money } = await startMoney({ clock }));
});
afterAll(() => stopBalanced(platform));

const realtime = (currency: string, more: object = {}) => ({ sourceType: 'REALTIME_FUNDING', currency, ...more });

describe('a quote that waits for money', () => {
  test('says where to send it, and is complete when exactly that has arrived', async () => {
    const { id, accounts } = await money.customer();
    const { body: quote } = await money.quote(realtime('USD', { customerId: id }), accounts.EUR!, 100_000).expect(201);
    expect(quote).toMatchObject({
      status: 'PENDING',
      source: { sourceType: 'REALTIME_FUNDING', currency: 'USD', customerId: id },
      totalSendingAmount: 100_000,
      totalReceivingAmount: 91_540,
      feesIncluded: 500,
      paymentInstructions: [
        {
          isPlatformAccount: false,
          accountOrWalletInfo: { accountType: 'USD_ACCOUNT', reference: expect.stringMatching(/^PAY-/) },
        },
      ],
    });
    expect((await money.api('get', `/quotes/${quote.id}`).expect(200)).body).toEqual(quote);
    expect(await money.transaction(quote.transactionId)).toMatchObject({
      type: 'OUTGOING',
      status: 'PENDING',
      customerId: id,
      source: { sourceType: 'REALTIME_FUNDING', currency: 'USD', customerId: id },
      paymentInstructions: quote.paymentInstructions,
    });

    const { body: sent } = await money.send(quote.id, 'USD', 100_000).expect(200);
    expect(sent).toMatchObject({ id: quote.transactionId, status: 'COMPLETED' });
    expect(sent.source).toMatchObject({
      accountHolderName: 'Sandbox Sender',
      paymentRail: 'ACH',
      remittanceInformation: quote.paymentInstructions[0].accountOrWalletInfo.reference,
    });
    expect(await money.balances(accounts.EUR!)).toEqual([91_540, 91_540]);
    expect((await money.api('get', `/quotes/${quote.id}`).expect(200)).body.status).toBe('COMPLETED');
    const again = await money.send(quote.id, 'USD').expect(409);
    expect(again.body).toMatchObject({ code: 'CONFLICT', details: { reason: 'NOT_AWAITING_FUNDING' } });
  });

  test("may be for another customer's account, and the receiver sees it too", async () => {
    const [ada, bob] = [await money.customer(), await money.customer()];
    const { body: quote } = await money
      .quote(realtime('USD', { customerId: ada.id }), bob.accounts.USD!, 500)
      .expect(201);
    await money.send(quote.id, 'USD').expect(200);
    expect(await money.balances(bob.accounts.USD!)).toEqual([500, 500]);
    for (const customerId of [ada.id, bob.id]) {
      const { body } = await money.api('get', `/transactions?customerId=${customerId}`).expect(200);
      expect(body.data.map((one: { id: string }) => one.id)).toEqual([quote.transactionId]);
    }
  });

  test('may be for an external account: what arrives goes on by its rail', async () => {
    const iban = await money.external('EUR_ACCOUNT', 'EUR');
    const { body: quote } = await money.quote(realtime('USD'), iban, 100_000).expect(201);
    expect(quote.paymentInstructions[0].isPlatformAccount).toBe(true);
    const { body: sent } = await money.send(quote.id, 'USD').expect(200);
    expect(['PROCESSING', 'COMPLETED']).toContain(sent.status); // the worker may be faster than the answer
    const done = await money.until(quote.transactionId, (one) => one.status === 'COMPLETED');
    expect(done).toMatchObject({ destination: { accountId: iban }, receivedAmount: { amount: 91_540 } });
    expect(done.refund).toBeUndefined();
  });

  test.each([
    ['002', 'FAILED', 'QUOTE_EXECUTION_FAILED', 'COMPLETED'],
    ['004', 'FAILED', 'COUNTERPARTY_POST_TX_FAILED', 'COMPLETED'],
    ['005', 'FAILED', 'PAYOUT_RETURNED', 'COMPLETED'],
    ['006', 'COMPLETED', undefined, 'COMPLETED'],
    ['007', 'FAILED', 'COUNTERPARTY_POST_TX_FAILED', 'FAILED'],
  ])('to an external account %s: %s with %s, refund %s', async (suffix, status, failureReason, refund) => {
    const iban = await money.external('EUR_ACCOUNT', 'EUR', suffix);
    const { body: quote } = await money.quote(realtime('USD'), iban, 20_000).expect(201);
    await money.send(quote.id, 'USD').expect(200);
    const done = await money.until(quote.transactionId, (one) => one.refund?.status === refund);
    expect([done.status, done.failureReason]).toEqual([status, failureReason]);
  });

  test('of which another amount arrives fails, and the money goes back to its sender', async () => {
    for (const amount of [999, 1_001]) {
      const { body: quote } = await money.quote(realtime('USD'), money.own('EUR'), 1_000).expect(201);
      const before = await money.balances(money.own('EUR'));
      const { body: sent } = await money.send(quote.id, 'USD', amount).expect(200);
      expect(sent).toMatchObject({ status: 'FAILED', failureReason: 'FUNDING_AMOUNT_MISMATCH' });
      const done = await money.until(quote.transactionId, (one) => one.refund?.status === 'COMPLETED');
      expect(done).toMatchObject({ status: 'FAILED', refund: { reason: 'TRANSACTION_FAILED' } });
      expect(await money.balances(money.own('EUR'))).toEqual(before);
    }
  });

  test('takes no other currency, and stays open', async () => {
    const { body: quote } = await money.quote(realtime('USD'), money.own('EUR'), 1_000).expect(201);
    const refused = await money.send(quote.id, 'EUR').expect(400);
    expect(refused.body).toMatchObject({ code: 'INVALID_CURRENCY', details: { expected: 'USD' } });
    await money.send(quote.id, 'USD').expect(200);
  });

  test('cannot be executed, nor asked for with immediatelyExecute', async () => {
    const { body: quote } = await money.quote(realtime('USD'), money.own('EUR'), 1_000).expect(201);
    const executed = await money.api('post', `/quotes/${quote.id}/execute`).expect(400);
    expect(executed.body).toMatchObject({ code: 'INVALID_INPUT', details: { reason: 'FUNDING_REQUIRED' } });
    const immediate = await money
      .quote(realtime('USD'), money.own('EUR'), 1_000, { immediatelyExecute: true })
      .expect(400);
    expect(immediate.body.details.errors).toMatchObject([{ field: 'immediatelyExecute', constraint: 'CONFLICT' }]);
  });

  test('expires like any other', async () => {
    const { body: quote } = await money.quote(realtime('USD'), money.own('EUR'), 1_000).expect(201);
    clock.advance(5 * 60_000 + 1);
    const late = await money.send(quote.id, 'USD').expect(409);
    expect(late.body).toMatchObject({ code: 'CONFLICT', details: { reason: 'QUOTE_EXPIRED' } });
    expect(await money.transaction(quote.transactionId)).toMatchObject({ status: 'EXPIRED' });
  });

  test('is sent to once under an Idempotency-Key', async () => {
    const { body: quote } = await money.quote(realtime('USD'), money.own('MXN'), 1_000).expect(201);
    const send = () => money.send(quote.id, 'USD').set('Idempotency-Key', 'once').expect(200);
    const first = await send();
    const second = await send();
    expect(second.headers['idempotent-replayed']).toBe('true');
    expect(second.body).toEqual(first.body);
  });
});

describe('sources', () => {
  test("a UMA address stands for its customer, in the destination's currency", async () => {
    const { id, umaAddress, accounts } = await money.customer();
    const source = { sourceType: 'UMA_ADDRESS', umaAddress: umaAddress.toUpperCase() };
    const { body: quote } = await money.quote(source, accounts.MXN!, 700).expect(201);
    expect(quote).toMatchObject({ source: { sourceType: 'UMA_ADDRESS', umaAddress, currency: 'MXN' } });
    const { body: sent } = await money.send(quote.id, 'MXN').expect(200);
    expect(sent).toMatchObject({
      status: 'COMPLETED',
      customerId: id,
      source: { sourceType: 'UMA_ADDRESS', umaAddress, currency: 'MXN' },
    });
    const invalid = await money
      .quote({ sourceType: 'UMA_ADDRESS', umaAddress: 'amina' }, accounts.MXN!, 700)
      .expect(400);
    expect(invalid.body.code).toBe('INVALID_UMA_ADDRESS');
  });

  test('an external account that nobody can pull from is waited for, and settled by sending', async () => {
    const { id, accounts } = await money.customer();
    const iban = await money.external('EUR_ACCOUNT', 'EUR', '999', id);
    const { body: quote } = await money.from(iban, accounts.EUR!, 5_000).expect(201);
    expect(quote).toMatchObject({
      source: { sourceType: 'ACCOUNT', accountId: iban },
      paymentInstructions: [{ accountOrWalletInfo: { accountType: 'EUR_ACCOUNT' } }],
    });
    const executed = await money.api('post', `/quotes/${quote.id}/execute`).expect(400);
    expect(executed.body.code).toBe('INVALID_INPUT');
    const { body: sent } = await money.send(quote.id, 'EUR').expect(200);
    expect(sent).toMatchObject({ status: 'COMPLETED', source: { sourceType: 'ACCOUNT', accountId: iban } });
    expect(await money.balances(accounts.EUR!)).toEqual([5_000, 5_000]);
  });

  test('one that can be pulled from pays out to another external account', async () => {
    const [ach, iban] = [await money.external('USD_ACCOUNT', 'USD'), await money.external('EUR_ACCOUNT', 'EUR', '888')];
    const { body: quote } = await money.from(ach, iban, 100_000, { immediatelyExecute: true }).expect(201);
    const done = await money.until(quote.transactionId, (one) => one.status === 'COMPLETED');
    expect(done).toMatchObject({ type: 'OUTGOING', receivedAmount: { amount: 91_540 } });
    const broken = await money.external('USD_ACCOUNT', 'USD', '002');
    const { body: failing } = await money.from(broken, iban, 1_000, { immediatelyExecute: true }).expect(201);
    const failed = await money.until(failing.transactionId, (one) => one.status === 'FAILED');
    expect(failed).toMatchObject({ failureReason: 'QUOTE_EXECUTION_FAILED' });
    expect(failed.refund).toBeUndefined();
  });
});

describe('crypto', () => {
  test.each([
    ['USDC', 'SOLANA', ['SOLANA_WALLET']],
    ['USDC', 'ETHEREUM', ['ETHEREUM_WALLET']],
    ['USDC', 'BASE', ['BASE_WALLET']],
    ['USDC', 'POLYGON', ['POLYGON_WALLET']],
    ['USDC', 'SPARK', ['SPARK_WALLET']],
    ['BTC', 'BITCOIN', ['BITCOIN_L1']],
    ['BTC', 'LIGHTNING', ['LIGHTNING']],
    ['BTC', 'SPARK', ['SPARK_WALLET']],
    ['BTC', undefined, ['BITCOIN_L1', 'SPARK_WALLET', 'LIGHTNING']],
  ])('%s on %s', async (currency, cryptoNetwork, wallets) => {
    const source = realtime(currency, cryptoNetwork ? { cryptoNetwork } : {});
    const { body: quote } = await money.quote(source, money.own(currency), 1_000_000).expect(201);
    expect(
      quote.paymentInstructions.map(
        (one: { accountOrWalletInfo: { accountType: string } }) => one.accountOrWalletInfo.accountType,
      ),
    ).toEqual(wallets);
    expect(quote.source).toEqual(source);
  });

  test('a stablecoin needs its network, and one that carries it', async () => {
    const refused = async (more: object) =>
      (await money.quote(realtime('USDC', more), money.own('USDC'), 1_000_000).expect(400)).body.details.errors;
    expect(await refused({})).toMatchObject([{ field: 'source.cryptoNetwork', constraint: 'REQUIRED' }]);
    expect(await refused({ cryptoNetwork: 'TRON' })).toMatchObject([
      {
        field: 'source.cryptoNetwork',
        constraint: 'ENUM',
        allowed: ['SOLANA', 'ETHEREUM', 'BASE', 'POLYGON', 'SPARK'],
      },
    ]);
  });

  test("the wrong amount is refunded to the customer's account of the asset", async () => {
    const { id, accounts } = await money.customer();
    const source = realtime('USDC', { customerId: id, cryptoNetwork: 'SOLANA' });
    const { body: quote } = await money.quote(source, accounts.USD!, 5_000_000).expect(201);
    const { body: sent } = await money.send(quote.id, 'USDC', 4_000_000).expect(200);
    expect(sent.source.onChainTransaction).toEqual({
      network: 'SOLANA',
      transactionHash: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    await money.until(quote.transactionId, (one) => one.refund?.status === 'COMPLETED');
    expect(await money.balances(accounts.USDC!)).toEqual([4_000_000, 4_000_000]);
    expect(await money.balances(accounts.USD!)).toEqual([0, 0]);
  });

  test('also where that account was closed for a moment, by a deletion that was refused', async () => {
    const { id, accounts } = await money.customer();
    const { writePath } = platform.engine;
    const accountId = accounts.USDC!.replace('InternalAccount:', '');
    const envelope = () => ({ commandId: randomUUID(), correlationId: 'C', actor: 'test', tenant: platform.tenant });
    await writePath.execute(account, new CloseAccount({ accountId }), envelope());
    const source = realtime('USDC', { customerId: id, cryptoNetwork: 'SOLANA' });
    const { body: quote } = await money.quote(source, accounts.USD!, 5_000_000).expect(201);
    await writePath.execute(account, new ReopenAccount({ accountId }), envelope());
    await money.send(quote.id, 'USDC', 4_000_000).expect(200);
    await money.until(quote.transactionId, (one) => one.refund?.status === 'COMPLETED');
    expect(await money.balances(accounts.USDC!)).toEqual([4_000_000, 4_000_000]);
  });

  test('what that account cannot hold is set aside, and everything else goes on', async () => {
    const { id, accounts } = await money.customer();
    const source = realtime('USDC', { customerId: id, cryptoNetwork: 'SOLANA' });
    const most = 9_000_000_000_000_000;
    for (const refund of ['COMPLETED', 'FAILED']) {
      const { body: quote } = await money.quote(source, accounts.USD!, 5_000_000).expect(201);
      await money.send(quote.id, 'USDC', most).expect(200);
      const done = await money.until(quote.transactionId, (one) => one.refund?.settledAt);
      expect(done).toMatchObject({ failureReason: 'FUNDING_AMOUNT_MISMATCH', refund: { status: refund } });
    }
    expect(await money.balances(accounts.USDC!)).toEqual([most, most]);
  });
});

test('fiat of every kind says how to pay', async () => {
  const config = (await money.api('get', '/config').expect(200)).body;
  const currencies = ['BRL', 'COP', 'ARS', 'INR', 'KES', 'JPY', 'NGN'];
  const more = currencies.map((currencyCode) => ({
    currencyCode,
    minAmount: 1,
    maxAmount: 1_000_000_000,
    requiredCounterpartyFields: [],
    enabledTransactionTypes: ['INCOMING', 'OUTGOING'],
  }));
  const kept = config.supportedCurrencies.map(
    ({ currencyCode, minAmount, maxAmount, requiredCounterpartyFields, enabledTransactionTypes }: never) => ({
      currencyCode,
      minAmount,
      maxAmount,
      requiredCounterpartyFields,
      enabledTransactionTypes,
    }),
  );
  await money
    .api('patch', '/config')
    .send({ supportedCurrencies: [...kept, ...more] })
    .expect(200);
  const infos = new Map<string, object>();
  for (const currency of currencies) {
    const { body: quote } = await money.quote(realtime(currency), money.own('USD'), 1_000_000).expect(201);
    infos.set(currency, quote.paymentInstructions[0].accountOrWalletInfo);
  }
  expect(Object.fromEntries(infos)).toMatchObject({
    BRL: { accountType: 'BRL_ACCOUNT', qrCode: expect.stringContaining('PAY-') },
    COP: { accountType: 'COP_ACCOUNT', paymentUrl: expect.stringContaining('PAY-') },
    ARS: { accountType: 'ARS_ACCOUNT' },
    INR: { accountType: 'INR_ACCOUNT', paymentRails: ['UPI'] },
    KES: { accountType: 'KES_ACCOUNT', paymentRails: ['MOBILE_MONEY'] },
    JPY: { accountType: 'SWIFT_ACCOUNT', paymentRails: ['SWIFT'] },
    NGN: { accountType: 'NGN_ACCOUNT', paymentRails: ['BANK_TRANSFER'] },
  });
});

test('refused: money for a quote that is executed, of another platform, or unknown', async () => {
  const { body: quote } = await money.from(money.own('USD'), money.own('EUR'), 100).expect(201);
  const refused = await money.send(quote.id, 'USD').expect(409);
  expect(refused.body.details.reason).toBe('NOT_AWAITING_FUNDING');
  const other = new Money(await platform.another());
  expect((await other.send(quote.id, 'USD').expect(404)).body.code).toBe('QUOTE_NOT_FOUND');
  const invalid = await money.api('post', '/sandbox/send').send({ quoteId: 'x', currencyAmount: 0 }).expect(400);
  expect(invalid.body.details.errors.map((error: { field: string }) => error.field).sort()).toEqual([
    'currencyAmount',
    'currencyCode',
    'quoteId',
  ]);
});
