import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { verify } from '../../apps/ops/src/verify.ts';
import { eraseCustomer } from '../../apps/shared/erase.ts';
import { projections } from '../../projections/index.ts';
import { eventually } from '../eventually.ts';
import { startTestPlatform, type TestPlatform } from '../platform.ts';
import { type Receiver, setEndpoint, startReceiver } from '../receiver.ts';
import { traces, uuidOf } from './erasure.setup.ts';
import { funded, incoming, type Person, pay, person, reached, umaQuote } from './uma.setup.ts';

const ERASED = '$erased@erased.invalid';

let platform: TestPlatform;
let api: TestPlatform['api'];
let domain: string;
let receiver: Receiver;
const keyed = (path: string) => api('post', path).set('Idempotency-Key', randomUUID());

beforeAll(async () => {
  receiver = await startReceiver(({ event }) =>
    event.type === 'INCOMING_PAYMENT.PENDING'
      ? { status: 200, body: { receiverCustomerInfo: { FULL_NAME: 'Robertus Pingoworthy' } } }
      : 204,
  );
  platform = await startTestPlatform({ dispatcher: true });
  ({ api } = platform);
  domain = (await api('get', '/config').expect(200)).body.umaDomain;
  await setEndpoint(platform.engine.writePath, platform.tenant, receiver.url);
});
afterAll(async () => {
  await platform.stop();
  await receiver.stop();
});

/** Rows are what the log tells without the key: whatever is left would be there, too, if they were made anew. */
const differing = async () => (await verify(platform.engine, projections)).findings;

/** Deletes and erases a customer, whose money goes to the platform first. */
async function erase({ id, account }: Person) {
  const { id: accountId, balance } = await account('USD');
  if (balance > 0) {
    const own = await api('get', '/platform/internal-accounts?currency=USD').expect(200);
    const all = {
      source: { sourceType: 'ACCOUNT', accountId },
      destination: { destinationType: 'ACCOUNT', accountId: own.body.data[0].id },
      lockedCurrencySide: 'SENDING',
      lockedCurrencyAmount: balance,
      immediatelyExecute: true,
    };
    await api('post', '/quotes').send(all).expect(201);
  }
  await api('delete', `/customers/${id}`).expect(200);
  return eraseCustomer(platform.engine, platform.tenant, uuidOf(id));
}

/** As soon as both sides of a payment between customers are complete, and all about them is delivered. */
async function settled(id: string, to: Person) {
  await reached(api, id, 'COMPLETED');
  const [received] = await incoming(api, to);
  await eventually(
    async () => (await api('get', '/webhooks/deliveries?status=PENDING').expect(200)).body.totalCount,
    (pending) => pending === 0,
  );
  return received.id as string;
}

describe('of a payment by UMA address between two customers of one platform', () => {
  const SENDER = /zebediah|quuxworthy/i;
  const RECEIVER = /robertus|pingoworthy/i;
  let [zebediah, robertus]: Person[] = [];
  let [sent, received] = ['', ''];

  beforeAll(async () => {
    zebediah = await funded(api, 'Zebediah Quuxworthy', 'USD', 1_000);
    await api('patch', `/customers/${zebediah.id}`)
      .send({ umaAddress: `$zebediah@${domain}` })
      .expect(200);
    robertus = await person(api, 'Robertus Pingoworthy', { umaAddress: `$robertus@${domain}`, currencies: ['USD'] });
    const { id } = await zebediah.account('USD');
    const more = { senderCustomerInfo: { FULL_NAME: 'Zebediah Quuxworthy' }, description: 'For the flat' };
    const { body: quote } = await keyed('/quotes')
      .send(umaQuote(id, robertus.umaAddress, 1_000, more))
      .expect(201);
    sent = quote.transactionId;
    await keyed(`/quotes/${quote.id}/execute`).expect(200);
    received = await settled(sent, robertus);
    for (const transaction of [sent, received])
      await keyed(`/transactions/${transaction}/confirm`).send({}).expect(200);
  });

  test('the receiver’s platform is asked with what is known of the sender', () => {
    const asked = receiver.received.filter(({ event }) => event.type === 'INCOMING_PAYMENT.PENDING');
    expect(asked.map(({ event: { data } }) => [data.id, data.source, data.counterpartyInformation])).toEqual([
      [received, expect.objectContaining({ umaAddress: `$zebediah@${domain}` }), { FULL_NAME: 'Zebediah Quuxworthy' }],
    ]);
  });

  test('remembered answers hold nothing in clear', async () => {
    const { rows } = await platform.engine.pool.query('SELECT body FROM keyed_answers');
    expect(rows.filter(({ body }) => SENDER.test(body) || RECEIVER.test(body))).toEqual([]);
  });

  test('nothing is left of a receiver who was erased; the rest is still the payer’s', async () => {
    const before = (await api('get', `/transactions/${sent}`).expect(200)).body;
    expect(before).toMatchObject({
      destination: { umaAddress: robertus!.umaAddress },
      counterpartyInformation: { FULL_NAME: 'Robertus Pingoworthy' },
    });
    expect(await erase(robertus!)).toMatchObject({ otherSides: 1, answers: 4 });
    expect(await traces(platform, RECEIVER)).toEqual({});
    const { counterpartyInformation: _, ...rest } = before;
    const shown = { ...rest, destination: { ...before.destination, umaAddress: ERASED } };
    expect((await api('get', `/transactions/${sent}`).expect(200)).body).toEqual(shown);
    await keyed(`/transactions/${received}/confirm`).send({}).expect(200);
    await api('get', `/transactions/${received}`).expect(200);
    expect(await traces(platform, RECEIVER)).toEqual({});
    expect(await differing()).toEqual([]);
  });

  test('nothing is left of a sender who was erased, nor does a later event bring it back', async () => {
    const maria = await person(api, 'Maria Lee');
    const ofMaria = await settled(await paidBack(maria), maria);
    const before = (await api('get', `/transactions/${ofMaria}`).expect(200)).body;
    expect(before).toMatchObject({
      source: { umaAddress: `$zebediah@${domain}` },
      counterpartyInformation: { FULL_NAME: 'Zebediah Quuxworthy' },
    });
    expect(await erase(zebediah!)).toMatchObject({ otherSides: 2 });
    const { counterpartyInformation: _, ...rest } = before;
    const shown = { ...rest, source: { ...before.source, umaAddress: ERASED } };
    expect((await api('get', `/transactions/${ofMaria}`).expect(200)).body).toEqual(shown);
    await keyed(`/transactions/${ofMaria}/confirm`).send({}).expect(200);
    await api('get', `/transactions/${ofMaria}`).expect(200);
    expect(await traces(platform, SENDER)).toEqual({});
    expect(await differing()).toEqual([]);
  });

  async function paidBack(to: Person): Promise<string> {
    const { id } = await zebediah!.account('USD');
    await api('post', `/sandbox/internal-accounts/${id}/fund`).send({ amount: 500 }).expect(200);
    return pay(api, zebediah!, to.umaAddress, 500, { senderCustomerInfo: { FULL_NAME: 'Zebediah Quuxworthy' } });
  }
});
