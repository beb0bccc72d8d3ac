import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import supertest from 'supertest';
import { BASE_PATH } from '../../libs/runtime/http/index.ts';
import { TestClock } from '../clock.ts';
import { eventually } from '../eventually.ts';
import type { TestPlatform } from '../platform.ts';
import { Money, startMoney, stopBalanced } from './money.setup.ts';

let platform: TestPlatform;
let money: Money;
let usd: string;
const clock = new TestClock();

beforeAll(async () => {
  ({ platform, money } = await startMoney({ clock }));
  usd = money.own('USD');
});
afterAll(() => stopBalanced(platform));

const transfer = (path: 'transfer-in' | 'transfer-out', source: string, destination: string, more: object = {}) =>
  platform
    .api('post', `/${path}`)
    .send({ source: { accountId: source }, destination: { accountId: destination }, ...more });

describe('transfer-out', () => {
  test('pays out of an internal account, and says that it is deprecated', async () => {
    await money.fund(usd, 1_000);
    const [before] = await money.balances(usd);
    const { body, headers } = await transfer('transfer-out', usd, await money.bank('999'), {
      amount: 400,
      remittanceInformation: 'Inv. 7',
      purposeOfPayment: 'SALARY_PAYMENT',
    }).expect(201);
    expect(body).toMatchObject({
      type: 'OUTGOING',
      direction: 'DEBIT',
      sentAmount: { amount: 400 },
      railSelectionMode: 'AUTO',
    });
    expect(['PROCESSING', 'COMPLETED']).toContain(body.status); // the worker may be faster than the answer
    expect(headers).toMatchObject({
      deprecation: '@1760313600',
      sunset: 'Wed, 13 Oct 2027 00:00:00 GMT',
      link: expect.stringMatching(/docs\/transfers\.md>; rel="deprecation"/),
    });
    await money.until(body.id, (one) => one.status === 'COMPLETED');
    expect(await money.balances(usd)).toEqual([before! - 400, before! - 400]);
  });

  test('takes the whole balance without an amount, and the rail that is named', async () => {
    const { accounts } = await money.customer();
    await money.fund(accounts.USD!, 777);
    const destination = { accountId: await money.bank('999'), paymentRail: 'WIRE' };
    const { body } = await platform
      .api('post', '/transfer-out')
      .send({ source: { accountId: accounts.USD }, destination })
      .expect(201);
    expect(body).toMatchObject({ sentAmount: { amount: 777 }, paymentRail: 'WIRE', railSelectionMode: 'MANUAL' });
    expect((await money.balances(accounts.USD!))[0]).toBe(0);
    const empty = await transfer('transfer-out', accounts.USD!, await money.bank('999')).expect(400);
    expect(empty.body).toMatchObject({ code: 'INVALID_INPUT', details: { reason: 'INSUFFICIENT_FUNDS' } });
  });

  test.each([
    ['002', 'QUOTE_EXECUTION_FAILED'],
    ['003', 'ACCOUNT_INVALID'],
    ['004', 'ACCOUNT_CANNOT_RECEIVE'],
  ])('%s: fails at once with %s, and the money is back', async (suffix, failureReason) => {
    await money.fund(usd, 100);
    const before = await money.balances(usd);
    const { body } = await transfer('transfer-out', usd, await money.bank(suffix), { amount: 100 }).expect(201);
    const done = await money.until(body.id, (one) => one.refund?.status === 'COMPLETED');
    expect(done).toMatchObject({ status: 'FAILED', failureReason });
    expect(await money.balances(usd)).toEqual(before);
  });

  test('005: stays pending for about 30 seconds, then fails', async () => {
    await money.fund(usd, 100);
    const { body } = await transfer('transfer-out', usd, await money.bank('005'), { amount: 100 }).expect(201);
    await money.until(body.id, (one) => one.status === 'PROCESSING');
    clock.advance(30_000);
    const done = await money.until(body.id, (one) => one.refund?.status === 'COMPLETED');
    expect(done).toMatchObject({ status: 'FAILED', failureReason: 'COUNTERPARTY_POST_TX_FAILED' });
  });

  test.each(['006', '007'])('%s has a meaning for quotes only: completed', async (suffix) => {
    await money.fund(usd, 100);
    const { body } = await transfer('transfer-out', usd, await money.bank(suffix), { amount: 100 }).expect(201);
    await money.until(body.id, (one) => one.status === 'COMPLETED');
  });
});

describe('transfer-in', () => {
  test('into an account that cannot take it fails as incoming payments do, and the money goes back', async () => {
    const most = 9_000_000_000_000_000;
    const rich = new Money(await platform.another());
    const currency = { currencyCode: 'USD', minAmount: 1, maxAmount: most, requiredCounterpartyFields: [] };
    const supportedCurrencies = [{ ...currency, enabledTransactionTypes: ['INCOMING', 'OUTGOING'] }];
    await rich.api('patch', '/config').send({ supportedCurrencies }).expect(200);
    const { umaAddress: receiverUmaAddress, accounts } = await rich.customer();
    const sent = { senderUmaAddress: '$bob@sandbox.uma.money', receiverUmaAddress };
    await rich
      .api('post', '/sandbox/uma/receive')
      .send({ ...sent, receivingCurrencyCode: 'USD', receivingCurrencyAmount: most })
      .expect(200);
    await eventually(
      () => rich.balances(accounts.USD!),
      ([available]) => available === most,
    );
    const { body } = await rich
      .api('post', '/transfer-in')
      .send({ source: { accountId: await rich.bank('999') }, destination: { accountId: accounts.USD }, amount: 100 })
      .expect(201);
    const done = await rich.until(body.id, (one) => one.refund?.status === 'COMPLETED');
    expect(done).toMatchObject({ type: 'INCOMING', status: 'FAILED', failureReason: 'QUOTE_EXECUTION_FAILED' });
    expect(await rich.balances(accounts.USD!)).toEqual([most, most]);
  });

  test('pulls from an external account into an internal one', async () => {
    const before = (await money.balances(usd))[0]!;
    const { body, headers } = await transfer('transfer-in', await money.bank('999'), usd, { amount: 300 }).expect(201);
    expect(body).toMatchObject({ type: 'INCOMING', direction: 'DEBIT' });
    expect(headers.deprecation).toBe('@1760313600');
    await money.until(body.id, (one) => one.status === 'COMPLETED');
    expect((await money.balances(usd))[0]).toBe(before + 300);
  });

  test.each(['002', '003', '004'])('%s: fails at once, and nothing arrives', async (suffix) => {
    const before = await money.balances(usd);
    const { body } = await transfer('transfer-in', await money.bank(suffix), usd, { amount: 300 }).expect(201);
    const done = await money.until(body.id, (one) => one.status === 'FAILED');
    expect(done).toMatchObject({ failureReason: 'COLLECTION_FAILED' });
    expect(await money.balances(usd)).toEqual(before);
  });

  test('005: stays pending for about 30 seconds, then fails', async () => {
    const { body } = await transfer('transfer-in', await money.bank('005'), usd, { amount: 300 }).expect(201);
    await money.until(body.id, (one) => one.status === 'PROCESSING');
    clock.advance(30_000);
    await money.until(body.id, (one) => one.status === 'FAILED');
  });
});

describe('transfers are refused', () => {
  const refusal = async (path: 'transfer-in' | 'transfer-out', source: string, destination: string, more: object) => {
    const { status, body, headers } = await transfer(path, source, destination, more);
    expect(headers.deprecation).toBe('@1760313600');
    return [status, body.code, body.details?.reason ?? body.details?.errors?.[0].field];
  };

  test('between currencies, from and to the wrong kind of account, without funds and without a balance to know', async () => {
    const [ach, iban] = [await money.bank('999'), await money.external('EUR_ACCOUNT', 'EUR')];
    const amount = { amount: 100 };
    expect(await refusal('transfer-out', usd, iban, amount)).toEqual([400, 'INVALID_CURRENCY', undefined]);
    expect(await refusal('transfer-out', ach, usd, amount)).toEqual([400, 'INVALID_INPUT', 'source.accountId']);
    expect(await refusal('transfer-in', usd, usd, amount)).toEqual([400, 'INVALID_INPUT', 'source.accountId']);
    expect(await refusal('transfer-in', ach, ach, amount)).toEqual([400, 'INVALID_INPUT', 'destination.accountId']);
    expect(await refusal('transfer-in', iban, money.own('EUR'), amount)).toEqual([
      400,
      'INVALID_INPUT',
      'SOURCE_NOT_PULLABLE',
    ]);
    expect(await refusal('transfer-in', ach, usd, {})).toEqual([400, 'INVALID_INPUT', 'amount']);
    const poor = (await money.customer()).accounts.USD!;
    expect(await refusal('transfer-out', poor, ach, amount)).toEqual([400, 'INVALID_INPUT', 'INSUFFICIENT_FUNDS']);
    const none = 'ExternalAccount:0195a000-0000-7000-8000-000000000000';
    expect(await refusal('transfer-out', usd, none, amount)).toEqual([404, 'REFERENCE_NOT_FOUND', undefined]);
  });
});

test('a repeated transfer is one transfer', async () => {
  await money.fund(usd, 100);
  const to = await money.bank('999');
  const send = () => transfer('transfer-out', usd, to, { amount: 100 }).set('Idempotency-Key', 'twice').expect(201);
  const first = await send();
  const second = await send();
  expect(second.headers).toMatchObject({ 'idempotent-replayed': 'true', deprecation: '@1760313600' });
  expect(second.body).toEqual(first.body);
});

describe('every answer says that it is of a deprecated operation', () => {
  const post = (path: string) => supertest(platform.app.getHttpServer()).post(`${BASE_PATH}${path}`);
  const authorized = () => post('/transfer-in').auth(platform.credentials.clientId, platform.credentials.clientSecret);

  test.each<[string, number, () => supertest.Test]>([
    ['nobody knows who asks', 401, () => post('/transfer-in').send({})],
    ['the body is no JSON', 400, () => authorized().set('content-type', 'application/json').send('{')],
    ['the body is of another type', 400, () => authorized().set('content-type', 'text/plain').send('x')],
  ])('%s', async (_, status, asked) => {
    const { headers } = await asked().expect(status);
    expect(headers).toMatchObject({
      deprecation: '@1760313600',
      sunset: 'Wed, 13 Oct 2027 00:00:00 GMT',
      link: expect.stringMatching(/docs\/transfers\.md>; rel="deprecation"/),
    });
  });

  test('the token may not', async () => {
    const { body } = await platform
      .api('post', '/tokens')
      .send({ name: 'v', permissions: ['VIEW'] })
      .expect(201);
    const { headers } = await post('/transfer-out').auth(body.clientId, body.clientSecret).send({}).expect(403);
    expect(headers.deprecation).toBe('@1760313600');
  });

  test('and no other one does', async () => {
    const { headers } = await post('/quotes').send({}).expect(401);
    expect([headers.deprecation, headers.sunset, headers.link]).toEqual([undefined, undefined, undefined]);
  });
});

test('who still calls them is counted, and the document says that they are deprecated', async () => {
  const { body: token } = await platform
    .api('post', '/tokens')
    .send({ name: 'old', permissions: ['TRANSACT'] })
    .expect(201);
  await transfer('transfer-in', await money.bank('999'), usd, {})
    .auth(token.clientId, token.clientSecret)
    .expect(400);
  const one = await platform.another();
  await one.api('post', '/transfer-in').send({}).expect(400);
  const http = supertest(platform.app.getHttpServer());
  const { text } = await http.get('/metrics').expect(200);
  const counted = text
    .split('\n')
    .filter((line) => line.startsWith('deprecated_requests_total{operation="POST /transfer-in"'));
  const platforms = [platform.tenant.platform, one.tenant.platform].map((id) => `platform="${id}"`);
  expect(counted.filter((line) => line.includes(platforms[1]!))).toEqual([
    `deprecated_requests_total{operation="POST /transfer-in",${platforms[1]}} 1`,
  ]);
  expect(counted.filter((line) => line.includes(platforms[0]!))).toHaveLength(1);
  expect(text).not.toContain(token.id.slice('Token:'.length));
  const { paths } = (await http.get('/openapi.json').expect(200)).body;
  const deprecated = Object.entries<Record<string, { deprecated?: boolean }>>(paths)
    .filter(([, methods]) => methods.post?.deprecated)
    .map(([path]) => path);
  expect(deprecated.sort()).toEqual(['/transfer-in', '/transfer-out']);
  expect(Object.keys(paths['/transfer-in'].post.responses['201'].headers)).toEqual(
    expect.arrayContaining(['Deprecation', 'Sunset', 'Link']),
  );
});
