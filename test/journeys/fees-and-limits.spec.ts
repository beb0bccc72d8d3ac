import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startTestPlatform, type TestPlatform } from '../platform.ts';
import { Money, type Shown, stopBalanced } from './money.setup.ts';

let platform: TestPlatform;

beforeAll(async () => {
  platform = await startTestPlatform();
});
afterAll(() => stopBalanced(platform));

/** A platform of its own: limits and fees of one test do not meet those of another. */
const fresh = async () => new Money(await platform.another());
const now = { immediatelyExecute: true };

describe('platform fees', () => {
  const fee = (variableFeeBps: number, amount: number) => ({
    feeConfigs: [
      {
        feeType: 'CROSS_CURRENCY_TRANSACTION',
        sourceCurrency: 'USD',
        variableFeeBps,
        fixedFee: { amount, currency: 'USD' },
      },
    ],
  });
  const override = (amount: number, bps: number) => ({
    platformFeeOverride: { platformFixedFee: { amount, currency: 'USD' }, platformVariableFeeBps: bps },
  });

  test('are credited to the platform when the payment settles, and given back when it fails', async () => {
    const money = await fresh();
    await money.api('patch', '/config').send(fee(30, 50)).expect(200);
    const { id, accounts } = await money.customer();
    await money.fund(accounts.USD!, 10_000);
    const to = (suffix: string) => money.external('EUR_ACCOUNT', 'EUR', suffix, id);
    const { body: quote } = await money.from(accounts.USD!, await to('999'), 1_000, now).expect(201);
    // 950 cents after the fixed fee: 30 bps for the platform are 2.85, rounded to 3; 50 bps for the service are 4.75, rounded to 5.
    expect(quote).toMatchObject({ feesIncluded: 58, platformFeesIncluded: 53 });
    const done = await money.until(quote.transactionId, (one: Shown) => one.status === 'COMPLETED');
    expect(done).toMatchObject({ fees: 58, platformFees: 53 });
    expect(await money.balances(money.own('USD'))).toEqual([53, 53]);

    for (const suffix of ['002', '004', '005', '006']) {
      const { body: failing } = await money.from(accounts.USD!, await to(suffix), 1_000, now).expect(201);
      await money.until(failing.transactionId, (one: Shown) => one.refund?.status === 'COMPLETED');
      expect(await money.balances(money.own('USD'))).toEqual([53, 53]);
    }
    expect(await money.balances(accounts.USD!)).toEqual([9_000, 9_000]);
  });

  test('are for conversions only, unless the quote brings its own; its own replace the configured ones', async () => {
    const money = await fresh();
    await money.api('patch', '/config').send(fee(30, 50)).expect(200);
    const { accounts } = await money.customer();
    const quote = async (to: string, more: object = {}) =>
      (await money.from(accounts.USD!, to, 1_000, more).expect(201)).body;
    expect(await quote(money.own('USD'))).toMatchObject({ feesIncluded: 0, platformFeesIncluded: 0 });
    expect(await quote(money.own('USD'), override(10, 0))).toMatchObject({
      feesIncluded: 10,
      platformFeesIncluded: 10,
    });
    expect(await quote(accounts.EUR!, override(0, 100))).toMatchObject({ feesIncluded: 15, platformFeesIncluded: 10 });
    const tooMuch = await money.from(accounts.USD!, accounts.EUR!, 1_000, override(0, 10_001)).expect(400);
    expect(tooMuch.body.details.errors[0]).toMatchObject({ field: 'platformFeeOverride.platformVariableFeeBps' });
  });

  test('come out of money that is waited for, and go back with it', async () => {
    const money = await fresh();
    const source = { sourceType: 'REALTIME_FUNDING', currency: 'USD' };
    const { accounts } = await money.customer();
    const { body: quote } = await money.quote(source, accounts.USD!, 1_000, override(40, 0)).expect(201);
    await money.send(quote.id, 'USD').expect(200);
    expect(await money.balances(accounts.USD!)).toEqual([960, 960]);
    expect(await money.balances(money.own('USD'))).toEqual([40, 40]);
    const returned = await money.external('EUR_ACCOUNT', 'EUR', '005');
    const { body: second } = await money.quote(source, returned, 1_000, override(40, 0)).expect(201);
    await money.send(second.id, 'USD').expect(200);
    await money.until(second.transactionId, (one: Shown) => one.refund?.status === 'COMPLETED');
    expect(await money.balances(money.own('USD'))).toEqual([40, 40]);
  });
});

describe('limits', () => {
  const million = 100_000_000; // cents
  const DAY_SECONDS = 24 * 60 * 60;

  test('of one transaction: of the corridor, and of the configuration both ways', async () => {
    const money = await fresh();
    const refusal = async (amount: number) => {
      const { status, body } = await money.from(money.own('USD'), money.own('EUR'), amount);
      return [status, body.code, body.details];
    };
    expect(await refusal(10 * million + 1)).toEqual([
      400,
      'TRANSACTION_SIZE_LIMIT_EXCEEDED',
      { maximum: 10 * million, currency: 'USD' },
    ]);
    const { body: config } = await money.api('get', '/config').expect(200);
    const supportedCurrencies = config.supportedCurrencies.map(
      ({ currencyCode, requiredCounterpartyFields, enabledTransactionTypes }: Shown) => ({
        currencyCode,
        minAmount: 100,
        maxAmount: 5_000,
        requiredCounterpartyFields,
        enabledTransactionTypes,
      }),
    );
    await money.api('patch', '/config').send({ supportedCurrencies }).expect(200);
    const bounds = { minimum: 100, maximum: 5_000, currency: 'USD' };
    expect(await refusal(99)).toEqual([400, 'AMOUNT_OUT_OF_RANGE', bounds]);
    expect(await refusal(5_001)).toEqual([400, 'AMOUNT_OUT_OF_RANGE', bounds]);
  });

  test('of a day: fifty million dollars per account, whatever is tried at the same time', async () => {
    const money = await fresh();
    const usd = money.own('USD');
    const tomorrow = new Date(Date.now() + DAY_SECONDS * 1_000).toISOString().slice(0, 10);
    await money
      .api('post', '/sandbox/clock/advance')
      .send({ to: `${tomorrow}T12:00:00Z` })
      .expect(200); // far from midnight
    await money.fund(usd, 100 * million);
    const pay = (amount: number) => money.from(usd, money.own('EUR'), amount, now);
    const answers = await Promise.all(Array.from({ length: 8 }, () => pay(10 * million)));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 201, 201, 201, 429, 429, 429]);
    const refused = answers.find(({ status }) => status === 429)!;
    expect(refused.body.code).toBe('DAILY_VOLUME_LIMIT_EXCEEDED');
    expect((await pay(1_000).expect(429)).body.code).toBe('DAILY_VOLUME_LIMIT_EXCEEDED');
    expect(await money.balances(usd)).toEqual([50 * million, 50 * million]);
    const { body: list } = await money.api('get', '/transactions?type=OUTGOING').expect(200);
    expect(list.totalCount).toBe(5); // what was refused is not listed

    const { body: quote } = await money.from(usd, money.own('EUR'), 1_000).expect(201);
    await money.api('post', `/quotes/${quote.id}/execute`).expect(429);
    expect((await money.api('get', `/quotes/${quote.id}`).expect(200)).body.status).toBe('PENDING');
    const bank = await money.external('USD_ACCOUNT', 'USD');
    const out = { source: { accountId: usd }, destination: { accountId: bank }, amount: 1_000 };
    expect((await money.api('post', '/transfer-out').send(out).expect(429)).body.code).toBe(
      'DAILY_VOLUME_LIMIT_EXCEEDED',
    );

    await money.api('post', '/sandbox/clock/advance').send({ seconds: DAY_SECONDS }).expect(200);
    await pay(10 * million).expect(201);
  });

  test('of a day: what did not get through does not count', async () => {
    const money = await fresh();
    const usd = money.own('USD');
    await money.fund(usd, 100 * million);
    const [failing, bank] = [
      await money.external('USD_ACCOUNT', 'USD', '002'),
      await money.external('USD_ACCOUNT', 'USD'),
    ];
    for (let n = 0; n < 6; n++) {
      const { body } = await money.from(usd, failing, 10 * million, now).expect(201);
      await money.until(body.transactionId, (one: Shown) => one.refund?.status === 'COMPLETED');
    }
    const { body } = await money.from(usd, bank, 10 * million, now).expect(201);
    await money.until(body.transactionId, (one: Shown) => one.status === 'COMPLETED');
  });
});
