import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { railsOf } from '../../apps/shared/rails.ts';
import { umaOf } from '../../apps/shared/uma.ts';
import { providerCalls } from '../../apps/worker/src/calls.ts';
import { counterpartId, umaCalls } from '../../apps/worker/src/uma-calls.ts';
import { receiveUmaPayment } from '../../libs/domain/incoming-payments/incoming-payment.process.ts';
import { deciders } from '../../libs/domain/index.ts';
import { completePayment } from '../../libs/domain/payments/payment.process.ts';
import { parsePublicId } from '../../libs/kernel/ids.ts';
import type { Tenant } from '../../libs/kernel/messages.ts';
import type { AnyProcess } from '../../libs/kernel/process.ts';
import { type Calls, Driver } from '../../libs/runtime/drive.ts';
import type { WritePath } from '../../libs/runtime/execute.ts';
import { eventually } from '../eventually.ts';
import { books, funded, incoming, type Person, pay, person, reached } from '../journeys/uma.setup.ts';
import { startTestPlatform, type TestInstance, type TestPlatform } from '../platform.ts';

/** Whatever a worker does after this point never happened: the process is dead. */
class Dead extends Error {}

/** Counts what touches the world, and dies at the n-th of it: before it, or after it and before anybody knows. */
class Fuse {
  count = 0;
  private readonly at: number;
  private readonly when: 'before' | 'after';

  constructor(at: number, when: 'before' | 'after') {
    this.at = at;
    this.when = when;
  }

  async over<T>(act: () => Promise<T>): Promise<T> {
    this.count += 1;
    if (this.count > this.at || (this.count === this.at && this.when === 'before')) throw new Dead();
    const done = await act();
    if (this.count === this.at) throw new Dead();
    return done;
  }
}

let platform: TestPlatform;
let other: Awaited<ReturnType<TestPlatform['another']>>;
let ada: Person;
let bob: Person;

beforeAll(async () => {
  platform = await startTestPlatform({ worker: false });
  other = await platform.another();
  ada = await funded(platform.api, 'Ada Obi', 'USD', 1_000_000);
  bob = await person(other.api, 'Bob Lee');
});
afterAll(() => platform.stop());

/** One life of a worker that carries on both sides of a payment, on an engine that remembers nothing of the lives before. */
async function live({ engine }: TestInstance, paymentId: string, fuse: Fuse): Promise<'ended' | 'died'> {
  const { writePath: real, clock } = engine;
  const writePath = new Proxy(real, {
    get: (target, name) =>
      name === 'execute'
        ? (...args: Parameters<WritePath['execute']>) => fuse.over(() => target.execute(...args))
        : typeof target[name as keyof WritePath] === 'function'
          ? (target[name as keyof WritePath] as () => unknown).bind(target)
          : target[name as keyof WritePath],
  });
  const uma = umaCalls({ writePath, umaOf: umaOf(clock, 1), clock });
  const approval = { ask: async () => ({ outcome: 'APPROVED' as const }), close: async () => {} };
  const calls = providerCalls(writePath, railsOf(clock, 1), uma, approval);
  const driver = new Driver(writePath, deciders);
  const sides: [AnyProcess, string, Tenant][] = [
    [completePayment, paymentId, platform.tenant],
    [receiveUmaPayment, counterpartId(paymentId), other.tenant],
  ];
  try {
    for (let round = 0; round < 20; round++) {
      const phases: string[] = [];
      for (const [process, id, tenant] of sides)
        phases.push(await carryOn(driver, writePath, process, id, tenant, calls));
      if (phases.every((phase) => phase === 'DONE')) return 'ended';
    }
  } catch (error) {
    if (error instanceof Dead) return 'died';
    throw error;
  }
  throw new Error('the payment does not come to an end');
}

/** As far as it goes by itself, then over what it waits for. */
async function carryOn(
  driver: Driver,
  writePath: WritePath,
  process: AnyProcess,
  id: string,
  tenant: Tenant,
  calls: Calls,
): Promise<string> {
  const state = await driver.drive<{ phase: string }>(process, id, { tenant, correlationId: id }, calls);
  const due = process.dueAt(state);
  const wake = due && process.wake(state, due);
  if (wake) {
    const envelope = { commandId: crypto.randomUUID(), correlationId: id, actor: 'test', tenant };
    await writePath.execute(process.decider, wake, envelope);
  }
  return state.phase;
}

/** Other processes have written it, and what two platforms are shown comes over two partitions of the feed. */
const holds = (one: Person, amount: number) =>
  eventually(
    () => one.account('USD'),
    ({ balance }) => balance === amount,
  );

test('wherever a worker dies between two platforms, the payment arrives once, and each ledger is balanced', async () => {
  let dead = 0;
  let paid = 0;
  for (const when of ['before', 'after'] as const) {
    for (let at = 1; ; at++) {
      const id = await pay(platform.api, ada, bob.umaAddress, 1_000);
      const paymentId = parsePublicId('Transaction', id)!;
      paid += 1_000;
      const first = await live(await platform.instance(), paymentId, new Fuse(at, when));
      if (first === 'died') {
        dead += 1;
        const rest = await live(await platform.instance(), paymentId, new Fuse(Number.POSITIVE_INFINITY, when));
        expect(rest).toBe('ended');
      }
      await reached(platform.api, id, 'COMPLETED');
      await holds(bob, paid);
      await holds(ada, 1_000_000 - paid);
      if (first === 'ended') break;
    }
  }
  expect(dead).toBeGreaterThan(10);
  const received = await eventually(
    () => incoming(other.api, bob),
    (all) => all.every(({ status }) => status === 'COMPLETED'),
  );
  expect(received.length).toBe(Math.min(paid / 1_000, 20));
  const here = await books(platform);
  const there = await books(platform, other.tenant);
  expect(here).toEqual({ 'clearing:USD': paid, 'mint:USD': -1_000_000 });
  expect(there).toEqual({ 'clearing:USD': -paid });
}, 600_000);
