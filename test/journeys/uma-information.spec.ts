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

  test('is shown when it was told with the approval', async () => {
    answer = 202;
    const bob = await person(other.api, 'Bob Late');
    const id = await pay(platform.api, ada, bob.umaAddress, 1_000);
    const asked = await receiver.until(2, PENDING);
    const receiverCustomerInfo = { FULL_NAME: 'Bob Late', keyMinor: '77' };
    const path = `/transactions/${asked.at(-1)!.event.data.id}/approve`;
    await other.api('post', path).send({ receiverCustomerInfo }).expect(200);
    const sent = await reached(platform.api, id, 'COMPLETED', 'FAILED');
    expect(sent).toMatchObject({ status: 'COMPLETED', counterpartyInformation: receiverCustomerInfo });
  });
});
