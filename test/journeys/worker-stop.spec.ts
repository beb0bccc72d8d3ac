import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { railsOf } from '../../apps/shared/rails.ts';
import { createWorker, type Worker } from '../../apps/worker/src/index.ts';
import { TestClock } from '../clock.ts';
import { eventually } from '../eventually.ts';
import { startTestPlatform, type TestPlatform } from '../platform.ts';
import { type Answer, type Receiver, startReceiver } from '../receiver.ts';
import { incoming, person } from './uma.setup.ts';

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

async function startWorker(): Promise<Worker> {
  const { engine } = platform;
  const worker = createWorker(engine, railsOf(engine.clock, 1), { allowPrivateTargets: true });
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
  await startWorker();
  const [payment] = await eventually(
    () => incoming(api, bob),
    ([one]) => one?.status === 'COMPLETED',
  );
  expect([payment.receivedAmount.amount, questions.length]).toEqual([500, 1]);
  expect((await bob.account('USD')).balance).toBe(500);
});
