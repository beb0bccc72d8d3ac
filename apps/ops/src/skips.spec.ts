import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { categoryOf, streamIdOf } from '../../../libs/kernel/messages.ts';
import { eventually } from '../../../test/eventually.ts';
import { startTestPlatform, type TestPlatform } from '../../../test/platform.ts';
import { opsOn } from './ops.examples.ts';

let platform: TestPlatform;
beforeAll(async () => {
  platform = await startTestPlatform();
});
afterAll(() => platform.stop());

const { ops, json } = opsOn(() => platform);
const sql = (text: string, values: unknown[] = []) => platform.engine.pool.query(text, values);
const skipped = async () => (await json('status', '--sample', '0')).skipped;

interface Account {
  balance: { currency: { code: string } };
}

/** A resource like the one that the log's first event of a type begins, in an event that nobody can read until `repair` is called. */
async function unreadable(type: string): Promise<{ position: number; id: string; repair: () => Promise<unknown> }> {
  const { store } = platform.engine;
  const begun = (await platform.log()).find((one) => one.type === type)!;
  const [id, eventId] = [randomUUID(), randomUUID()];
  const event = { id: eventId, type, payload: '{', metadata: begun.metadata };
  const stream = `${categoryOf(begun.stream)}-${id}`;
  await store.append([{ stream, expectedRevision: -1, events: [event], answers: [] }]);
  const payload = begun.payload.replaceAll(streamIdOf(begun.stream), id);
  const repair = () => sql('UPDATE events SET payload = $1 WHERE id = $2', [payload, eventId]);
  return { position: await store.head(), id, repair };
}

const becomesStuck = () =>
  eventually(
    async () => (await sql(`SELECT 1 FROM checkpoints WHERE name = 'live' AND last_error IS NOT NULL`)).rowCount,
    (stuck) => stuck === 1,
  );

test('refuses to pass over a healthy event, one that there is not, and to take back what is not passed over', async () => {
  const head = await platform.engine.store.head();
  const refused = (err: string) => ({ code: 2, out: '', err: `${err}\n` });
  expect(await ops('rebuild', '--all', '--skip', '3')).toEqual(
    refused('Nothing is stuck at position 3: only an event that cannot be projected is passed over.'),
  );
  expect(await ops('rebuild', 'tokens', '--skip', `${head + 1}`)).toEqual(
    refused(`The log ends at position ${head}: there is no event at ${head + 1}.`),
  );
  expect(await ops('rebuild', '--all', '--unskip', '3')).toEqual(
    refused('The event at position 3 is not passed over.'),
  );
  expect(await ops('rebuild', 'tokens', '--unskip', '3')).toEqual(
    refused('error: --unskip needs --all: every read model lacks the event'),
  );
  // what is filled ahead is not finished, but nothing is wrong with the event that comes next
  expect((await ops('rebuild', 'tokens', '--ahead')).code).toBe(0);
  const { engine, tenant, api } = platform;
  await api('post', '/customers')
    .send({ customerType: 'INDIVIDUAL', fullName: 'Ada', currencies: ['USD'] })
    .expect(201);
  expect(await engine.readModel.caughtUp(head + 1, tenant)).toBe(true);
  expect(await ops('rebuild', 'tokens', '--skip', `${head + 1}`)).toEqual(
    refused(`Nothing is stuck at position ${head + 1}: only an event that cannot be projected is passed over.`),
  );
  expect(await skipped()).toEqual([]);
});

test('passes over the event that the projector is stuck at, and takes it back when it can be read', async () => {
  const { position, id: tokenId, repair } = await unreadable('TokenIssued');
  await becomesStuck();
  expect((await ops('rebuild', 'tokens', '--skip', `${position - 1}`)).code).toBe(2);
  expect(await ops('rebuild', 'tokens', '--skip', `${position}`)).toMatchObject({ code: 0, err: '' });
  expect(await skipped()).toEqual([position]);
  await eventually(
    async () => platform.projector.position,
    (reached) => reached === position,
  );
  expect(await ops('rebuild', 'tokens', '--skip', `${position}`)).toMatchObject({ code: 0, err: '' });

  const rows = async () => (await sql('SELECT status FROM tokens WHERE id = $1', [tokenId])).rows;
  await repair();
  expect(await rows()).toEqual([]);
  expect(await ops('rebuild', '--all', '--unskip', `${position}`)).toMatchObject({ code: 0, err: '' });
  expect([await skipped(), await rows()]).toEqual([[], [{ status: 'ACTIVE' }]]);
  expect((await ops('verify')).code).toBe(0);
});

test('an event that is taken back sets the timer that it would have set', async () => {
  const accounts = (await platform.api('get', '/platform/internal-accounts').expect(200)).body.data;
  const [from, to] = ['USD', 'EUR'].map((code) =>
    accounts.find(({ balance }: Account) => balance.currency.code === code),
  );
  const quote = {
    source: { sourceType: 'ACCOUNT', accountId: from.id },
    destination: { destinationType: 'ACCOUNT', accountId: to.id },
    lockedCurrencySide: 'SENDING',
    lockedCurrencyAmount: 100,
  };
  await platform.api('post', '/quotes').send(quote).expect(201);
  const { position, id: paymentId, repair } = await unreadable('PaymentQuoted');
  await becomesStuck();
  expect((await ops('rebuild', 'tokens', '--skip', `${position}`)).code).toBe(0);
  await eventually(
    async () => platform.projector.position,
    (reached) => reached === position,
  );
  const timers = async () => (await sql('SELECT process FROM timers WHERE stream = $1', [`payment-${paymentId}`])).rows;
  expect(await timers()).toEqual([]);

  await repair();
  expect(await ops('rebuild', '--all', '--unskip', `${position}`)).toMatchObject({ code: 0, err: '' });
  expect(await timers()).toEqual([{ process: 'completePayment' }]);
  expect((await ops('verify')).code).toBe(0);
});
