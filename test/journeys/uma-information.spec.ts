import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startTestPlatform, type TestPlatform } from '../platform.ts';
import { type Answer, type Receiver, setEndpoint, startReceiver } from '../receiver.ts';
import { funded, incoming, type Person, pay, person, reached } from './uma.setup.ts';

let platform: TestPlatform;
let other: Awaited<ReturnType<TestPlatform['another']>>;
let receiver: Receiver;
let ada: Person;
/** What the receiver's platform says when it is asked. */
let answer: Answer = 200;
const PENDING = 'INCOMING_PAYMENT.PENDING';

beforeAll(async () => {
  platform = await startTestPlatform();
  other = await platform.another();
  receiver = await startReceiver(() => answer);
  await setEndpoint(platform.engine.writePath, other.tenant, receiver.url);
  ada = await funded(platform.api, 'Ada Obi', 'USD', 100_000);
});
afterAll(async () => {
  await platform.stop();
  await receiver.stop();
});

/** Pays a new customer of the other platform, and answers both sides' transactions as soon as the payer's has ended. */
async function paid(name: string, senderCustomerInfo?: object) {
  const bob = await person(other.api, name);
  const id = await pay(platform.api, ada, bob.umaAddress, 1_000, senderCustomerInfo && { senderCustomerInfo });
  const sent = await reached(platform.api, id, 'COMPLETED', 'FAILED');
  const [received] = await incoming(other.api, bob);
  return { sent, received, asked: receiver.received.find(({ event }) => event.data.id === received.id) };
}

describe('what the platforms tell each other of their customers', () => {
  test('is shown as it was told, whatever its names are', async () => {
    const of = { FULL_NAME: 'Ada Obi', houseMinor: '12', 'flat.Minor': '-007' };
    const to = { FULL_NAME: 'Bob Lee', keyMinor: '77' };
    answer = { status: 200, body: { receiverCustomerInfo: to } };
    const { sent, received, asked } = await paid('Bob Lee', of);
    expect(asked!.event).toMatchObject({ type: PENDING, data: { counterpartyInformation: of } });
    expect(received).toMatchObject({ status: 'COMPLETED', counterpartyInformation: of });
    expect(sent).toMatchObject({ status: 'COMPLETED', counterpartyInformation: to });
    const quote = await platform.api('get', `/quotes/${sent.quoteId}`).expect(200);
    expect(quote.body.counterpartyInformation).toEqual(to);
  });

  test('may be objects and lists, for an address is one', async () => {
    const of = {
      POSTAL_ADDRESS: { lines: ['1 Main Street', null], floor: 3, country: { code: 'US', isMinor: false } },
    };
    answer = 200;
    expect((await paid('Bob Ng', of)).received).toMatchObject({ status: 'COMPLETED', counterpartyInformation: of });
    const source = { sourceType: 'ACCOUNT', accountId: (await ada.account('USD')).id };
    const destination = { destinationType: 'UMA_ADDRESS', umaAddress: ada.umaAddress };
    const quote = { source, destination, lockedCurrencySide: 'SENDING', lockedCurrencyAmount: 1 };
    const senderCustomerInfo = { POSTAL_ADDRESS: { a: [{ b: {} }] } };
    const refused = await platform.api('post', '/quotes').send({ ...quote, senderCustomerInfo });
    expect(refused.body).toMatchObject({
      code: 'INVALID_INPUT',
      details: { errors: [{ field: 'senderCustomerInfo.POSTAL_ADDRESS.a.0.b', constraint: 'TYPE' }] },
    });
  });

  test('is shown when it was told with the approval', async () => {
    answer = 202;
    const before = receiver.received.length;
    const bob = await person(other.api, 'Bob Late');
    const id = await pay(platform.api, ada, bob.umaAddress, 1_000);
    const asked = await receiver.until(before + 1, PENDING);
    const receiverCustomerInfo = { FULL_NAME: 'Bob Late', keyMinor: '77', FI_ADDRESS: { lines: ['x', { no: 1 }] } };
    const path = `/transactions/${asked.at(-1)!.event.data.id}/approve`;
    await other.api('post', path).send({ receiverCustomerInfo }).expect(200);
    const sent = await reached(platform.api, id, 'COMPLETED', 'FAILED');
    expect(sent).toMatchObject({ status: 'COMPLETED', counterpartyInformation: receiverCustomerInfo });
  });

  test.each([
    ['NUL', '{"A":"a\\u0000b"}'],
    ['a lone surrogate', '{"a\\ud800":"b"}'],
    ['thousands of levels', `{"A":${'['.repeat(30_000)}${']'.repeat(30_000)}}`],
  ])('is not taken from an answer that cannot be used: %s', async (name, info) => {
    answer = { status: 200, body: `{"receiverCustomerInfo":${info}}` };
    const { sent, received, asked } = await paid(`Bob ${name}`);
    expect(received).toMatchObject({ status: 'FAILED', failureReason: 'PAYMENT_APPROVAL_WEBHOOK_ERROR' });
    expect(sent).toMatchObject({ status: 'FAILED', failureReason: 'COUNTERPARTY_POST_TX_FAILED' });
    expect(sent.counterpartyInformation).toBeUndefined();
    const { body } = await other.api('get', `/webhooks/deliveries?resource=${received.id}`).expect(200);
    const delivery = body.data.find(({ id }: { id: string }) => id === asked!.event.id);
    expect(delivery.attempts).toEqual([
      {
        number: 1,
        attemptedAt: expect.any(String),
        responseStatus: 200,
        durationMs: expect.any(Number),
        error: 'UNUSABLE: The answer does not say what it decides in a way that can be used.',
      },
    ]);
  });
});
