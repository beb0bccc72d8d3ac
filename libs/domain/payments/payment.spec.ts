import { describe, expect, test } from '@jest/globals';
import { AT, given, testEveryCell } from '../../../test/transition-cells.ts';
import { CreditAccount, DebitAccount, PendFunds, PostFunds, VoidFunds } from '../accounts/account.ts';
import type { PaymentEvent } from './payment.events.ts';
import {
  cryptoFundedQuote,
  fundedPayoutQuote,
  fundedQuote,
  internalQuote,
  payoutQuote,
  pullPayoutQuote,
  pullQuote,
} from './payment.examples.ts';
import { completePayment } from './payment.process.ts';
import {
  CancelPayment,
  CompletePayment,
  ConfirmReceipt,
  EraseReceiver,
  ExecutePayment,
  ExpirePayment,
  FailDelivery,
  type PaymentPhase,
  type PaymentState,
  payment,
  paymentTransitions,
  QuotePayment,
  ReceiveFunding,
  RecordCancelAnswer,
  RecordRailAnswer,
  RecordRefundAnswer,
  RefuseExecution,
  ReversePlatformFee,
  SetRefundAside,
  SettleRefund,
  StartPayment,
  WakePayment,
} from './payment.ts';

const { paymentId } = internalQuote;
const now = '2026-01-01T00:01:00.000Z';
const late = '2026-01-01T00:05:00.001Z';
const fact = <T extends PaymentEvent['type']>(type: T, more: object = {}) => ({ type, data: { paymentId, ...more } });

const open: PaymentState = { ...payment.initial, ...payoutQuote, phase: 'OPEN', createdAt: AT, updatedAt: AT };
const at = (phase: PaymentPhase, more: Partial<PaymentState> = {}): PaymentState => ({ ...open, phase, ...more });
const refund = { reference: 'PAY-1-REFUND', initiatedAt: AT, status: 'PENDING', reason: 'TRANSACTION_FAILED' } as const;

const states: Record<PaymentPhase, PaymentState> = {
  NONE: payment.initial,
  OPEN: open,
  EXECUTING: at('EXECUTING'),
  SUBMITTING: at('SUBMITTING', { startedAt: AT }),
  WAITING: at('WAITING', { waitUntil: AT }),
  CANCELLING: at('CANCELLING', { cancelRequestedAt: AT }),
  SETTLING: at('SETTLING'),
  WATCHING: at('WATCHING', { waitUntil: AT }),
  CHECKING_RETURN: at('CHECKING_RETURN'),
  REFUNDING: at('REFUNDING', { refund }),
  RETURNING_FEE: at('RETURNING_FEE', { refund }),
  RETURNING: at('RETURNING', { refund }),
  SETTING_ASIDE: at('SETTING_ASIDE', { refund }),
  DONE: at('DONE'),
  EXPIRED: at('EXPIRED'),
  REFUSED: at('REFUSED'),
};

describe('every cell of the transition table', () => {
  testEveryCell(payment, paymentTransitions, {
    given: (phase, command) => ({
      ...states[phase as PaymentPhase],
      ...(command === 'ReceiveFunding' && phase === 'OPEN' && { funding: fundedPayoutQuote.funding! }),
      ...(command === 'CancelPayment' && { destination: { ...payoutQuote.destination, paymentRail: 'WIRE' as const } }),
    }),
    when: {
      QuotePayment: new QuotePayment(payoutQuote),
      ExecutePayment: new ExecutePayment({ paymentId, now }),
      RefuseExecution: new RefuseExecution({ paymentId, code: 'INVALID_INPUT' }),
      StartPayment: new StartPayment({ paymentId }),
      RecordRailAnswer: new RecordRailAnswer({ paymentId, answer: { outcome: 'SETTLED' } }),
      WakePayment: new WakePayment({ paymentId, now }),
      CompletePayment: new CompletePayment({ paymentId }),
      FailDelivery: new FailDelivery({ paymentId, isFeeCredited: false }),
      RecordRefundAnswer: new RecordRefundAnswer({ paymentId, isAccepted: true }),
      ReversePlatformFee: new ReversePlatformFee({ paymentId, isCovered: false }),
      SettleRefund: new SettleRefund({ paymentId }),
      ExpirePayment: new ExpirePayment({ paymentId, now: late }),
      ReceiveFunding: new ReceiveFunding({ paymentId, currency: 'USD', amountMinor: 100_000n, now }),
      CancelPayment: new CancelPayment({ paymentId, now }),
      RecordCancelAnswer: new RecordCancelAnswer({ paymentId, isAccepted: true }),
      SetRefundAside: new SetRefundAside({ paymentId }),
      ConfirmReceipt: new ConfirmReceipt({ paymentId, receiptDeliveryConfirmedAt: AT, isDeposit: true }),
      EraseReceiver: new EraseReceiver({ paymentId }),
    },
    statusOf: ({ phase }: PaymentState) => phase,
  });
});

describe('a quote', () => {
  const quoted = { type: 'PaymentQuoted', data: payoutQuote };

  test('that executes at once is quoted and requested together', () => {
    const quote = { ...internalQuote, immediatelyExecute: true };
    given(payment)
      .when(new QuotePayment({ ...quote, description: 'Rent' }))
      .leadsTo(
        { type: 'PaymentQuoted', data: { ...quote, descriptions: 1 } },
        { type: 'PaymentDescribed', data: { paymentId, subject: 'ada', description: 'Rent' } },
        fact('ExecutionRequested'),
      );
  });

  test('is executed until its very expiry, and refused after it', () => {
    const executed = new ExecutePayment({ paymentId, now: payoutQuote.expiresAt });
    given(payment, quoted)
      .when(executed)
      .leadsTo(fact('ExecutionRequested', { day: '2026-01-01' }));
    given(payment, quoted)
      .when(new ExecutePayment({ paymentId, now: late }))
      .rejects('CONFLICT', 'QUOTE_EXPIRED');
  });

  test('whose platform fee has no account to go to fails when it is executed', () => {
    const { platformFeeAccountId: _, ...quote } = { ...payoutQuote, platformFeeAccountId: undefined };
    const terms = { ...quote.terms, platformFeeMinor: 50n, convertedMinor: 99_450n };
    const failed = { failureReason: 'QUOTE_EXECUTION_FAILED', isRefunded: false };
    given(payment, { type: 'PaymentQuoted', data: { ...quote, terms } })
      .when(new ExecutePayment({ paymentId, now }))
      .leadsTo(
        fact('ExecutionRequested', { day: '2026-01-01' }),
        fact('PaymentStarted'),
        fact('PaymentFailed', failed),
      );
  });

  test('does not expire early', () => {
    given(payment, quoted).when(new ExpirePayment({ paymentId, now })).leadsTo();
  });

  test('that was refused for lack of funds is open again, or gone when it was to execute at once', () => {
    const refused = [fact('ExecutionRequested'), fact('ExecutionRefused', { code: 'INVALID_INPUT' })];
    expect(given(payment, quoted, ...refused).state).toMatchObject({ phase: 'OPEN', status: 'PENDING' });
    const immediate = { type: 'PaymentQuoted', data: { ...payoutQuote, immediatelyExecute: true } };
    expect(given(payment, immediate, ...refused).state).toMatchObject({ phase: 'REFUSED', status: 'PENDING' });
  });
});

test.each([
  ['asks for more time', { outcome: 'PENDING', checkAt: late } as const],
  ['says that it still may', { outcome: 'SETTLED', watchUntil: late } as const],
])('a rail that is asked whether a payout came back and %s is asked that again, and pays once', (_, answer) => {
  const checking = [
    { type: 'PaymentQuoted', data: payoutQuote },
    fact('ExecutionRequested'),
    fact('PaymentStarted'),
    fact('RailAccepted', { watchUntil: now }),
    fact('PaymentCompleted'),
    fact('PaymentWoken'),
  ];
  const pending = fact('RailPending', { checkAt: late });
  given(payment, ...checking)
    .when(new RecordRailAnswer({ paymentId, answer }))
    .leadsTo(pending);
  const { state } = given(payment, ...checking, pending, fact('PaymentWoken'));
  expect(state).toMatchObject({ phase: 'CHECKING_RETURN', status: 'COMPLETED' });
});

test('what came back for an account that is closed by then is set aside, from a rail as from another platform', () => {
  const setAside = (destination: object) =>
    given(
      payment,
      {
        type: 'PaymentQuoted',
        data: { ...internalQuote, destination: { ...payoutQuote.destination, ...destination } },
      },
      fact('ExecutionRequested'),
      fact('PaymentStarted'),
      fact('RailAccepted', { watchUntil: now }),
      fact('PaymentCompleted'),
      fact('PaymentWoken'),
      fact('PaymentFailed', { failureReason: 'PAYOUT_RETURNED', isRefunded: true }),
      fact('RefundAccepted'),
      fact('RefundRefused'),
    ).when(new SettleRefund({ paymentId }));
  const entry = { currency: 'USD', amountMinor: 10_000n };
  const asideFrom = (outside: string) =>
    fact('RefundFailed', {
      entries: [
        { from: `${outside}:USD`, to: 'transit:USD', ...entry },
        { from: 'transit:USD', to: 'suspense:USD', ...entry },
      ],
    });
  setAside({}).leadsTo(asideFrom('rail'));
  setAside({ kind: 'UMA', uma: { kind: 'HERE', tenantId: 'q.sandbox', customerId: 'bob' } }).leadsTo(
    asideFrom('clearing'),
  );
});

test('a cancelled payout whose refund failed has failed, too', () => {
  const quoted = { type: 'PaymentQuoted', data: payoutQuote };
  const cancelled = [fact('ExecutionRequested'), fact('PaymentStarted'), fact('PaymentCancelled')];
  const { state } = given(payment, quoted, ...cancelled, fact('RefundRefused'), fact('RefundFailed'));
  expect(state).toMatchObject({
    phase: 'DONE',
    status: 'FAILED',
    failureReason: 'COUNTERPARTY_POST_TX_FAILED',
    refund: { reason: 'USER_CANCELLATION', status: 'FAILED' },
  });
});

describe('a quote that waits for money', () => {
  const quoted = { type: 'PaymentQuoted', data: fundedQuote };
  const receive = (more: object = {}) =>
    new ReceiveFunding({ paymentId, currency: 'USD', amountMinor: 10_000n, now, ...more });
  const cameIn = (amountMinor: bigint) =>
    fact('FundingReceived', {
      amountMinor,
      entries: [{ from: 'rail:USD', to: 'transit:USD', currency: 'USD', amountMinor }],
    });

  test('is not executed', () => {
    given(payment, quoted).when(new ExecutePayment({ paymentId, now })).rejects('INVALID_INPUT', 'FUNDING_REQUIRED');
  });

  test('goes on with exactly the amount', () => {
    given(payment, quoted).when(receive()).leadsTo(cameIn(10_000n), fact('PaymentStarted'));
    expect(given(payment, quoted).when(receive()).state()).toMatchObject({ phase: 'SETTLING', status: 'PROCESSING' });
  });

  test.each([9_999n, 10_001n])('fails with %s of 10000, and the money goes back', (amountMinor) => {
    const mismatch = fact('PaymentFailed', { failureReason: 'FUNDING_AMOUNT_MISMATCH', isRefunded: true });
    const received = given(payment, quoted).when(receive({ amountMinor }));
    received.leadsTo(cameIn(amountMinor), mismatch);
    given(payment, quoted, cameIn(amountMinor), mismatch, fact('RefundAccepted'))
      .when(new SettleRefund({ paymentId }))
      .leadsTo(
        fact('RefundCompleted', {
          entries: [{ from: 'transit:USD', to: 'rail:USD', currency: 'USD', amountMinor }],
        }),
      );
  });

  test('keeps who sent it', () => {
    const sender = { accountHolderName: 'Amina Diallo' };
    given(payment, quoted)
      .when(receive({ sender }))
      .leadsTo(cameIn(10_000n), fact('FundingSenderNamed', { subject: 'ada', sender }), fact('PaymentStarted'));
  });

  test('takes no other currency, nothing twice and nothing late', () => {
    given(payment, quoted)
      .when(receive({ currency: 'EUR' }))
      .rejects('INVALID_CURRENCY');
    given(payment, quoted)
      .when(receive({ amountMinor: 0n }))
      .rejects('INVALID_AMOUNT');
    given(payment, quoted)
      .when(receive({ now: late }))
      .rejects('CONFLICT', 'QUOTE_EXPIRED');
    given(payment, quoted, cameIn(10_000n), fact('PaymentStarted'))
      .when(receive())
      .rejects('CONFLICT', 'NOT_AWAITING_FUNDING');
    given(payment, { type: 'PaymentQuoted', data: internalQuote })
      .when(receive())
      .rejects('CONFLICT', 'NOT_AWAITING_FUNDING');
  });
});

describe('a cancellation', () => {
  const byWire = { ...payoutQuote, destination: { ...payoutQuote.destination, paymentRail: 'WIRE' } };
  const ordered = (quote: object) => [
    { type: 'PaymentQuoted', data: quote },
    fact('ExecutionRequested'),
    fact('PaymentStarted'),
    fact('RailPending', { checkAt: late }),
  ];
  const asked = fact('CancellationRequested', { subject: 'ada', requestedAt: now });
  const answered = (isAccepted: boolean) => new RecordCancelAnswer({ paymentId, isAccepted });

  test('is asked of the rail, once, with when it was asked for', () => {
    const cancel = new CancelPayment({ paymentId, now, reason: 'Wrong person' });
    given(payment, ...ordered(byWire))
      .when(cancel)
      .leadsTo({ ...asked, data: { ...asked.data, reason: 'Wrong person' } });
    given(payment, ...ordered(byWire), asked)
      .when(cancel)
      .leadsTo();
    expect(completePayment.next(given(payment, ...ordered(byWire), asked).state as PaymentState)).toMatchObject({
      call: 'cancelRail',
      request: { reference: paymentId, requestedAt: now, orderedAt: AT },
    });
  });

  test('is for ACH and wire only', () => {
    given(payment, ...ordered(payoutQuote))
      .when(new CancelPayment({ paymentId, now }))
      .rejects('INVALID_INPUT', 'RAIL_NOT_CANCELLABLE');
    // Money was collected by ACH also when that is over.
    given(payment, ...ordered(pullQuote), fact('RailAccepted', { entries: [] }), fact('PaymentCompleted'))
      .when(new CancelPayment({ paymentId, now }))
      .rejects('TRANSACTION_NOT_CANCELLABLE');
  });

  test('in time: the money comes back, and a collection that never came needs none', () => {
    given(payment, ...ordered(byWire), asked)
      .when(answered(true))
      .leadsTo(fact('PaymentCancelled'));
    given(payment, ...ordered(pullQuote), asked)
      .when(answered(true))
      .leadsTo(fact('PaymentFailed', { failureReason: 'COLLECTION_FAILED', isRefunded: false }));
  });

  test('too late: the rail is asked how the order stands', () => {
    given(payment, ...ordered(byWire), asked)
      .when(answered(false))
      .leadsTo(fact('CancellationRefused'));
    expect(given(payment, ...ordered(byWire), asked, fact('CancellationRefused')).state).toMatchObject({
      phase: 'SUBMITTING',
    });
  });

  test('overtaken by an answer that the rail had been asked for before: that answer holds', () => {
    const said = (answer: object) => new RecordRailAnswer({ paymentId, answer: answer as never });
    const overtaken = given(payment, ...ordered(byWire), asked);
    overtaken.when(said({ outcome: 'PENDING', checkAt: late })).leadsTo();
    overtaken.when(said({ outcome: 'SETTLED' })).leadsTo(fact('RailAccepted'));
  });
});

test('the receipt of what has no quote is confirmed only for a deposit', () => {
  const confirm = { paymentId, receiptDeliveryConfirmedAt: AT };
  given(payment)
    .when(new ConfirmReceipt({ ...confirm, isDeposit: false }))
    .rejects('TRANSACTION_NOT_FOUND');
  given(payment)
    .when(new ConfirmReceipt({ ...confirm, isDeposit: true }))
    .leadsTo({ type: 'ReceiptDeliveryConfirmed', data: confirm });
});

describe('the process', () => {
  const state = (quote: object, ...events: { type: string; data: object }[]) =>
    given(payment, { type: 'PaymentQuoted', data: quote }, ...events).state as PaymentState;
  const sends = (one: PaymentState) => {
    const step = completePayment.next(one);
    if (!step || !('sends' in step)) throw new Error('this step sends nothing');
    return step;
  };
  const executing = fact('ExecutionRequested');
  const leg = { currency: 'USD', paymentId };

  test('debits and credits between internal accounts, then completes', () => {
    const step = sends(state(internalQuote, executing));
    expect(step.sends).toEqual([
      new DebitAccount({ ...leg, accountId: 'source', amountMinor: 10_000n, counterpart: 'transit:USD' }),
      new CreditAccount({ ...leg, accountId: 'destination', amountMinor: 10_000n, counterpart: 'transit:USD' }),
    ]);
    expect(step.after()).toEqual(new CompletePayment({ paymentId }));
  });

  test('reserves for a payout, and posts with fee, conversion and rail once the rail has settled', () => {
    expect(sends(state(payoutQuote, executing)).sends).toEqual([
      new PendFunds({ ...leg, accountId: 'source', amountMinor: 100_000n, counterpart: 'transit:USD' }),
    ]);
    const settled = state(payoutQuote, executing, fact('PaymentStarted'), fact('RailAccepted'));
    expect(sends(settled).sends).toEqual([
      new PostFunds({
        ...leg,
        accountId: 'source',
        amountMinor: 100_000n,
        counterpart: 'transit:USD',
        entries: [
          { from: 'transit:USD', to: 'fees:USD', currency: 'USD', amountMinor: 500n },
          { from: 'transit:USD', to: 'fx:USD', currency: 'USD', amountMinor: 99_500n },
          { from: 'fx:EUR', to: 'transit:EUR', currency: 'EUR', amountMinor: 91_540n },
          { from: 'transit:EUR', to: 'rail:EUR', currency: 'EUR', amountMinor: 91_540n },
        ],
      }),
    ]);
  });

  test('releases the reservation of a payout that the rail refused', () => {
    const failed = fact('PaymentFailed', { failureReason: 'QUOTE_EXECUTION_FAILED', isRefunded: true });
    const released = state(payoutQuote, executing, fact('PaymentStarted'), failed, fact('RefundAccepted'));
    expect(released).toMatchObject({ status: 'FAILED', refund: { status: 'PENDING', reason: 'TRANSACTION_FAILED' } });
    expect(sends(released).sends).toEqual([
      new VoidFunds({ ...leg, accountId: 'source', amountMinor: 100_000n, counterpart: 'transit:USD' }),
    ]);
  });

  test('collects first and pays out then, as two orders', () => {
    const collecting = state(pullPayoutQuote, executing, fact('PaymentStarted'));
    expect(completePayment.next(collecting)).toMatchObject({
      request: { reference: paymentId, direction: 'COLLECTION', externalAccountId: 'ach', amountMinor: 100_000n },
    });
    const paying = state(pullPayoutQuote, executing, fact('PaymentStarted'), fact('RailAccepted'));
    expect(completePayment.next(paying)).toMatchObject({
      request: {
        reference: `${paymentId}/payout`,
        direction: 'PAYOUT',
        externalAccountId: 'iban',
        amountMinor: 91_540n,
      },
    });
  });

  test("refunds crypto to the customer's account, and sets it aside where that cannot take it", () => {
    const received = fact('FundingReceived', { amountMinor: 7n, entries: [] });
    const mismatch = fact('PaymentFailed', { failureReason: 'FUNDING_AMOUNT_MISMATCH', isRefunded: true });
    const step = sends(state(cryptoFundedQuote, received, mismatch, fact('RefundAccepted')));
    expect(step.sends).toEqual([
      new CreditAccount({
        ...leg,
        accountId: 'refunds',
        amountMinor: 7n,
        counterpart: 'transit:USD',
        isRefund: true,
      }),
    ]);
    expect(step.after({ at: 0, rejection: new Error('closed') as never })).toEqual(new SetRefundAside({ paymentId }));
  });

  test('gives back what came in for what has become impossible, and books no conversion of it', () => {
    const receive = { paymentId, currency: 'USD', amountMinor: 7n, now };
    const quote = { ...cryptoFundedQuote, terms: { ...cryptoFundedQuote.terms, sendingMinor: 7n } };
    given(payment, fact('PaymentQuoted', quote))
      .when(new ReceiveFunding({ ...receive, isBarred: true }))
      .leadsTo(
        fact('FundingReceived', {
          amountMinor: 7n,
          entries: [{ from: 'rail:USD', to: 'transit:USD', currency: 'USD', amountMinor: 7n }],
          isBarred: true,
        }),
        fact('PaymentFailed', { failureReason: 'QUOTE_EXECUTION_FAILED', isRefunded: true }),
      );
  });

  test('counts what is sent towards the limit of the day of the execution', () => {
    const limited = { ...internalQuote, dailyLimitMinor: 5n };
    const [debit] = sends(state(limited, fact('ExecutionRequested', { day: '2026-01-01' }))).sends;
    expect(debit!.data).toMatchObject({ daily: { day: '2026-01-01', limitMinor: 5n } });
  });

  test('asks the rail in the name of the payment, and again with the same reference', () => {
    const asked = state(pullQuote, executing, fact('PaymentStarted'));
    expect(completePayment.next(asked)).toMatchObject({
      call: 'rail',
      request: {
        reference: paymentId,
        direction: 'COLLECTION',
        externalAccountId: 'ach',
        amountMinor: 10_000n,
        isSettled: false,
      },
    });
  });

  test('gives up no step that the ledger must not refuse', () => {
    const settled = state(payoutQuote, executing, fact('PaymentStarted'), fact('RailAccepted'));
    const refused = { at: 0, rejection: new Error('no') as never };
    expect(() => sends(settled).after(refused)).toThrow('a step that cannot be refused was refused');
  });

  test('waits for the expiry of an open quote, and for the rail', () => {
    expect(completePayment.dueAt(state(internalQuote))).toBe(internalQuote.expiresAt);
    const pending = state(payoutQuote, executing, fact('PaymentStarted'), fact('RailPending', { checkAt: late }));
    expect(completePayment.dueAt(pending)).toBe(late);
    expect(completePayment.wake(pending, late)).toEqual(new WakePayment({ paymentId, now: late }));
    expect(completePayment.dueAt(state(internalQuote, executing))).toBeUndefined();
  });
});

describe('a receiver with a UMA address', () => {
  const texts = { description: 'Rent', destinationUmaAddress: '$bob@pay.example' };
  const counterpartyInformation = { FULL_NAME: 'Bob' };
  const to = (tenantId: string) => ({
    ...payoutQuote,
    destination: {
      kind: 'UMA' as const,
      accountId: '',
      currency: 'USD',
      uma: { kind: 'HERE' as const, tenantId, customerId: 'bob' },
    },
  });
  const described = (more: object) => fact('PaymentDescribed', more);

  test('who is a customer of the same platform is described under its own key, any other under the payer’s', () => {
    const here = to(payoutQuote.tenantId);
    given(payment)
      .when(new QuotePayment({ ...here, ...texts }))
      .leadsTo(
        { type: 'PaymentQuoted', data: { ...here, descriptions: 2 } },
        described({ subject: 'ada', description: 'Rent' }),
        described({ subject: 'bob', destinationUmaAddress: '$bob@pay.example' }),
      );
    const there = to('other.sandbox');
    given(payment)
      .when(new QuotePayment({ ...there, ...texts }))
      .leadsTo({ type: 'PaymentQuoted', data: { ...there, descriptions: 1 } }, described({ subject: 'ada', ...texts }));
  });

  test('is erased from the payment, once, and nothing is learnt of it any more', () => {
    const quoted = { type: 'PaymentQuoted', data: to(payoutQuote.tenantId) };
    const told = fact('CounterpartyTold', { subject: 'bob', counterpartyInformation });
    const before = [quoted, described({ subject: 'ada', description: 'Rent' })];
    const known = [described({ subject: 'bob', destinationUmaAddress: '$bob@pay.example' }), told];
    expect(given(payment, ...before, ...known).state).toMatchObject({ ...texts, counterpartyInformation });
    const erased = { ...(given(payment, ...before).state as PaymentState), isReceiverErased: true };
    expect(given(payment, ...before, ...known, fact('ReceiverErased')).state).toEqual(erased);
    expect(given(payment, ...before, ...known, fact('ReceiverErased'), told).state).toEqual(erased);
    given(payment, quoted, fact('ReceiverErased')).when(new EraseReceiver({ paymentId })).leadsTo();
  });
});
