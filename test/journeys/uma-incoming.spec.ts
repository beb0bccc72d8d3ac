import { createPublicKey } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { withSuffix } from '../../libs/domain/external-accounts/account.examples.ts';
import { SANDBOX_UMA_DOMAIN } from '../../libs/providers/uma.sandbox.table.ts';
import { verifyServiceSignature } from '../../libs/runtime/webhooks/signing.ts';
import { TestClock } from '../clock.ts';
import { eventually } from '../eventually.ts';
import { startTestPlatform, type TestPlatform } from '../platform.ts';
import { type Answer, type Received, type Receiver, startReceiver } from '../receiver.ts';
import { funded, incoming, type Person, pay, person, reached, shows, unexplained } from './uma.setup.ts';

let platform: TestPlatform;
let api: TestPlatform['api'];
let receiver: Receiver;
let bob: Person;
const clock = new TestClock();
const PENDING = 'INCOMING_PAYMENT.PENDING';
const sender = (name = '$kofi') => `${name}@${SANDBOX_UMA_DOMAIN}`;

/** What the platform says to the next questions, by the id of the transaction; 200 when nothing else is set. */
let answer: (question: Received) => Answer | Promise<Answer>;
const always = (said: Answer) => () => said;

beforeAll(async () => {
  platform = await startTestPlatform({ clock, dispatcher: true });
  api = platform.api;
  receiver = await startReceiver((request) => (request.event.type === PENDING ? answer(request) : 204));
  await api('patch', '/config').send({ webhookEndpoint: receiver.url }).expect(200);
  bob = await person(api, 'Bob Lee');
  answer = always(200);
});
afterAll(async () => {
  await platform.stop();
  await receiver.stop();
});

/** Somebody elsewhere pays the customer; answers the transaction's id. */
async function receive(to: Person, amount: number, more: object = {}): Promise<string> {
  const body = {
    senderUmaAddress: sender(),
    receiverUmaAddress: to.umaAddress,
    receivingCurrencyCode: 'USD',
    receivingCurrencyAmount: amount,
    ...more,
  };
  const received = await api('post', '/sandbox/uma/receive').send(body).expect(200);
  expect(received.body).toMatchObject({ type: 'INCOMING', status: 'PENDING', receivedAmount: { amount } });
  return received.body.id;
}

/** Waits until the platform was told these steps of an incoming payment, and no others, in this order. */
async function told(id: string, ...types: string[]): Promise<void> {
  const events = await receiver.about(id, types.length);
  expect(events.map(({ type }) => type)).toEqual(types.map((type) => `INCOMING_PAYMENT.${type}`));
}

const questions = (id: string) =>
  receiver.received.filter(({ event }) => event.type === PENDING && event.data.id === id);

const decide = (id: string, decision: 'approve' | 'reject', body: object = {}) =>
  api('post', `/transactions/${id}/${decision}`).send(body);

describe("the platform's answer to the webhook decides", () => {
  test('200 approves: the money is on the account, and everything was told in order', async () => {
    const { balance } = await bob.account('USD');
    const id = await receive(bob, 1_500);
    expect(await reached(api, id, 'COMPLETED', 'FAILED')).toMatchObject({
      status: 'COMPLETED',
      direction: 'CREDIT',
      source: { sourceType: 'UMA_ADDRESS', umaAddress: sender() },
      destination: { destinationType: 'ACCOUNT', accountId: (await bob.account('USD')).id },
    });
    expect((await bob.account('USD')).balance).toBe(balance + 1_500);
    const events = await receiver.about(id, 2);
    expect(events.map(({ type, data }) => [type, data.status])).toEqual([
      [PENDING, 'PENDING'],
      ['INCOMING_PAYMENT.COMPLETED', 'COMPLETED'],
    ]);
    expect(events[0]!.data.requestedReceiverCustomerInfoFields).toEqual([]);
  });

  test('a receipt that is confirmed later is shown as it was answered', async () => {
    const before = await reached(api, await receive(bob, 100), 'COMPLETED');
    clock.advance(60_000);
    const { body: answered } = await api('post', `/transactions/${before.id}/confirm`).send({}).expect(200);
    expect(Date.parse(answered.updatedAt)).toBeGreaterThan(Date.parse(before.updatedAt));
    const { body: shown } = await api('get', `/transactions/${before.id}`).expect(200);
    expect(shown).toEqual(answered);
  });

  test('the question is signed and recorded as every webhook is', async () => {
    const id = await receive(bob, 100);
    await reached(api, id, 'COMPLETED');
    const [question] = questions(id);
    const { body: keys } = await api('get', '/webhooks/keys').expect(200);
    const publicKey = createPublicKey(keys.publicKey);
    const header = String(question!.headers['x-service-signature']);
    expect(verifyServiceSignature({ header, body: question!.body, publicKey })).toBe(true);
    const { body } = await api('get', '/webhooks/deliveries?limit=100').expect(200);
    const delivery = body.data.find((one: { id: string }) => one.id === question!.event.id);
    expect(delivery).toMatchObject({ type: PENDING, resource: id, status: 'DELIVERED', attemptCount: 1 });
    expect(delivery.attempts).toMatchObject([{ number: 1, responseStatus: 200 }]);
  });

  test.each<[string, Answer, object]>([
    ['403', { status: 403, body: { reason: 'Not any more' } }, { status: 'REJECTED' }],
    [
      '422',
      { status: 422, body: { requiredFields: ['BIRTH_DATE'] } },
      { status: 'FAILED', failureReason: 'MISSING_MANDATORY_PAYEE_DATA' },
    ],
    ['500', 500, { status: 'FAILED', failureReason: 'PAYMENT_APPROVAL_WEBHOOK_ERROR' }],
    ['no answer', 'hang', { status: 'FAILED', failureReason: 'PAYMENT_APPROVAL_TIMED_OUT' }],
  ])('%s', async (_, said, outcome) => {
    answer = always(said);
    const { balance } = await bob.account('USD');
    const id = await receive(bob, 900);
    expect(await reached(api, id, 'REJECTED', 'FAILED', 'COMPLETED')).toMatchObject(outcome);
    await told(id, 'PENDING', 'FAILED');
    expect(questions(id)).toHaveLength(1);
    expect((await bob.account('USD')).balance).toBe(balance);
    answer = always(200);
  });

  test('202 leaves five seconds for /approve', async () => {
    answer = always(202);
    const id = await receive(bob, 250);
    await eventually(
      async () => questions(id),
      (asked) => asked.length === 1,
    );
    expect((await decide(id, 'approve').expect(200)).body.status).toMatch(/PROCESSING|COMPLETED/);
    await reached(api, id, 'COMPLETED');
    expect((await decide(id, 'approve').expect(409)).body.code).toBe('TRANSACTION_NOT_PENDING_PLATFORM_APPROVAL');
    expect((await decide(id, 'reject').expect(409)).body.code).toBe('TRANSACTION_NOT_PENDING_PLATFORM_APPROVAL');
    answer = always(200);
  });

  test('202 and /reject, and 202 and nothing', async () => {
    answer = always(202);
    const rejected = await receive(bob, 260);
    await eventually(
      async () => questions(rejected),
      (asked) => asked.length === 1,
    );
    expect((await decide(rejected, 'reject', { reason: 'no' }).expect(200)).body.status).toBe('REJECTED');
    const forgotten = await receive(bob, 270);
    await eventually(
      async () => questions(forgotten),
      (asked) => asked.length === 1,
    );
    clock.advance(5_000);
    expect(await reached(api, forgotten, 'FAILED', 'COMPLETED')).toMatchObject({
      failureReason: 'PAYMENT_APPROVAL_TIMED_OUT',
    });
    answer = always(200);
  });

  test('a decision by the API before the webhook is answered holds', async () => {
    answer = async ({ event }) => {
      await decide(String(event.data.id), 'reject').expect(200);
      return 200;
    };
    const id = await receive(bob, 280);
    await reached(api, id, 'REJECTED');
    await told(id, 'PENDING', 'FAILED');
    expect((await api('get', `/transactions/${id}`)).body.status).toBe('REJECTED');
    answer = always(200);
  });

  test('what the configuration asks for has to be told', async () => {
    const { body: config } = await api('get', '/config').expect(200);
    const supportedCurrencies = config.supportedCurrencies.map((one: { currencyCode: string }) =>
      one.currencyCode === 'MXN'
        ? { ...one, requiredCounterpartyFields: [{ name: 'FULL_NAME', mandatory: true }] }
        : one,
    );
    await api('patch', '/config').send({ supportedCurrencies }).expect(200);
    const mxn = { receivingCurrencyCode: 'MXN' };
    const silent = await receive(bob, 500, mxn);
    expect(await reached(api, silent, 'FAILED', 'COMPLETED')).toMatchObject({
      failureReason: 'MISSING_MANDATORY_PAYEE_DATA',
    });
    answer = always({ status: 200, body: { receiverCustomerInfo: { FULL_NAME: 'Bob Lee' } } });
    const open = await receive(bob, 600, mxn);
    await reached(api, open, 'COMPLETED');
    expect(questions(open)[0]!.event.data).toMatchObject({
      pendingReason: 'COUNTERPARTY_INFORMATION_REQUIRED',
      requestedReceiverCustomerInfoFields: [{ name: 'FULL_NAME', mandatory: true }],
    });
    answer = always(202);
    const late = await receive(bob, 700, mxn);
    await eventually(
      async () => questions(late),
      (asked) => asked.length === 1,
    );
    expect((await decide(late, 'approve').expect(400)).body.code).toBe('MISSING_MANDATORY_USER_INFO');
    await decide(late, 'approve', { receiverCustomerInfo: { FULL_NAME: 'Bob Lee' } }).expect(200);
    await reached(api, late, 'COMPLETED');
    answer = always(200);
  });
});

describe('where the money goes', () => {
  const withDefault = async (suffix: string) => {
    const one = await person(api, `Depositor ${suffix}`);
    const account = { currency: 'USD', accountInfo: withSuffix('USD_ACCOUNT', suffix), customerId: one.id };
    const added = await api('post', '/customers/external-accounts')
      .send({ ...account, defaultUmaDepositAccount: true })
      .expect(201);
    return { one, accountId: added.body.id as string };
  };

  test('to the default UMA deposit account, which takes its own currency only', async () => {
    const { one, accountId } = await withDefault('999');
    const id = await receive(one, 1_000);
    expect(await reached(api, id, 'COMPLETED', 'FAILED')).toMatchObject({
      status: 'COMPLETED',
      destination: { destinationType: 'ACCOUNT', accountId },
    });
    expect((await one.account('USD')).balance).toBe(0);
    const body = { senderUmaAddress: sender(), customerId: one.id, receivingCurrencyCode: 'EUR' };
    const refused = await api('post', '/sandbox/uma/receive')
      .send({ ...body, receivingCurrencyAmount: 5 })
      .expect(400);
    expect(refused.body).toMatchObject({ code: 'INVALID_CURRENCY', details: { allowed: ['USD'] } });
  });

  test.each(['002', '004', '005'])('an account of suffix %s: the sender gets it back', async (suffix) => {
    const { one } = await withDefault(suffix);
    const id = await receive(one, 1_000);
    const failed = await shows(api, id, ({ refund }) => refund?.status === 'COMPLETED');
    expect(failed).toMatchObject({ status: 'FAILED', failureReason: 'OFFRAMP_FAILED' });
    const completed = suffix === '005' ? ['COMPLETED'] : []; // it was paid out, and returned by the bank
    await told(id, 'PENDING', ...completed, 'FAILED', 'REFUND_PENDING', 'REFUND_COMPLETED');
  });

  test('a sender who cannot be reached: the refund fails', async () => {
    const { one } = await withDefault('004');
    const id = await receive(one, 1_000, { senderUmaAddress: sender('$fail.refund') });
    expect(await shows(api, id, ({ refund }) => refund?.status === 'FAILED')).toMatchObject({ status: 'FAILED' });
    await told(id, 'PENDING', 'FAILED', 'REFUND_FAILED');
  });

  test('what a bank returns goes back to the sender on the other platform', async () => {
    const other = await platform.another();
    const ada = await funded(other.api, 'Ada Obi', 'USD', 5_000);
    const { one } = await withDefault('005');
    const id = await pay(other.api, ada, one.umaAddress, 3_000);
    const returned = await shows(other.api, id, ({ refund }) => refund?.status === 'COMPLETED');
    // The bank may have returned it before the sender's side has heard that it had arrived.
    expect(returned.failureReason).toMatch(/^(PAYOUT_RETURNED|ACCOUNT_CANNOT_RECEIVE)$/);
    expect(returned.status).toBe('FAILED');
    expect((await ada.account('USD')).balance).toBe(5_000);
    expect(await incoming(api, one)).toMatchObject([{ status: 'FAILED', refund: { status: 'COMPLETED' } }]);
  });
});

test('what the sender’s platform asks of the receiver is told, and shown to the sender', async () => {
  const other = await platform.another();
  const { body: config } = await other.api('get', '/config').expect(200);
  const requiredCounterpartyFields = [{ name: 'FULL_NAME', mandatory: true }];
  const asking = (one: { currencyCode: string }) =>
    one.currencyCode === 'USD' ? { ...one, requiredCounterpartyFields } : one;
  await other
    .api('patch', '/config')
    .send({ supportedCurrencies: config.supportedCurrencies.map(asking) })
    .expect(200);
  const ada = await funded(other.api, 'Ada Obi', 'USD', 5_000);
  answer = always({ status: 200, body: { receiverCustomerInfo: { FULL_NAME: 'Bob Lee' } } });
  const id = await pay(other.api, ada, bob.umaAddress, 3_000);
  const sent = await reached(other.api, id, 'COMPLETED', 'FAILED');
  expect(sent).toMatchObject({ status: 'COMPLETED', counterpartyInformation: { FULL_NAME: 'Bob Lee' } });
  const { body: quote } = await other.api('get', `/quotes/${sent.quoteId}`).expect(200);
  expect(quote.counterpartyInformation).toEqual({ FULL_NAME: 'Bob Lee' });
  answer = always(200);
});

describe('from a sender', () => {
  test.each([
    ['$fail.compliance.usd', 'COMPLIANCE_REJECTED'],
    ['$fail.lnurlp', 'LNURLP_FAILED'],
    ['$fail.payreq', 'PAY_REQUEST_FAILED'],
    ['$fail.collection', 'COLLECTION_FAILED'],
    ['$fail.expired', 'QUOTE_EXPIRED'],
    ['$fail.execution', 'QUOTE_EXECUTION_FAILED'],
  ])('%s: %s', async (name, failureReason) => {
    const id = await receive(bob, 100, { senderUmaAddress: sender(name) });
    expect(await reached(api, id, 'FAILED', 'COMPLETED')).toMatchObject({ status: 'FAILED', failureReason });
  });

  test('whose money takes its time', async () => {
    const id = await receive(bob, 100, { senderUmaAddress: sender('$pending.long.usd') });
    await reached(api, id, 'PROCESSING');
    clock.advance(361_000);
    await reached(api, id, 'COMPLETED');
  });

  test('whom nobody knows, to nobody, of nothing', async () => {
    const body = { senderUmaAddress: sender(), receivingCurrencyCode: 'USD', receivingCurrencyAmount: 1 };
    const said = async (more: object) => (await api('post', '/sandbox/uma/receive').send({ ...body, ...more })).body;
    expect(await said({})).toMatchObject({ status: 400, code: 'INVALID_INPUT' });
    expect(await said({ receiverUmaAddress: '$x@y.example' })).toMatchObject({ status: 404, code: 'UMA_NOT_FOUND' });
    const nobody = 'Customer:00000000-0000-7000-8000-000000000000';
    expect(await said({ customerId: nobody })).toMatchObject({ status: 404, code: 'USER_NOT_FOUND' });
    expect(await said({ customerId: bob.id, senderUmaAddress: 'x' })).toMatchObject({ code: 'INVALID_UMA_ADDRESS' });
    expect(await said({ customerId: bob.id, receivingCurrencyAmount: 0 })).toMatchObject({ code: 'INVALID_INPUT' });
    const wrong = { senderUmaAddress: 'x', receiverUmaAddress: 'y', customerId: bob.id, receivingCurrencyAmount: 0 };
    expect((await said(wrong)).details.errors).toMatchObject([
      { field: 'receivingCurrencyAmount', constraint: 'MINIMUM' },
      { field: 'senderUmaAddress', constraint: 'PATTERN' },
      { field: 'receiverUmaAddress', constraint: 'PATTERN' },
      { field: 'receiverUmaAddress', constraint: 'CONFLICT' },
    ]);
    const missing = 'Transaction:00000000-0000-7000-8000-000000000000';
    expect((await decide(missing, 'approve').expect(404)).body.code).toBe('TRANSACTION_NOT_FOUND');
  });
});

test('every transaction is explained by its entries', async () => {
  expect(await unexplained(platform)).toEqual([]);
});
