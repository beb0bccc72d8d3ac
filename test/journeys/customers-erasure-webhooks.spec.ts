import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { eraseCustomer } from '../../apps/shared/erase.ts';
import { customer, StartVerification } from '../../libs/domain/customers/customer.ts';
import { eventually } from '../eventually.ts';
import { startTestPlatform, type TestPlatform } from '../platform.ts';
import { type Receiver, setEndpoint, startReceiver } from '../receiver.ts';
import { traces, uuidOf } from './erasure.setup.ts';

const PERSON = /ebediah|quuxworthy/i;

let platform: TestPlatform;
let receiver: Receiver;
const tried = new Set<string>();

beforeAll(async () => {
  receiver = await startReceiver(({ event }) => {
    const status = tried.has(event.id) ? 200 : 500;
    tried.add(event.id);
    return { status, body: { received: event } };
  });
  platform = await startTestPlatform({ dispatcher: { delayMs: () => 0 } });
  await setEndpoint(platform.engine.writePath, platform.tenant, receiver.url);
});
afterAll(async () => {
  await platform.stop();
  await receiver.stop();
});

/** The deliveries about a customer, as soon as there are so many and all are over. */
async function deliveries(id: string, count: number) {
  return eventually(
    async () => (await platform.api('get', `/webhooks/deliveries?resource=${id}`).expect(200)).body.data,
    (found) => found.length === count && found.every(({ status }: { status: string }) => status === 'DELIVERED'),
  );
}

test('what receivers said of a person goes with it: of the last attempts and of earlier ones', async () => {
  const { body: one } = await platform
    .api('post', '/customers')
    .send({ customerType: 'INDIVIDUAL', fullName: 'Zebediah Quuxworthy', currencies: ['USD'] })
    .expect(201);
  const customerId = uuidOf(one.id);
  const envelope = { commandId: randomUUID(), correlationId: randomUUID(), actor: 'test', tenant: platform.tenant };
  await platform.engine.writePath.execute(customer, new StartVerification({ customerId }), envelope);
  await platform.api('delete', `/customers/${one.id}`).expect(200);
  const said = (await deliveries(one.id, 1)).map(({ attempts }: { attempts: object[] }) => attempts);
  expect(said).toEqual([[500, 200].map((responseStatus) => expect.objectContaining({ responseStatus }))]);
  expect(JSON.stringify(said)).toMatch(PERSON);

  await eraseCustomer(platform.engine, platform.tenant, customerId);
  expect(await traces(platform, PERSON)).toEqual({});
  const [delivery] = await deliveries(one.id, 1);
  expect(delivery.attempts).toEqual(
    [500, 200].map((responseStatus, i) => ({
      number: i + 1,
      attemptedAt: expect.any(String),
      responseStatus,
      durationMs: expect.any(Number),
    })),
  );
});
