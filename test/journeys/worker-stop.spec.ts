import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { railsOf } from '../../apps/shared/rails.ts';
import { umaOf } from '../../apps/shared/uma.ts';
import { createWorker, type Worker, type WorkerOptions } from '../../apps/worker/src/index.ts';
import type { Uma } from '../../libs/providers/uma.port.ts';
import { TestClock } from '../clock.ts';
import { eventually } from '../eventually.ts';
import { startTestPlatform, type TestPlatform } from '../platform.ts';
import { type Answer, type Receiver, startReceiver } from '../receiver.ts';
import { funded, incoming, pay, person } from './uma.setup.ts';

let platform: TestPlatform;
let receiver: Receiver;
const workers: Worker[] = [];
const questions: ((said: Answer) => void)[] = [];
beforeAll(async () => {
  platform = await startTestPlatform({ clock: new TestClock(), worker: false });
  receiver = await startReceiver(() => new Promise((answer) => questions.push(answer)));
  await platform.api('patch', '/config').send({ webhookEndpoint: receiver.url }).expect(200);
});
afterAll(async () => {
  for (const worker of workers) await worker.stop();
  await platform.stop();
  await receiver.stop();
});

async function startWorker(options: WorkerOptions = {}): Promise<Worker> {
  const { engine } = platform;
  const worker = createWorker(engine, railsOf(engine.clock, 1), { allowPrivateTargets: true, ...options });
  await worker.start();
  workers.push(worker);
  return worker;
}

async function shardsHeld(): Promise<number> {
  const { rows } = await platform.engine.pool.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM leases WHERE name ~ '^processes/\\d+$' AND owner IS NOT NULL`,
  );
  return rows[0]!.count;
}

test('a worker that is stopped while a platform thinks about an approval waits for its answer, and the next worker goes on', async () => {
  const { api } = platform;
  const bob = await person(api, 'Bob');
  const first = await startWorker();
  const body = { customerId: bob.id, receivingCurrencyCode: 'USD', receivingCurrencyAmount: 500 };
  const senderUmaAddress = '$somebody@elsewhere.example';
  await api('post', '/sandbox/uma/receive')
    .send({ ...body, senderUmaAddress })
    .expect(200);
  await eventually(
    async () => questions.length,
    (count) => count === 1,
  );
  const stopped = first.stop();
  await eventually(shardsHeld, (count) => count <= 1); // whatever ends without waiting has ended
  questions[0]!(200);
  await stopped;
  const next = await startWorker();
  const [payment] = await eventually(
    () => incoming(api, bob),
    ([one]) => one?.status === 'COMPLETED',
  );
  expect([payment.receivedAmount.amount, questions.length]).toEqual([500, 1]);
  expect((await bob.account('USD')).balance).toBe(500);
  await next.stop();
});

/**
 * The world of UMA, whose provider never answers the first time that it is to pay, unless it hangs up; `asked` are the references of its
 * orders.
 */
function silent() {
  const asked: string[] = [];
  const world = umaOf(platform.engine.clock, 1)('sandbox') as Uma;
  let hangUp = () => {};
  const silence = new Promise<never>((_, reject) => {
    hangUp = () => reject(new Error('the provider hung up'));
  });
  const pay: Uma['pay'] = (order) => (asked.push(order.reference) === 1 ? silence : world.pay(order));
  return { asked, hangUp, umaOf: () => ({ ...world, pay }) };
}

/** A payment to somebody elsewhere. */
async function paid(name: string): Promise<string> {
  const from = await funded(platform.api, name, 'USD', 1_000);
  const id = await pay(platform.api, from, '$success.usd@sandbox.uma.money', 400);
  return id.slice('Transaction:'.length);
}

const completed = (id: string) =>
  eventually(
    async () => (await platform.api('get', `/transactions/Transaction:${id}`)).body,
    ({ status }) => status === 'COMPLETED',
  );

const isAsked = (asked: string[]) =>
  eventually(
    async () => asked.length,
    (count) => count > 0,
  );

test('a provider that never answers is asked again, by the same reference', async () => {
  const { asked, umaOf } = silent();
  const worker = await startWorker({ umaOf, answerMs: 200 });
  const id = await paid('Carol');
  await completed(id);
  expect(asked.slice(0, 2)).toEqual([id, id]); // a machine that stands still for long makes it ask once more
  await worker.stop();
});

test('a worker that is stopped while a provider never answers ends, and the next one asks again', async () => {
  const { asked, hangUp, umaOf } = silent();
  const first = await startWorker({ umaOf, stopPatienceMs: 0 });
  const id = await paid('Dan');
  await isAsked(asked);
  await first.stop();
  expect([await shardsHeld(), asked]).toEqual([0, [id]]);
  await startWorker({ umaOf });
  hangUp(); // in the same process the first one's attempt is waited for
  await completed(id);
  expect(asked).toEqual([id, id]);
});
