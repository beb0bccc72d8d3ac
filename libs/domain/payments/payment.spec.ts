import { describe, expect, test } from '@jest/globals';
import { AT, given, testEveryCell } from '../../../test/transition-cells.ts';
import { CreditAccount, DebitAccount, PendFunds, PostFunds, VoidFunds } from '../accounts/account.ts';
import type { PaymentEvent } from './payment.events.ts';
import { internalQuote, payoutQuote, pullQuote } from './payment.examples.ts';
import { completePayment } from './payment.process.ts';
import {
  CompletePayment,
  ExecutePayment,
  ExpirePayment,
  FailDelivery,
  type PaymentPhase,
  type PaymentState,
  payment,
  paymentTransitions,
  QuotePayment,
  RecordRailAnswer,
  RecordRefundAnswer,
  RefuseExecution,
  ReversePlatformFee,
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
    given: (phase) => states[phase as PaymentPhase],
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
    },
    statusOf: ({ phase }) => phase,
  });
});

describe('a quote', () => {
  const quoted = { type: 'PaymentQuoted', data: payoutQuote };

  test('that executes at once is quoted and requested together', () => {
    const quote = { ...internalQuote, immediatelyExecute: true };
    given(payment)
      .when(new QuotePayment({ ...quote, description: 'Rent' }))
      .leadsTo(
        { type: 'PaymentQuoted', data: quote },
        { type: 'PaymentDescribed', data: { paymentId, subject: 'ada', description: 'Rent' } },
        fact('ExecutionRequested'),
      );
  });

  test('is executed until its very expiry, and refused after it', () => {
    const executed = new ExecutePayment({ paymentId, now: payoutQuote.expiresAt });
    given(payment, quoted).when(executed).leadsTo(fact('ExecutionRequested'));
    given(payment, quoted)
      .when(new ExecutePayment({ paymentId, now: late }))
      .rejects('CONFLICT', 'QUOTE_EXPIRED');
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
