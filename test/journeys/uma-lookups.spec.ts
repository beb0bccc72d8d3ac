import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { withSuffix } from '../../libs/domain/external-accounts/account.examples.ts';
import { SANDBOX_UMA_DOMAIN } from '../../libs/providers/uma.sandbox.table.ts';
import { TestClock } from '../clock.ts';
import { startTestPlatform, type TestPlatform } from '../platform.ts';
import { funded, type Person, person, umaQuote } from './uma.setup.ts';

let platform: TestPlatform;
let api: TestPlatform['api'];
let ada: Person;
const clock = new TestClock();
const at = (name: string) => `${name}@${SANDBOX_UMA_DOMAIN}`;

beforeAll(async () => {
  platform = await startTestPlatform({ clock });
  api = platform.api;
  ada = await funded(api, 'Ada Obi', 'USD', 10_000);
});
afterAll(() => platform.stop());

const lookUp = (address: string, query = `customerId=${ada.id}`) =>
  api('get', `/receiver/uma/${encodeURIComponent(address)}?${query}`);

describe('a UMA address', () => {
  test('of the sandbox: currency, rate, limits, lookup', async () => {
    const { body } = await lookUp(at('$success.eur')).expect(200);
    expect(body).toEqual({
      receiverUmaAddress: at('$success.eur'),
      supportedCurrencies: [
        {
          currency: { code: 'EUR', name: 'Euro', symbol: '€', decimals: 2 },
          estimatedExchangeRate: 1.08695652,
          min: 1,
          max: 100_000_000,
        },
      ],
      requiredPayerDataFields: [],
      lookupId: expect.stringMatching(/^Lookup:[0-9a-f-]{36}$/),
    });
  });

  test('with a literal $, in capitals, asked for by the address of the sender', async () => {
    const path = `/receiver/uma/${at('$SUCCESS.usd')}?senderUmaAddress=${encodeURIComponent(ada.umaAddress)}`;
    const { body } = await api('get', path).expect(200);
    expect(body.receiverUmaAddress).toBe(at('$success.usd'));
  });

  test('says what must be told of the payer', async () => {
    const { body } = await lookUp(at('$fields.usd')).expect(200);
    expect(body.requiredPayerDataFields).toEqual([
      { name: 'FULL_NAME', mandatory: true },
      { name: 'BIRTH_DATE', mandatory: true },
      { name: 'NATIONALITY', mandatory: false },
    ]);
  });

  test('of a customer of another platform: its accounts, with what its platform asks', async () => {
    const other = await platform.another();
    const bob = await person(other.api, 'Bob Lee', { currencies: ['EUR', 'USD'] });
    const fields = [{ name: 'FULL_NAME', mandatory: true }];
    const { body: config } = await other.api('get', '/config').expect(200);
    const supportedCurrencies = config.supportedCurrencies.map((one: { currencyCode: string }) =>
      one.currencyCode === 'EUR' ? { ...one, minAmount: 200, maxAmount: 500, requiredCounterpartyFields: fields } : one,
    );
    await other.api('patch', '/config').send({ supportedCurrencies }).expect(200);
    const { body } = await lookUp(bob.umaAddress).expect(200);
    expect(body.requiredPayerDataFields).toEqual(fields);
    const euro = body.supportedCurrencies.find((one: { currency: { code: string } }) => one.currency.code === 'EUR');
    expect(body.supportedCurrencies).toHaveLength(2);
    expect(euro).toMatchObject({ min: 200, max: 500 });
    const { id } = await ada.account('USD');
    const destination = { destinationType: 'UMA_ADDRESS', umaAddress: bob.umaAddress, currency: 'EUR' };
    const senderCustomerInfo = { FULL_NAME: 'Ada Obi' };
    const more = { destination, senderCustomerInfo, lookupId: body.lookupId };
    await api('post', '/quotes')
      .send(umaQuote(id, '', 300, more))
      .expect(201);
    const little = await api('post', '/quotes')
      .send(umaQuote(id, '', 100, more))
      .expect(400);
    expect(little.body.code).toBe('AMOUNT_OUT_OF_RANGE');
  });

  test('is not found, is none, is asked for in nobody’s name', async () => {
    const { body: unknown } = await lookUp(at('$nobody')).expect(404);
    expect(unknown.code).toBe('UMA_NOT_FOUND');
    const { body: none } = await lookUp('nobody').expect(400);
    expect([none.code, none.details.errors[0].field]).toEqual(['INVALID_UMA_ADDRESS', 'receiverUmaAddress']);
    expect((await lookUp(at('$success.usd'), '').expect(400)).body.code).toBe('INVALID_INPUT');
    const nobody = 'customerId=Customer:00000000-0000-7000-8000-000000000000';
    expect((await lookUp(at('$success.usd'), nobody).expect(404)).body.code).toBe('USER_NOT_FOUND');
    const stranger = 'senderUmaAddress=%24stranger%40example.com';
    expect((await lookUp(at('$success.usd'), stranger).expect(404)).body.code).toBe('UMA_NOT_FOUND');
  });

  test('whose owner was rejected takes nothing', async () => {
    const other = await platform.another({ isRegulatedFinancialInstitution: true });
    const refused = await person(other.api, 'Refused 002');
    expect((await lookUp(refused.umaAddress).expect(400)).body).toMatchObject({ code: 'INVALID_RECEIVER' });
  });
});

test('an external account, and its lookup in a quote', async () => {
  const account = { currency: 'USD', accountInfo: withSuffix('USD_ACCOUNT', '999') };
  const { body: bank } = await api('post', '/platform/external-accounts').send(account).expect(201);
  const { body } = await api('get', `/receiver/external-account/${bank.id}?customerId=${ada.id}`).expect(200);
  expect(body).toMatchObject({
    accountId: bank.id,
    supportedCurrencies: [{ currency: { code: 'USD' }, estimatedExchangeRate: 1, min: 1 }],
  });
  const quote = umaQuote((await ada.account('USD')).id, '', 100, {
    destination: { destinationType: 'ACCOUNT', accountId: bank.id },
    lookupId: body.lookupId,
  });
  await api('post', '/quotes').send(quote).expect(201);
  const unknown = 'ExternalAccount:00000000-0000-7000-8000-000000000000';
  const { body: none } = await api('get', `/receiver/external-account/${unknown}?customerId=${ada.id}`).expect(404);
  expect(none.code).toBe('REFERENCE_NOT_FOUND');
});

test('a lookup is good for its receiver and its platform, for five minutes', async () => {
  const { id } = await ada.account('USD');
  const { body } = await lookUp(at('$success.usd')).expect(200);
  const quote = (name: string, lookupId: string) =>
    api('post', '/quotes').send(umaQuote(id, at(name), 100, { lookupId }));
  const notFound = { code: 'LOOKUP_REQUEST_NOT_FOUND' };
  expect((await quote('$success.eur', body.lookupId).expect(404)).body).toMatchObject(notFound);
  const foreign = 'Lookup:00000000-0000-7000-8000-000000000000';
  expect((await quote('$success.usd', foreign).expect(404)).body).toMatchObject(notFound);
  await quote('$success.usd', body.lookupId).expect(201);
  clock.advance(5 * 60 * 1_000 + 1);
  expect((await quote('$success.usd', body.lookupId).expect(404)).body).toMatchObject({
    ...notFound,
    details: { reason: 'LOOKUP_EXPIRED' },
  });
});

describe('providers', () => {
  const named = async (query: string) =>
    (await api('get', `/uma-providers?${query}`).expect(200)).body.data.map(({ name }: { name: string }) => name);

  test('by name, page by page, blocked ones when they are asked for', async () => {
    expect(await named('sortOrder=asc')).toEqual(['Euro Wallet', 'Peso Directo', 'Sandbox']);
    expect(await named('')).toEqual(['Sandbox', 'Peso Directo', 'Euro Wallet']);
    expect(await named('hasBlockedProviders=true&sortOrder=asc')).toContain('Blocked Pay');
    expect(await named('countryCode=DE&currencyCode=MXN')).toEqual(['Sandbox']);
    const { body: first } = await api('get', '/uma-providers?limit=2').expect(200);
    expect(first).toMatchObject({ hasMore: true, totalCount: 3 });
    const { body: rest } = await api('get', `/uma-providers?limit=2&cursor=${first.nextCursor}`).expect(200);
    expect(rest).toMatchObject({ hasMore: false, data: [{ name: 'Euro Wallet', allowListStatus: true }] });
    await api('get', `/uma-providers?limit=2&currencyCode=USD&cursor=${first.nextCursor}`).expect(400);
    await api('get', '/uma-providers?limit=101').expect(400);
  });

  test('custodians of wallets', async () => {
    const { body } = await api('get', '/vasps?limit=2').expect(200);
    expect(body).toMatchObject({ data: [{ vaspName: 'Binance' }, { vaspName: 'Bitstamp' }], hasMore: true });
    expect(body.totalCount).toBeUndefined();
  });
});
