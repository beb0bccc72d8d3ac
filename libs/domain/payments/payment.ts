import type { Decider } from '../../kernel/decider.ts';
import { type Rejection, reject } from '../../kernel/errors.ts';
import { transitions } from '../../kernel/transitions.ts';
import {
  CancelPayment,
  CompletePayment,
  ConfirmReceipt,
  EraseReceiver,
  ExecutePayment,
  ExpirePayment,
  FailDelivery,
  type PaymentCommand,
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
} from './payment.commands.ts';
import { counterpartyTold, described, subjectOf } from './payment.counterparty.ts';
import { type FailureReason, noTerms, type PaymentEvent, paymentTexts, type RailAnswer } from './payment.events.ts';
import { evolve } from './payment.evolve.ts';
import { payoutEntries, receivedEntries, returnEntries, settlementOfPull, strandedEntries } from './payment.legs.ts';
import {
  isBroughtIn,
  isFunded,
  isPull,
  lacksFeeAccount,
  type PaymentPhase,
  type PaymentState,
} from './payment.state.ts';

export * from './payment.commands.ts';
export * from './payment.state.ts';

const executed = reject('CONFLICT', { reason: 'QUOTE_ALREADY_EXECUTED' }, 'The quote has already been executed.');
const expired = reject('CONFLICT', { reason: 'QUOTE_EXPIRED' }, 'The quote has expired.');
const noQuote = reject('QUOTE_NOT_FOUND');
const noTransaction = reject('TRANSACTION_NOT_FOUND');
const notAwaited = reject('CONFLICT', { reason: 'NOT_AWAITING_FUNDING' }, 'The quote does not wait for money.');
const notCancellable = reject('TRANSACTION_NOT_CANCELLABLE');
const otherKind = reject(
  'INVALID_INPUT',
  { reason: 'RAIL_NOT_CANCELLABLE' },
  'Only transfers by ACH or wire can be cancelled.',
);
const mustBeFunded = reject(
  'INVALID_INPUT',
  { reason: 'FUNDING_REQUIRED' },
  'This quote is not executed: it goes on when the money of its payment instructions arrives.',
);

/** Phases after the execution has been asked for, or the money has come in. */
const underWay = [
  'EXECUTING',
  'SUBMITTING',
  'WAITING',
  'CANCELLING',
  'SETTLING',
  'WATCHING',
  'CHECKING_RETURN',
  'REFUNDING',
  'RETURNING_FEE',
  'RETURNING',
  'SETTING_ASIDE',
  'DONE',
] as const;

/** Phases in which there is no order at a rail that could be stopped. */
const settledOrNever = (['OPEN', ...underWay, 'EXPIRED', 'REFUSED'] as const).filter(
  (phase) => phase !== 'SUBMITTING' && phase !== 'WAITING' && phase !== 'CANCELLING',
);

/**
 * The life of a payment. Rows in the order of the spec's machine: quote, execution, rail, completion, return, refund. Of several rows
 * for one cell the first holds unless what the comment of a later one says is the case.
 */
export const paymentTransitions = transitions<PaymentPhase, PaymentCommand['type']>(
  [
    ['NONE', 'QuotePayment', 'OPEN', 'PaymentQuoted'],
    ['OPEN', 'ExecutePayment', 'EXECUTING', 'ExecutionRequested'],
    // Its platform fee has no account to go to.
    ['OPEN', 'ExecutePayment', 'DONE', 'ExecutionRequested, PaymentStarted, PaymentFailed'],
    ['OPEN', 'ReceiveFunding', 'SUBMITTING', 'FundingReceived, PaymentStarted'],
    // For an internal account; the wrong amount, or a platform fee without account.
    ['OPEN', 'ReceiveFunding', 'SETTLING', 'FundingReceived, PaymentStarted'],
    ['OPEN', 'ReceiveFunding', 'REFUNDING', 'FundingReceived, PaymentFailed'],
    ['OPEN', 'ExpirePayment', 'EXPIRED', 'PaymentExpired'],
    [['EXPIRED', 'REFUSED'], 'ExecutePayment', expired],
    ['NONE', 'ExecutePayment', noQuote],
    [underWay, 'ExecutePayment', executed],
    ['EXPIRED', 'ReceiveFunding', expired],
    ['NONE', 'ReceiveFunding', noQuote],
    [[...underWay, 'REFUSED'], 'ReceiveFunding', notAwaited],
    ['EXECUTING', 'RefuseExecution', 'OPEN', 'ExecutionRefused'],
    ['EXECUTING', 'StartPayment', 'SUBMITTING', 'PaymentStarted'],
    ['EXECUTING', 'CompletePayment', 'DONE', 'PaymentStarted, PaymentCompleted'],
    ['EXECUTING', 'FailDelivery', 'REFUNDING', 'PaymentStarted, PaymentFailed'],
    ['SUBMITTING', 'RecordRailAnswer', 'SETTLING', 'RailAccepted'],
    // Collected, and to be paid out; the rail has not decided yet; it refused; the user cancelled there.
    ['SUBMITTING', 'RecordRailAnswer', 'SUBMITTING', 'RailAccepted'],
    ['SUBMITTING', 'RecordRailAnswer', 'WAITING', 'RailPending'],
    ['SUBMITTING', 'RecordRailAnswer', 'REFUNDING', 'PaymentFailed'],
    ['SUBMITTING', 'RecordRailAnswer', 'REFUNDING', 'PaymentCancelled'],
    ['WAITING', 'WakePayment', 'SUBMITTING', 'PaymentWoken'],
    [['SUBMITTING', 'WAITING'], 'CancelPayment', 'CANCELLING', 'CancellationRequested'],
    ['CANCELLING', 'CancelPayment', 'CANCELLING', 'nothing'],
    // What the rail had been asked before: as above, but that it is not waited for.
    ['CANCELLING', 'RecordRailAnswer', 'SETTLING', 'RailAccepted'],
    ['CANCELLING', 'RecordCancelAnswer', 'REFUNDING', 'PaymentCancelled'],
    // Nothing had been collected; it was too late.
    ['CANCELLING', 'RecordCancelAnswer', 'DONE', 'PaymentFailed'],
    ['CANCELLING', 'RecordCancelAnswer', 'SUBMITTING', 'CancellationRefused'],
    ['NONE', 'CancelPayment', noTransaction],
    [settledOrNever, 'CancelPayment', notCancellable],
    ['SETTLING', 'CompletePayment', 'DONE', 'PaymentCompleted'],
    // A return may still come.
    ['SETTLING', 'CompletePayment', 'WATCHING', 'PaymentCompleted'],
    ['SETTLING', 'FailDelivery', 'REFUNDING', 'PaymentFailed'],
    ['WATCHING', 'WakePayment', 'CHECKING_RETURN', 'PaymentWoken'],
    ['CHECKING_RETURN', 'RecordRailAnswer', 'DONE', 'ReturnExcluded'],
    // It came back; nobody can say yet.
    ['CHECKING_RETURN', 'RecordRailAnswer', 'REFUNDING', 'PaymentFailed'],
    ['CHECKING_RETURN', 'RecordRailAnswer', 'WATCHING', 'RailPending'],
    ['REFUNDING', 'RecordRefundAnswer', 'RETURNING', 'RefundAccepted'],
    // The platform holds its fee and gives it back first; the money cannot be returned.
    ['REFUNDING', 'RecordRefundAnswer', 'RETURNING_FEE', 'RefundAccepted'],
    ['REFUNDING', 'RecordRefundAnswer', 'SETTING_ASIDE', 'RefundRefused'],
    ['RETURNING_FEE', 'ReversePlatformFee', 'RETURNING', 'PlatformFeeReversed'],
    ['RETURNING', 'SettleRefund', 'DONE', 'RefundCompleted'],
    ['RETURNING', 'SetRefundAside', 'SETTING_ASIDE', 'RefundRefused'],
    ['SETTING_ASIDE', 'SettleRefund', 'DONE', 'RefundFailed'],
    ...(['OPEN', ...underWay, 'EXPIRED'] as const).map(
      (phase) => [phase, 'ConfirmReceipt', phase, 'ReceiptDeliveryConfirmed'] as const,
    ),
    // A deposit has no quote and no stream before.
    ['NONE', 'ConfirmReceipt', 'NONE', 'ReceiptDeliveryConfirmed'],
    ['REFUSED', 'ConfirmReceipt', noTransaction],
    ...(['OPEN', ...underWay, 'EXPIRED', 'REFUSED'] as const).map(
      (phase) => [phase, 'EraseReceiver', phase, 'ReceiverErased'] as const,
    ),
  ],
  reject('CONFLICT', { reason: 'PAYMENT_MOVED_ON' }),
);

function decide(state: PaymentState, { type, data }: PaymentCommand): PaymentEvent[] | Rejection {
  if (type === 'CancelPayment' && state.phase !== 'NONE' && !goesByCancellableRail(state)) return otherKind;
  const refusal = paymentTransitions.guard(state.phase, type);
  if (refusal) return refusal;
  const { paymentId } = data;
  switch (type) {
    case 'QuotePayment':
      return quoted(data);
    case 'ExecutePayment':
      return executionRequested(state, data.now);
    case 'ReceiveFunding':
      return fundingReceived(state, data);
    case 'RefuseExecution':
      return [{ type: 'ExecutionRefused', data }];
    case 'StartPayment':
      return [started(paymentId)];
    case 'RecordRailAnswer':
      return railAnswered(state, data.answer);
    case 'WakePayment':
      return data.now >= state.waitUntil! ? [{ type: 'PaymentWoken', data: { paymentId } }] : [];
    case 'CancelPayment':
      return state.phase === 'CANCELLING' ? [] : [cancellationRequested(state, data)];
    case 'RecordCancelAnswer':
      return [cancelAnswered(state, data.isAccepted)];
    case 'CompletePayment':
      return [...startedNow(state), { type: 'PaymentCompleted', data: { paymentId } }];
    case 'FailDelivery': {
      const reason = toldReason(state, 'ACCOUNT_CANNOT_RECEIVE');
      return [...startedNow(state), failed(paymentId, reason, true, data.isFeeCredited)];
    }
    case 'RecordRefundAnswer':
      return [{ type: data.isAccepted ? 'RefundAccepted' : 'RefundRefused', data: { paymentId } }];
    case 'ReversePlatformFee':
      return [
        { type: 'PlatformFeeReversed', data: { paymentId, ...(data.isCovered && { entries: coveredFee(state) }) } },
      ];
    case 'SetRefundAside':
      return [{ type: 'RefundRefused', data: { paymentId } }];
    case 'SettleRefund':
      return [refundSettled(state)];
    case 'ExpirePayment':
      return data.now >= state.expiresAt ? [{ type: 'PaymentExpired', data: { paymentId } }] : [];
    case 'ConfirmReceipt':
      return receiptConfirmed(state, data);
    case 'EraseReceiver':
      return state.isReceiverErased ? [] : [{ type: 'ReceiverErased', data }];
  }
}

function quoted({ day, ...quote }: QuotePayment['data']): PaymentEvent[] {
  return [...described(quote), ...(quote.immediatelyExecute ? requested(quote, day) : [])];
}

function executionRequested(state: PaymentState, now: string): PaymentEvent[] | Rejection {
  if (isFunded(state)) return mustBeFunded;
  return now > state.expiresAt ? expired : requested(state, now.slice(0, 10));
}

/** The execution begins, or ends at once where the platform's fee could not be credited. */
function requested(
  payment: Pick<PaymentState, 'paymentId' | 'terms' | 'platformFeeAccountId'>,
  day: string | undefined,
): PaymentEvent[] {
  const { paymentId } = payment;
  return [
    { type: 'ExecutionRequested', data: { paymentId, ...(day !== undefined && { day }) } },
    ...(lacksFeeAccount(payment) ? [started(paymentId), failed(paymentId, 'QUOTE_EXECUTION_FAILED', false)] : []),
  ];
}

function fundingReceived(
  state: PaymentState,
  { paymentId, currency, amountMinor, now, sender, isBarred }: ReceiveFunding['data'],
): PaymentEvent[] | Rejection {
  const { sendingCurrency, sendingMinor } = state.terms;
  if (!isFunded(state)) return notAwaited;
  if (now > state.expiresAt) return expired;
  if (currency !== sendingCurrency) return reject('INVALID_CURRENCY', { currency, expected: sendingCurrency });
  if (amountMinor <= 0n) return reject('INVALID_AMOUNT');
  const isExact = amountMinor === sendingMinor;
  const goesBack = isBarred || lacksFeeAccount(state);
  const entries = isExact && !goesBack ? settlementOfPull(state) : receivedEntries(currency, amountMinor);
  const subject = subjectOf(state);
  const named: PaymentEvent[] = sender ? [{ type: 'FundingSenderNamed', data: { paymentId, subject, sender } }] : [];
  const received: PaymentEvent[] = [
    { type: 'FundingReceived', data: { paymentId, amountMinor, entries, ...(isBarred && { isBarred }) } },
    ...named,
  ];
  if (!isExact) return [...received, failed(paymentId, 'FUNDING_AMOUNT_MISMATCH', true)];
  if (goesBack) return [...received, failed(paymentId, 'QUOTE_EXECUTION_FAILED', true)];
  return [...received, started(paymentId)];
}

const started = (paymentId: string): PaymentEvent => ({ type: 'PaymentStarted', data: { paymentId } });

const startedNow = ({ phase, paymentId }: PaymentState): PaymentEvent[] =>
  phase === 'EXECUTING' ? [started(paymentId)] : [];

const failed = (
  paymentId: string,
  failureReason: FailureReason,
  isRefunded: boolean,
  isFeeCredited = false,
): PaymentEvent => ({
  type: 'PaymentFailed',
  data: { paymentId, failureReason, isRefunded, ...(isFeeCredited && { isFeeCredited }) },
});

function railAnswered(state: PaymentState, answer: RailAnswer): PaymentEvent[] {
  const { paymentId, phase } = state;
  switch (answer.outcome) {
    case 'PENDING':
      return phase === 'CANCELLING' ? [] : [{ type: 'RailPending', data: { paymentId, checkAt: answer.checkAt } }];
    case 'SETTLED': {
      const { watchUntil } = answer;
      if (phase === 'CHECKING_RETURN') {
        if (watchUntil !== undefined) return railAnswered(state, { outcome: 'PENDING', checkAt: watchUntil });
        return [{ type: 'ReturnExcluded', data: { paymentId } }];
      }
      const watch = watchUntil !== undefined && { watchUntil };
      const paidOut = isBroughtIn(state) ? payoutEntries(state) : undefined;
      const entries = isCollecting(state) ? settlementOfPull(state) : paidOut;
      return [
        ...counterpartyTold(state, answer.counterpartyInformation),
        { type: 'RailAccepted', data: { paymentId, ...watch, ...(entries && { entries }) } },
      ];
    }
    case 'REJECTED':
      return [
        isCollecting(state) ? notCollected(state, answer.failureReason) : failed(paymentId, answer.failureReason, true),
      ];
    case 'CANCELLED':
      return [{ type: 'PaymentCancelled', data: { paymentId } }];
    case 'RETURNED':
      return [failed(paymentId, 'PAYOUT_RETURNED', true)];
  }
}

/** The order that the rail has is to collect, not to pay out. */
const isCollecting = (state: PaymentState): boolean => isPull(state) && !isBroughtIn(state);

/** Nothing came, so nothing goes back. */
const notCollected = (state: PaymentState, failureReason: FailureReason): PaymentEvent =>
  failed(state.paymentId, toldReason(state, failureReason), false);

/** Outgoing payments know no failed collection, incoming ones no account that cannot receive (facts §3). */
const toldReason = ({ type }: PaymentState, reason: FailureReason): FailureReason =>
  reason === (type === 'OUTGOING' ? 'COLLECTION_FAILED' : 'ACCOUNT_CANNOT_RECEIVE') ? 'QUOTE_EXECUTION_FAILED' : reason;

/** Orders by ACH and wire can be stopped until they settle (facts §3, cancel). Money is collected by ACH. */
function goesByCancellableRail(state: PaymentState): boolean {
  const { destination } = state;
  const isCollection = isCollecting(state) || (isPull(state) && destination.kind === 'INTERNAL');
  const rail = isCollection ? 'ACH' : destination.paymentRail;
  return rail === 'ACH' || rail === 'WIRE';
}

const cancellationRequested = (
  state: PaymentState,
  { paymentId, now, reason }: CancelPayment['data'],
): PaymentEvent => ({
  type: 'CancellationRequested',
  data: { paymentId, subject: subjectOf(state), requestedAt: now, ...(reason !== undefined && { reason }) },
});

function cancelAnswered(state: PaymentState, isAccepted: boolean): PaymentEvent {
  const { paymentId } = state;
  if (!isAccepted) return { type: 'CancellationRefused', data: { paymentId } };
  return isCollecting(state)
    ? notCollected(state, 'COLLECTION_FAILED')
    : { type: 'PaymentCancelled', data: { paymentId } };
}

function receiptConfirmed(
  { phase }: PaymentState,
  { isDeposit, ...data }: ConfirmReceipt['data'],
): PaymentEvent[] | Rejection {
  if (phase === 'NONE' && !isDeposit) return noTransaction;
  return [{ type: 'ReceiptDeliveryConfirmed', data }];
}

function coveredFee({ terms }: PaymentState) {
  const currency = terms.sendingCurrency;
  return [{ from: `receivable:${currency}`, to: `transit:${currency}`, currency, amountMinor: terms.platformFeeMinor }];
}

/** Money that came from outside goes back there; all other refunds are credited or released by an account itself. */
function refundSettled(state: PaymentState): PaymentEvent {
  const { paymentId, phase, funding } = state;
  const isAside = phase === 'SETTING_ASIDE';
  const entries = isAside ? strandedEntries(state) : funding?.refundAccountId ? undefined : returnEntries(state);
  const data = { paymentId, ...(entries && entries.length > 0 && { entries }) };
  return { type: isAside ? 'RefundFailed' : 'RefundCompleted', data };
}

/** Quote, transaction and process in one stream (architecture §9). */
export const payment: Decider<PaymentState, PaymentCommand, PaymentEvent> = {
  name: 'payment',
  id: 'paymentId',
  commands: [
    QuotePayment,
    ExecutePayment,
    RefuseExecution,
    StartPayment,
    RecordRailAnswer,
    WakePayment,
    CompletePayment,
    FailDelivery,
    RecordRefundAnswer,
    ReversePlatformFee,
    SettleRefund,
    ExpirePayment,
    ReceiveFunding,
    CancelPayment,
    RecordCancelAnswer,
    SetRefundAside,
    ConfirmReceipt,
    EraseReceiver,
  ],
  creates: ['QuotePayment'],
  initial: {
    phase: 'NONE',
    status: 'PENDING',
    isSettled: false,
    isFeeCredited: false,
    paymentId: '',
    tenantId: '',
    type: 'OUTGOING',
    platformCustomerId: '',
    source: { kind: 'INTERNAL', accountId: '', currency: '' },
    destination: { kind: 'INTERNAL', accountId: '', currency: '' },
    terms: noTerms,
    immediatelyExecute: false,
    reference: '',
    expiresAt: '',
    createdAt: '',
    updatedAt: '',
  },
  decide,
  evolve,
  version: 4,
  asides: ['ReceiptDeliveryConfirmed', 'ReceiverErased'],
  personal: {
    CounterpartyTold: { subject: 'subject', fields: ['counterpartyInformation'] },
    PaymentDescribed: { subject: 'subject', fields: paymentTexts },
    CancellationRequested: { subject: 'subject', fields: ['reason'] },
    FundingSenderNamed: { subject: 'subject', fields: ['sender'] },
  },
};
