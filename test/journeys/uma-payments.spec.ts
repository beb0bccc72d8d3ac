import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { errors, SANDBOX_UMA_DOMAIN } from '../../libs/providers/uma.sandbox.table.ts';
import { untilItWaits } from '../activity.ts';
import { TestClock } from '../clock.ts';
import { startTestPlatform, type TestPlatform } from '../platform.ts';
import {
  books,
  funded,
  incoming,
  type Person,
  pay,
  person,
  reached,
  shows,
  umaQuote,
  unexplained,
} from './uma.setup.ts';

let platform: TestPlatform;
let api: TestPlatform['api'];
let other: Awaited<ReturnType<TestPlatform['another']>>;
let ada: Person;
const clock = new TestClock();
const at = (name: string) => `${name}@${SANDBOX_UMA_DOMAIN}`;

beforeAll(async () => {
  platform = await startTestPlatform({ clock });
  api = platform.api;
  other = await platform.another();
  ada = await funded(api, 'Ada Obi', 'USD', 1_000_000);
});
afterAll(() => platform.stop());

const usd = async () => (await ada.account('USD')).id;

describe('to the destinations of the sandbox', () => {
  test.each([
    ['$success.usd', 'USD', 10_000],
    ['$success.eur', 'EUR', 9_154],
    ['$success.mxn', 'MXN', 171_637],
  ])('%s receives %s', async (name, currency, received) => {
    const { balance } = await ada.account('USD');
    const { body: quote } = await api('post', '/quotes')
      .send(umaQuote(await usd(), at(name), 10_000))
      .expect(201);
    expect(quote).toMatchObject({
      status: 'PENDING',
      destination: { destinationType: 'UMA_ADDRESS', umaAddress: at(name), currency },
      totalReceivingAmount: received,
    });
    await api('post', `/quotes/${quote.id}/execute`).expect(200);
    const transaction = await reached(api, quote.transactionId, 'COMPLETED', 'FAILED');
    expect(transaction).toMatchObject({
      status: 'COMPLETED',
      type: 'OUTGOING',
      destination: { destinationType: 'UMA_ADDRESS', umaAddress: at(name), currency },
      receivedAmount: { amount: received, currency: { code: currency } },
    });
    expect((await ada.account('USD')).balance).toBe(balance - 10_000);
  });

  test('$pending.long.usd stays under way for six minutes', async () => {
    const id = await pay(api, ada, at('$pending.long.usd'), 500);
    await untilItWaits(platform, id);
    clock.advance(300_000); // and the time that the test itself takes
    const { body: held } = await api('get', `/transactions/${id}`).expect(200);
    expect([held.status, held.settlementTimelineSeconds]).toEqual(['PROCESSING', 360]);
    clock.advance(61_000);
    await reached(api, id, 'COMPLETED');
  });

  test.each([
    ['$fail.compliance.usd', 'COMPLIANCE_REJECTED', 'COMPLETED', 0],
    ['$fail.delivery.usd', 'COUNTERPARTY_POST_TX_FAILED', 'COMPLETED', 0],
    ['$fail.refund.usd', 'COUNTERPARTY_POST_TX_FAILED', 'FAILED', 700],
  ])('%s fails with %s, its refund is %s', async (name, failureReason, status, lost) => {
    const { balance } = await ada.account('USD');
    const id = await pay(api, ada, at(name), 700);
    const failed = await shows(api, id, ({ refund }) => refund && refund.status !== 'PENDING');
    expect(failed).toMatchObject({ status: 'FAILED', failureReason, refund: { status } });
    expect((await ada.account('USD')).balance).toBe(balance - lost);
  });

  test('a receiver that asks who pays is told in senderCustomerInfo', async () => {
    const quote = umaQuote(await usd(), at('$fields.usd'), 100);
    const refused = await api('post', '/quotes').send({ ...quote, senderCustomerInfo: { FULL_NAME: 'Ada Obi' } });
    expect(refused.status).toBe(400);
    expect(refused.body).toMatchObject({ code: 'MISSING_MANDATORY_USER_INFO', details: { fields: ['BIRTH_DATE'] } });
    const senderCustomerInfo = { FULL_NAME: 'Ada Obi', BIRTH_DATE: '1990-01-15' };
    await api('post', '/quotes')
      .send({ ...quote, senderCustomerInfo })
      .expect(201);
  });

  test.each(Object.entries(errors))('%s answers %s', async (name, [code, stage]) => {
    const looked = await api('get', `/receiver/uma/${encodeURIComponent(at(name))}?customerId=${ada.id}`);
    if (stage === 'LOOKUP') expect(looked.body).toMatchObject({ code });
    else expect(looked.status).toBe(200);
    const quoted = await api('post', '/quotes').send(umaQuote(await usd(), at(name), 100));
    expect(quoted.body).toMatchObject({ code });
  });
});

describe('to a customer of this deployment', () => {
  test.each([
    ['another platform', () => other.api],
    ['the same platform', () => api],
  ])('of %s: an outgoing transaction here, an incoming one there, both complete', async (_, apiOf) => {
    const theirs = apiOf();
    const bob = await person(theirs, 'Bob Lee');
    const { balance } = await ada.account('USD');
    const id = await pay(api, ada, bob.umaAddress, 20_000, {
      destination: { destinationType: 'UMA_ADDRESS', umaAddress: bob.umaAddress.toUpperCase(), currency: 'EUR' },
      senderCustomerInfo: { FULL_NAME: 'Ada Obi' },
    });
    const sent = await reached(api, id, 'COMPLETED', 'FAILED');
    expect(sent).toMatchObject({
      status: 'COMPLETED',
      destination: { destinationType: 'UMA_ADDRESS', umaAddress: bob.umaAddress },
    });
    const [received] = await incoming(theirs, bob);
    expect(received).toMatchObject({
      type: 'INCOMING',
      status: 'COMPLETED',
      direction: 'CREDIT',
      source: { sourceType: 'UMA_ADDRESS', umaAddress: ada.umaAddress, currency: 'EUR' },
      receivedAmount: { amount: sent.receivedAmount.amount, currency: { code: 'EUR' } },
      counterpartyInformation: { FULL_NAME: 'Ada Obi' },
    });
    expect(received.id).not.toBe(id);
    expect((await ada.account('USD')).balance).toBe(balance - 20_000);
    expect((await bob.account('EUR')).balance).toBe(sent.receivedAmount.amount);
  });

  test('each ledger is balanced on its own, and what the one owes in clearing the other is owed', async () => {
    const here = await books(platform);
    const there = await books(platform, other.tenant);
    expect(here['clearing:EUR']).toBe(-there['clearing:EUR']!);
    for (const name of ['transit:USD', 'transit:EUR'])
      expect([here[name], there[name]]).toEqual([undefined, undefined]);
  });

  test('who cannot be paid, and who not by whom', async () => {
    const quote = async (umaAddress: string, more: object = {}) =>
      (await api('post', '/quotes').send(umaQuote(await usd(), umaAddress, 100, more))).body;
    expect(await quote(ada.umaAddress)).toMatchObject({ code: 'SELF_PAYMENT' });
    expect(await quote('$nobody@nowhere.example')).toMatchObject({ code: 'UMA_NOT_FOUND' });
    const errors = [{ field: 'destination.umaAddress', constraint: 'PATTERN' }];
    expect(await quote('nobody')).toMatchObject({ code: 'INVALID_UMA_ADDRESS', details: { errors } });
    const destination = { destinationType: 'UMA_ADDRESS', umaAddress: at('$success.usd'), currency: 'EUR' };
    expect(await quote('', { destination })).toMatchObject({ code: 'INVALID_CURRENCY', details: { allowed: ['USD'] } });
    const tooMuch = { lockedCurrencySide: 'RECEIVING', lockedCurrencyAmount: 100_000_001 };
    expect(await quote(at('$success.usd'), tooMuch)).toMatchObject({ code: 'AMOUNT_OUT_OF_RANGE' });
  });

  test('a receiver who has gone by the time of the execution takes nothing', async () => {
    const bob = await person(other.api, 'Gone Bob');
    const { balance } = await ada.account('USD');
    const { body: quote } = await api('post', '/quotes')
      .send(umaQuote(await usd(), bob.umaAddress, 300))
      .expect(201);
    await other.api('delete', `/customers/${bob.id}`);
    await api('post', `/quotes/${quote.id}/execute`).expect(200);
    const failed = await shows(api, quote.transactionId, ({ refund }) => refund?.status === 'COMPLETED');
    expect(failed).toMatchObject({ status: 'FAILED', failureReason: 'ACCOUNT_CANNOT_RECEIVE' });
    expect((await ada.account('USD')).balance).toBe(balance);
    const again = await api('post', '/quotes').send(umaQuote(await usd(), bob.umaAddress, 300));
    expect(again.body).toMatchObject({ code: 'UMA_NOT_FOUND' });
  });
});

test('every transaction is explained by its entries', async () => {
  expect(await unexplained(platform)).toEqual([]);
});
