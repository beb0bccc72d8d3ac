import { afterAll, beforeAll, expect, test } from '@jest/globals';
import supertest from 'supertest';
import { startTestPlatform, type TestPlatform } from '../platform.ts';

let platform: TestPlatform;
beforeAll(async () => {
  platform = await startTestPlatform();
});
afterAll(() => platform.stop());

test('exchange rates: one corridor, with the amount that arrives and the fees beside it', async () => {
  const { body } = await platform.api('get', '/exchange-rates?sourceCurrency=USD&destinationCurrency=EUR').expect(200);
  expect(body.data[0]).toMatchObject({
    sourceCurrency: { code: 'USD', decimals: 2 },
    sendingAmount: 10_000,
    destinationCurrency: { code: 'EUR' },
    receivingAmount: 9_200,
    exchangeRate: 1.08695652,
    fees: { fixed: 0, total: 50 },
  });
});

test('exchange rates: several destinations, repeated or joined, and another amount', async () => {
  const codes = async (query: string) => {
    const { body } = await platform
      .api('get', `/exchange-rates?sourceCurrency=USD&sendingAmount=500&${query}`)
      .expect(200);
    return [
      ...new Set(body.data.map((row: { destinationCurrency: { code: string } }) => row.destinationCurrency.code)),
    ];
  };
  expect(await codes('destinationCurrency=MXN&destinationCurrency=EUR')).toEqual(
    await codes('destinationCurrency=MXN,EUR'),
  );
  expect((await codes('destinationCurrency=MXN,EUR')).sort()).toEqual(['EUR', 'MXN']);
});

test('exchange rates: every wrong parameter is named', async () => {
  const { status, body } = await platform.api(
    'get',
    '/exchange-rates?sourceCurrency=XXX&destinationCurrency=YYY&sendingAmount=-1',
  );
  expect(status).toBe(400);
  expect(body.details.errors).toMatchObject([
    { field: 'sourceCurrency', constraint: 'ENUM', allowed: expect.arrayContaining(['USD']) },
    { field: 'destinationCurrency.0', constraint: 'ENUM', allowed: expect.arrayContaining(['USD']) },
    { field: 'sendingAmount', constraint: 'MINIMUM', minimum: 0 },
  ]);
});

test.each([
  ['sourceCurrency=usd', 'sourceCurrency', 'ENUM'],
  ['sourceCurrency=USD&sourceCurrency=EUR', 'sourceCurrency', 'TYPE'],
  ['destinationCurrency=INR,', 'destinationCurrency.1', 'ENUM'],
  ['sendingAmount=1.5', 'sendingAmount', 'TYPE'],
  ['sendingAmount=', 'sendingAmount', 'TYPE'],
  ['sendingAmount=9000000000000001', 'sendingAmount', 'MAXIMUM'],
])('exchange rates: %s is refused', async (query, field, constraint) => {
  const { status, body } = await platform.api('get', `/exchange-rates?${query}`);
  expect([status, body.details.errors]).toMatchObject([400, [{ field, constraint }]]);
});

test('exchange rates: the amount is documented as the number that it is', async () => {
  const { body: document } = await supertest(platform.app.getHttpServer()).get('/openapi.json').expect(200);
  const { parameters } = document.paths['/exchange-rates'].get;
  expect(parameters.find(({ name }: { name: string }) => name === 'sendingAmount')).toMatchObject({
    schema: { type: 'integer', minimum: 0, default: 10_000 },
  });
});

test('discoveries: by country and currency', async () => {
  const { body } = await platform.api('get', '/discoveries?country=PH&currency=PHP').expect(200);
  expect(body.data).toContainEqual({
    bankName: 'BDO Unibank',
    displayName: expect.any(String),
    country: 'PH',
    currency: 'PHP',
  });
  expect(new Set(body.data.map((one: { country: string }) => one.country))).toEqual(new Set(['PH']));
  const all = await platform.api('get', '/discoveries').expect(200);
  expect(all.body.data.length).toBeGreaterThan(body.data.length);
  const wrong = await platform.api('get', '/discoveries?country=Philippines');
  expect([wrong.status, wrong.body.details.errors[0].field]).toEqual([400, 'country']);
});
