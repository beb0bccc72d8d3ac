import { expect, test } from '@jest/globals';
import { MemoryEventStore } from '../adapters/memory/event-store.ts';
import { MemorySubjectKeys } from '../adapters/memory/subject-keys.ts';
import { account, OpenAccount, ReceiveDeposit } from '../domain/accounts/account.ts';
import { internalQuote } from '../domain/payments/payment.examples.ts';
import { completePayment } from '../domain/payments/payment.process.ts';
import { ExecutePayment, type PaymentState, payment, QuotePayment } from '../domain/payments/payment.ts';
import type { Append } from '../kernel/event-store.port.ts';
import type { Command, Tenant } from '../kernel/messages.ts';
import { EventCodec } from './codec.ts';
import { Driver } from './drive.ts';
import { WritePath } from './execute.ts';

const tenant: Tenant = { platform: 'p', environment: 'sandbox' };
const deciders = [account, payment];
const now = '2026-01-01T00:01:00.000Z';
const { paymentId } = internalQuote;

function world(store = new MemoryEventStore()) {
  const codec = new EventCodec(deciders, new MemorySubjectKeys());
  const clock = { nowMs: () => Date.parse(now) };
  const writePath = new WritePath({ store, codec, clock, log: () => {} });
  const driver = new Driver(writePath, deciders);
  let sent = 0;
  const send = (command: Command) => {
    const decider = deciders.find((one) => one.commands.some(({ type }) => type === command.type))!;
    sent += 1;
    return writePath.execute(decider, command, { commandId: `c${sent}`, correlationId: 'r', actor: 'test', tenant });
  };
  return { store, writePath, driver, send };
}

async function funded(amountMinor: bigint) {
  const one = world();
  const common = { tenantId: 'p.sandbox', platformCustomerId: 'c', currency: 'USD' };
  for (const accountId of ['source', 'destination'])
    await one.send(new OpenAccount({ ...common, accountId, type: 'INTERNAL_FIAT' }));
  const leg = {
    ...common,
    accountId: 'source',
    amountMinor,
    counterpart: 'mint:USD',
    paymentId: 'deposit',
    reference: 'F',
  };
  await one.send(new ReceiveDeposit(leg));
  await one.send(new QuotePayment(internalQuote));
  return one;
}

const drive = { tenant, correlationId: 'r' };
const types = async (store: MemoryEventStore, stream: string) =>
  (await store.readStream(stream, -1)).map(({ type }) => type);

test('a payment is driven to its end; driving it again, also from a fresh process, changes nothing', async () => {
  const { store, driver, send } = await funded(10_000n);
  await send(new ExecutePayment({ paymentId, now }));
  const first = await driver.drive<PaymentState>(completePayment, paymentId, drive);
  expect(first.status).toBe('COMPLETED');
  const head = await store.head();
  await driver.drive(completePayment, paymentId, drive);
  await world(store).driver.drive(completePayment, paymentId, drive);
  expect(await store.head()).toBe(head);
  expect(await types(store, 'account-destination')).toEqual(['AccountOpened', 'AccountCredited']);
});

test('two that drive the same payment at once, in two processes, move the money once', async () => {
  const { store, driver, send } = await funded(10_000n);
  await send(new ExecutePayment({ paymentId, now }));
  const others = [driver, world(store).driver, world(store).driver];
  const ends = await Promise.all(others.map((one) => one.drive<PaymentState>(completePayment, paymentId, drive)));
  expect(ends.map(({ status }) => status)).toEqual(['COMPLETED', 'COMPLETED', 'COMPLETED']);
  expect(await types(store, 'account-source')).toEqual(['AccountOpened', 'DepositReceived', 'AccountDebited']);
  expect(await types(store, 'account-destination')).toEqual(['AccountOpened', 'AccountCredited']);
});

test('what the source refuses is refused, and the payment is open again', async () => {
  const { driver, send } = await funded(9_999n);
  await send(new ExecutePayment({ paymentId, now }));
  const state = await driver.drive<PaymentState>(completePayment, paymentId, drive);
  expect(state.refusal).toEqual({ code: 'INVALID_INPUT', reason: 'INSUFFICIENT_FUNDS' });
  expect([state.phase, state.status]).toEqual(['OPEN', 'PENDING']);
});

/** A store whose commits can be read before the writer is told of them. */
class SlowToTell extends MemoryEventStore {
  hold: Promise<void> | undefined;

  override async append(batch: readonly Append[]) {
    const outcomes = await super.append(batch);
    await this.hold;
    return outcomes;
  }
}

test('a process is judged by the state that holds the event it was woken for, even before its writer knows the commit', async () => {
  const store = new SlowToTell();
  const { driver, send, writePath } = world(store);
  await send(
    new QuotePayment({ ...internalQuote, source: { ...internalQuote.source, kind: 'EXTERNAL' }, type: 'INCOMING' }),
  );
  let tell = () => {};
  store.hold = new Promise((resolve) => {
    tell = resolve;
  });
  const executing = send(new ExecutePayment({ paymentId, now }));
  while ((await store.readStream(`payment-${paymentId}`, 0)).length === 0)
    await new Promise((resolve) => setImmediate(resolve));
  const driven = driver.drive<PaymentState>(completePayment, paymentId, { ...drive, revision: 1 });
  tell();
  store.hold = undefined;
  await executing;
  expect((await driven).phase).toBe('SUBMITTING');
  expect((await writePath.state<PaymentState>(payment, paymentId)).state.status).toBe('PROCESSING');
});
