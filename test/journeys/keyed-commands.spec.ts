import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { EventStore } from '../../libs/kernel/event-store.port.ts';
import { TestClock } from '../clock.ts';
import { eventually } from '../eventually.ts';
import type { TestInstance, TestPlatform } from '../platform.ts';
import { type Money, startMoney } from './money.setup.ts';

let platform: TestPlatform;
let money: Money;
const clock = new TestClock();
beforeAll(async () => {
  ({ platform, money } = await startMoney({ clock }));
});
afterAll(() => platform.stop());

type Request = (on: Pick<TestInstance, 'api'>) => ReturnType<TestInstance['api']>;

/** Sends a request to an API that dies right after its first commit. */
async function cutOff(request: Request): Promise<void> {
  const dying = await platform.instance();
  const { store, writePath } = dying.engine;
  const append = store.append.bind(store);
  let committed = () => {};
  const commit = new Promise<void>((resolve) => {
    committed = resolve;
  });
  store.append = (async (batch) => {
    await append(batch);
    committed();
    return new Promise<never>(() => {});
  }) as EventStore['append'];
  await expect(request(dying).timeout(300)).rejects.toThrow('Timeout');
  await commit;
  Object.assign(writePath, { drain: async () => {} }); // what it waits for died with it
}

/** As after so many events of others: those that remember commands for a while forget them with the next one. */
async function othersAreBusy(): Promise<void> {
  await platform.engine.pool.query('UPDATE log_head SET position = position + 60000');
}

/** How often an instance asks the store about streams while it answers. */
async function readsOf(on: Pick<TestInstance, 'api' | 'engine'>, request: Request): Promise<number> {
  const { store } = on.engine;
  let reads = 0;
  const originals = {
    readStream: store.readStream,
    readStreamSince: store.readStreamSince,
    loadStreams: store.loadStreams,
  };
  for (const [name, original] of Object.entries(originals)) {
    Object.assign(store, {
      [name]: (...args: never[]) => {
        reads += 1;
        return (original as (...args: never[]) => unknown).apply(store, args);
      },
    });
  }
  await request(on);
  Object.assign(store, originals);
  return reads;
}

const payment = (to: string, by: Money, more: object = {}) => ({
  source: { sourceType: 'ACCOUNT', accountId: by.own('USD') },
  destination: { destinationType: 'ACCOUNT', accountId: to },
  lockedCurrencySide: 'SENDING',
  lockedCurrencyAmount: 1_000,
  ...more,
});

test('requests are cut off after their first commit, what they began goes on, and their keys come again much later', async () => {
  await money.fund(money.own('USD'), 10_000);
  const bank = await money.bank('003'); // pending for six minutes
  const { body: open } = await platform.api('post', '/quotes').send(payment(bank, money)).expect(201);
  const { id: bob } = await money.customer();
  const quoted: Request = ({ api }) =>
    api('post', '/quotes')
      .set('Idempotency-Key', 'K1')
      .send(payment(bank, money, { immediatelyExecute: true }));
  const executed: Request = ({ api }) => api('post', `/quotes/${open.id}/execute`).set('Idempotency-Key', 'K2');
  const named: Request = ({ api }) =>
    api('patch', `/customers/${bob}`).set('Idempotency-Key', 'K3').send({ fullName: 'First Name' });
  for (const request of [quoted, executed, named]) await cutOff(request);
  const statuses = async () =>
    (await platform.api('get', '/transactions?type=OUTGOING').expect(200)).body.data.map(
      ({ status }: { status: string }) => status,
    );
  const all = (wanted: string) => (found: string[]) => found.length === 2 && found.every((one) => one === wanted);
  await eventually(statuses, all('PROCESSING'));
  await othersAreBusy();
  clock.advance(361_000);
  await eventually(statuses, all('COMPLETED'));
  await platform.api('patch', `/customers/${bob}`).send({ fullName: 'Second Name' }).expect(200);
  const answers = [];
  for (const request of [quoted, executed, named]) answers.push(await request(platform));
  expect(answers.map(({ status }) => status)).toEqual([201, 200, 200]);
  expect(answers.map(({ body }) => body.status ?? body.fullName)).toEqual(['COMPLETED', 'COMPLETED', 'Second Name']);
  expect(await statuses()).toEqual(['COMPLETED', 'COMPLETED']);
  expect(await money.balances(money.own('USD'))).toEqual([8_000, 8_000]);
});

test('what a request cut off has made is its answer, also where it could not be made any more', async () => {
  const { accounts } = await money.customer();
  await money.fund(accounts.USD!, 700);
  await money.fund(money.own('USD'), 1_000);
  const [kept, left] = [await money.bank('999'), await money.bank('888')];
  const emptied: Request = ({ api }) =>
    api('post', '/transfer-out')
      .set('Idempotency-Key', 'K5')
      .send({ source: { accountId: accounts.USD }, destination: { accountId: kept } });
  const [executed, open] = [true, false].map(
    (immediatelyExecute): Request =>
      ({ api }) =>
        api('post', '/quotes')
          .set('Idempotency-Key', `K6 ${immediatelyExecute}`)
          .send(payment(left, money, { immediatelyExecute })),
  ) as [Request, Request];
  for (const request of [emptied, executed, open]) await cutOff(request);
  const made = async () => (await platform.api('get', '/transactions?limit=3').expect(200)).body.data;
  const before = await eventually(
    made,
    (all) => all.map(({ status }: { status: string }) => status).join() === 'PENDING,COMPLETED,COMPLETED',
  );
  await platform.api('delete', `/customers/external-accounts/${left}`).expect(204);
  const answers = [];
  for (const request of [emptied, executed, open]) answers.push(await request(platform));
  expect(answers.map(({ status }) => status)).toEqual([201, 201, 201]);
  expect(answers[0]!.body).toMatchObject({ id: before[2].id, status: 'COMPLETED', sentAmount: { amount: 700 } });
  expect(answers[1]!.body).toMatchObject({ transactionId: before[1].id, status: 'COMPLETED' });
  expect(await money.balances(accounts.USD!)).toEqual([0, 0]);
  expect((await made()).map(({ id: one }: { id: string }) => one)).toEqual(before.map((one: { id: string }) => one.id));
  const { rows } = await platform.engine.pool.query<{ stream: string }>('SELECT stream FROM keyed_answers');
  const streams = before.map(({ id: one }: { id: string }) => one.replace('Transaction:', 'payment-'));
  expect(rows.map(({ stream }) => stream)).toEqual(expect.arrayContaining(streams)); // by which an erasure finds them
});

test('a key that is new costs no read', async () => {
  const { platform: quiet, money: own } = await startMoney({ worker: false }); // nobody else writes
  try {
    await own.fund(own.own('USD'), 10_000);
    const body = payment(await own.bank('999'), own, { immediatelyExecute: true });
    const immediately: Request = ({ api }) => api('post', '/quotes').send(body).expect(201);
    await immediately(quiet); // reads the platform and the accounts
    const without = await readsOf(quiet, immediately);
    const withKey = await readsOf(quiet, (on) => immediately(on).set('Idempotency-Key', 'K4'));
    expect([without, withKey]).toEqual([0, 0]);
  } finally {
    await quiet.stop();
  }
});
