import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { platformAccountId } from '../../apps/shared/provision.ts';
import { withSuffix } from '../../libs/domain/external-accounts/account.examples.ts';
import { eventually } from '../eventually.ts';
import { startTestPlatform, type TestPlatform } from '../platform.ts';
import { type Receiver, startReceiver } from '../receiver.ts';
import { Money } from './money.setup.ts';

let platform: TestPlatform;
let receiver: Receiver;
let usd: string;

beforeAll(async () => {
  platform = await startTestPlatform({ dispatcher: true });
  receiver = await startReceiver();
  usd = `InternalAccount:${platformAccountId(platform.tenant, 'USD')}`;
  await platform.api('patch', '/config').send({ webhookEndpoint: receiver.url }).expect(200);
});
afterAll(async () => {
  await platform.stop();
  await receiver.stop();
});

interface Webhook {
  id: string;
  type: string;
  sequence: number;
  data: { id: string; status: string; refund?: { status: string }; balance?: { amount: number } };
}

/** What was said of one resource, in the order of its sequence. */
const told = async (id: string, count: number) => (await receiver.about(id, count)) as unknown as Webhook[];

const pay = async (suffix: string) => {
  await platform.api('post', `/sandbox/internal-accounts/${usd}/fund`).send({ amount: 5_000 }).expect(200);
  const bank = { currency: 'USD', accountInfo: withSuffix('USD_ACCOUNT', suffix) };
  const { body: account } = await platform.api('post', '/platform/external-accounts').send(bank).expect(201);
  const quote = {
    source: { sourceType: 'ACCOUNT', accountId: usd },
    destination: { destinationType: 'ACCOUNT', accountId: account.id },
    lockedCurrencySide: 'SENDING',
    lockedCurrencyAmount: 5_000,
  };
  const { body } = await platform.api('post', '/quotes').send(quote).expect(201);
  await platform.api('post', `/quotes/${body.id}/execute`).expect(200);
  return body.transactionId as string;
};

test('every public step of a payment is told, each with the transaction as it stood then', async () => {
  const webhooks = await told(await pay('999'), 3);
  expect(webhooks.map(({ type, data }) => [type, data.status])).toEqual([
    ['OUTGOING_PAYMENT.PENDING', 'PENDING'],
    ['OUTGOING_PAYMENT.PROCESSING', 'PROCESSING'],
    ['OUTGOING_PAYMENT.COMPLETED', 'COMPLETED'],
  ]);
  const sequences = webhooks.map(({ sequence }) => sequence);
  expect([...new Set(sequences)]).toEqual(sequences);
});

type Destination = (money: Money, umaAddress: string) => [to: object | string, more?: object];

test.each<[string, Destination]>([
  ['with a description', (money) => [money.own('USD'), { description: 'Rent for the flat' }]],
  ['to a UMA address', (_, umaAddress) => [{ destinationType: 'UMA_ADDRESS', umaAddress, currency: 'USD' }]],
])('a payment %s is told as pending with all its texts', async (_, destination) => {
  const money = new Money(platform);
  const [payer, payee] = [await money.customer(), await money.customer()];
  await money.fund(payer.accounts.USD!, 1_000);
  const [to, more] = destination(money, payee.umaAddress);
  const { body } = await money.from(payer.accounts.USD!, to, 500, more).expect(201);
  const shown = await money.transaction(body.transactionId);
  const webhooks = await told(shown.id, 1);
  expect(webhooks.map(({ type, data }) => [type, data])).toEqual([['OUTGOING_PAYMENT.PENDING', shown]]);
});

test('a failure is told, then its refund', async () => {
  const webhooks = await told(await pay('004'), 5);
  expect(webhooks.map(({ type, data }) => [type, data.status, data.refund?.status])).toEqual([
    ['OUTGOING_PAYMENT.PENDING', 'PENDING', undefined],
    ['OUTGOING_PAYMENT.PROCESSING', 'PROCESSING', undefined],
    ['OUTGOING_PAYMENT.FAILED', 'FAILED', 'PENDING'],
    ['OUTGOING_PAYMENT.REFUND_PENDING', 'FAILED', 'PENDING'],
    ['OUTGOING_PAYMENT.REFUND_COMPLETED', 'FAILED', 'COMPLETED'],
  ]);
});

test('a deposit is told as an incoming payment, and the balance it made', async () => {
  await platform.api('post', `/sandbox/internal-accounts/${usd}/fund`).send({ amount: 777 }).expect(200);
  const { body } = await platform.api('get', '/transactions?type=INCOMING&limit=1').expect(200);
  const [incoming] = await told(body.data[0].id, 1);
  expect(incoming).toMatchObject({ type: 'INCOMING_PAYMENT.COMPLETED', data: { status: 'COMPLETED' } });
  const account = await platform.api('get', '/platform/internal-accounts?currency=USD').expect(200);
  const balance = account.body.data[0].balance.amount;
  const changes = await eventually(
    () => told(usd, 1),
    (all) => all.some(({ data }) => data.balance?.amount === balance),
  );
  expect(new Set(changes.map(({ type }) => type))).toEqual(new Set(['INTERNAL_ACCOUNT.BALANCE_UPDATED']));
});
