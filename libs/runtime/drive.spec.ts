import { expect, test } from '@jest/globals';
import { MemoryEventStore } from '../adapters/memory/event-store.ts';
import { MemorySubjectKeys } from '../adapters/memory/subject-keys.ts';
import {
  type AccountState,
  account,
  CloseAccount,
  OpenAccount,
  ReceiveDeposit,
  ReopenAccount,
} from '../domain/accounts/account.ts';
import { EraseSender, ReceivePayment } from '../domain/incoming-payments/incoming-payment.commands.ts';
import { fromElsewhere } from '../domain/incoming-payments/incoming-payment.examples.ts';
import { receiveUmaPayment } from '../domain/incoming-payments/incoming-payment.process.ts';
import { incomingPayment } from '../domain/incoming-payments/incoming-payment.ts';
import { internalQuote, payoutQuote } from '../domain/payments/payment.examples.ts';
import { completePayment } from '../domain/payments/payment.process.ts';
import {
  ConfirmReceipt,
  ExecutePayment,
  type PaymentState,
  payment,
  QuotePayment,
} from '../domain/payments/payment.ts';
import type { Append } from '../kernel/event-store.port.ts';
import type { Command, Tenant } from '../kernel/messages.ts';
import { EventCodec } from './codec.ts';
import { Driver } from './drive.ts';
import { WritePath } from './execute.ts';

const tenant: Tenant = { platform: 'p', environment: 'sandbox' };
const deciders = [account, payment, incomingPayment];
const now = '2026-01-01T00:01:00.000Z';
const { paymentId } = internalQuote;

function world(store = new MemoryEventStore()) {
  const codec = new EventCodec(deciders, new MemorySubjectKeys());
  const clock = { nowMs: () => Date.parse(now) };
  const writePath = new WritePath({ store, codec, clock, writer: 'w', log: () => {} });
  const driver = new Driver(writePath, deciders);
  let sent = 0;
  const send = (command: Command) => {
    const decider = deciders.find((one) => one.commands.some(({ type }) => type === command.type))!;
    sent += 1;
    return writePath.execute(decider, command, { commandId: `c${sent}`, correlationId: 'r', actor: 'test', tenant });
  };
  return { store, writePath, driver, send };
}

async function funded(amountMinor: bigint, quote = internalQuote) {
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
  await one.send(new QuotePayment(quote));
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

/** The same store for a process that is slow to read one stream: `isReading` says that it wants to, and it waits for `goOn`. */
function slowTo(read: string, store: MemoryEventStore) {
  let goOn = () => {};
  let reached = () => {};
  const held = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const isReading = new Promise<void>((resolve) => {
    reached = resolve;
  });
  const slow = new Proxy(store, {
    get(target, name) {
      if (name !== 'loadStreams') {
        const value = Reflect.get(target, name, target);
        return typeof value === 'function' ? value.bind(target) : value;
      }
      return async (streams: string[]) => {
        if (streams.includes(read)) {
          reached();
          await held;
        }
        return target.loadStreams(streams);
      };
    },
  });
  return { slow, isReading, goOn };
}

async function ends(store: MemoryEventStore) {
  const { writePath } = world(store);
  const { state } = await writePath.state<PaymentState>(payment, paymentId);
  const accounts = ['source', 'destination'].map((id) => writePath.state<AccountState>(account, id));
  const balances = (await Promise.all(accounts)).map(({ state: { postedMinor, pendingMinor } }) => [
    postedMinor,
    pendingMinor,
  ]);
  return { phase: state.phase, refund: state.refund?.status, balances };
}

const more = (amountMinor: bigint) =>
  new ReceiveDeposit({
    tenantId: 'p.sandbox',
    platformCustomerId: 'c',
    currency: 'USD',
    accountId: 'source',
    amountMinor,
    counterpart: 'mint:USD',
    paymentId: 'more',
    reference: 'G',
  });

test.each([
  ['internal', internalQuote],
  ['payout', payoutQuote],
])('what one driver was refused, the other one is refused too, whatever came in between (%s)', async (_, quote) => {
  const { store, driver, send } = await funded(1n, quote);
  await send(new ExecutePayment({ paymentId, now }));
  const { slow, isReading, goOn } = slowTo('account-source', store);
  const late = world(slow).driver.drive<PaymentState>(completePayment, paymentId, { ...drive, revision: 1 });
  await isReading;
  const state = await driver.drive<PaymentState>(completePayment, paymentId, drive);
  expect([state.phase, state.refusal?.reason]).toEqual(['OPEN', 'INSUFFICIENT_FUNDS']);
  await send(more(200_000n));
  goOn();
  expect((await late).phase).toBe('OPEN');
  const balances = [
    [200_001n, 0n],
    [0n, 0n],
  ];
  expect(await ends(store)).toEqual({ phase: 'OPEN', refund: undefined, balances });
  expect(await types(store, 'account-source')).toEqual([
    'AccountOpened',
    'DepositReceived',
    'CommandRefused',
    'DepositReceived',
  ]);
});

const confirmed = new ConfirmReceipt({ paymentId, receiptDeliveryConfirmedAt: now, isDeposit: false });

test('a request does not wait for what a worker asks the outside world; another worker does', async () => {
  const { driver, send } = await funded(200_000n, payoutQuote);
  await send(new ExecutePayment({ paymentId, now }));
  let asked = () => {};
  const isAsked = new Promise<void>((resolve) => {
    asked = resolve;
  });
  const orders: ((answer: unknown) => void)[] = [];
  const rail = () => {
    asked();
    return new Promise((answer) => orders.push(answer));
  };
  const worker = driver.drive<PaymentState>(completePayment, paymentId, drive, { rail });
  await isAsked;
  const other = driver.drive<PaymentState>(completePayment, paymentId, drive, { rail });
  const requested = await driver.drive<PaymentState>(completePayment, paymentId, drive);
  expect([requested.phase, requested.status, orders.length]).toEqual(['SUBMITTING', 'PROCESSING', 1]);
  orders[0]!({ outcome: 'SETTLED' });
  const ends = await Promise.all([worker, other]);
  expect(ends.map(({ status }) => status)).toEqual(['COMPLETED', 'COMPLETED']);
  expect(orders.length).toBe(1);
});

test('what moves no process in between is no new step: the money moves once, whoever drives', async () => {
  const { store, driver, send } = await funded(20_000n);
  await send(new ExecutePayment({ paymentId, now }));
  const { slow, isReading, goOn } = slowTo('account-destination', store);
  const late = world(slow).driver.drive(completePayment, paymentId, { ...drive, revision: 1 });
  await isReading;
  await send(confirmed);
  expect((await driver.drive<PaymentState>(completePayment, paymentId, drive)).status).toBe('COMPLETED');
  goOn();
  await late;
  const balances = [
    [10_000n, 0n],
    [10_000n, 0n],
  ];
  expect(await ends(store)).toEqual({ phase: 'DONE', refund: undefined, balances });
});

test('what a driver sent before it died is looked for from its step on, however late it was said that a receipt was delivered', async () => {
  const { store, send } = await funded(20_000n);
  await send(new ExecutePayment({ paymentId, now }));
  const { slow, isReading } = slowTo('account-destination', store);
  void world(slow).driver.drive(completePayment, paymentId, { ...drive, revision: 1 });
  await isReading;
  for (let i = 0; i < 600; i++) await send(more(1n));
  await send(confirmed);
  await world(store).driver.drive(completePayment, paymentId, drive);
  expect((await ends(store)).balances).toEqual([
    [10_600n, 0n],
    [10_000n, 0n],
  ]);
});

test('the sender of an incoming payment is erased while its money arrives: it arrives once', async () => {
  const { store, driver, send } = await funded(1n);
  const { paymentId: incomingId } = fromElsewhere;
  const destination = { ...fromElsewhere.destination, accountId: 'destination' };
  await send(new ReceivePayment({ ...fromElsewhere, destination }));
  const calls = {
    approval: async () => ({ outcome: 'APPROVED' }),
    collect: async () => ({ outcome: 'SETTLED' }),
  };
  const { slow, isReading, goOn } = slowTo('account-destination', store);
  const late = world(slow).driver.drive(receiveUmaPayment, incomingId, drive, calls);
  await isReading;
  await send(new EraseSender({ paymentId: incomingId }));
  await driver.drive(receiveUmaPayment, incomingId, drive, calls);
  goOn();
  await late;
  expect((await types(store, `incomingPayment-${incomingId}`)).slice(-2)).toEqual([
    'SenderErased',
    'IncomingPaymentCompleted',
  ]);
  expect(await types(store, 'account-destination')).toEqual(['AccountOpened', 'AccountCredited']);
});

test('a delivery that one driver was refused is not made by the other one: the money is returned, and only that', async () => {
  const { store, driver, send } = await funded(10_000n);
  await send(new ExecutePayment({ paymentId, now }));
  const { slow, isReading, goOn } = slowTo('account-destination', store);
  const calls = { refund: async () => true };
  const late = world(slow).driver.drive(completePayment, paymentId, { ...drive, revision: 1 }, calls);
  await isReading;
  await send(new CloseAccount({ accountId: 'destination' }));
  await driver.drive(completePayment, paymentId, drive);
  await send(new ReopenAccount({ accountId: 'destination' }));
  goOn();
  await late;
  const balances = [
    [10_000n, 0n],
    [0n, 0n],
  ];
  expect(await ends(store)).toEqual({ phase: 'DONE', refund: 'COMPLETED', balances });
});

test('a refused execution can be asked for again, and goes through once there is money', async () => {
  const { store, driver, send } = await funded(1n);
  for (const expected of ['OPEN', 'OPEN']) {
    await send(new ExecutePayment({ paymentId, now }));
    expect((await driver.drive<PaymentState>(completePayment, paymentId, drive)).phase).toBe(expected);
  }
  await send(more(200_000n));
  await send(new ExecutePayment({ paymentId, now }));
  expect((await driver.drive<PaymentState>(completePayment, paymentId, drive)).status).toBe('COMPLETED');
  expect((await ends(store)).balances).toEqual([
    [190_001n, 0n],
    [10_000n, 0n],
  ]);
});
