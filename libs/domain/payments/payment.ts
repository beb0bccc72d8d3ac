import type { Decider } from '../../kernel/decider.ts';
import { type ErrorCode, type Rejection, reject } from '../../kernel/errors.ts';
import { command, type Stamped } from '../../kernel/messages.ts';
import { transitions } from '../../kernel/transitions.ts';
import {
  type FailureReason,
  noTerms,
  type PaymentEvent,
  type PaymentQuotedData,
  type RailAnswer,
  type Refund,
  type RefundReason,
} from './payment.events.ts';
import { reversed, settlementOfPull, strandedEntries } from './payment.legs.ts';

/** Makes the quote and its transaction; with `immediatelyExecute` the execution is requested in the same breath. */
export class QuotePayment extends command('QuotePayment')<
  PaymentQuotedData & { description?: string; remittanceInformation?: string }
>() {}
export class ExecutePayment extends command('ExecutePayment')<{ paymentId: string; now: string }>() {}
/** The source account refused: nothing moved. */
export class RefuseExecution extends command('RefuseExecution')<{
  paymentId: string;
  code: ErrorCode;
  reason?: string;
}>() {}
/** The source is debited or reserved (or will be pulled from): the payment goes to its rail. */
export class StartPayment extends command('StartPayment')<{ paymentId: string }>() {}
/** What the rail said, to the order or to a later question. */
export class RecordRailAnswer extends command('RecordRailAnswer')<{ paymentId: string; answer: RailAnswer }>() {}
export class WakePayment extends command('WakePayment')<{ paymentId: string; now: string }>() {}
/** The money has arrived at its destination. */
export class CompletePayment extends command('CompletePayment')<{ paymentId: string }>() {}
/** The destination, or the platform's fee account before it, refused money that has left the source. */
export class FailDelivery extends command('FailDelivery')<{ paymentId: string; isFeeCredited: boolean }>() {}
export class RecordRefundAnswer extends command('RecordRefundAnswer')<{ paymentId: string; isAccepted: boolean }>() {}
/** The platform gave its fee back; where it could not, `isCovered` says that the service advances it. */
export class ReversePlatformFee extends command('ReversePlatformFee')<{ paymentId: string; isCovered: boolean }>() {}
/** The refund has reached its end: the money is back, or set aside where it could not be returned. */
export class SettleRefund extends command('SettleRefund')<{ paymentId: string }>() {}
export class ExpirePayment extends command('ExpirePayment')<{ paymentId: string; now: string }>() {}

export type PaymentCommand =
  | QuotePayment
  | ExecutePayment
  | RefuseExecution
  | StartPayment
  | RecordRailAnswer
  | WakePayment
  | CompletePayment
  | FailDelivery
  | RecordRefundAnswer
  | ReversePlatformFee
  | SettleRefund
  | ExpirePayment;

/** Where a payment stands in its own process. `OPEN` and `EXECUTING` are `PENDING` to the public. */
export type PaymentPhase =
  | 'NONE'
  | 'OPEN'
  | 'EXECUTING'
  | 'SUBMITTING'
  | 'WAITING'
  | 'SETTLING'
  | 'WATCHING'
  | 'CHECKING_RETURN'
  | 'REFUNDING'
  | 'RETURNING_FEE'
  | 'RETURNING'
  | 'SETTING_ASIDE'
  | 'DONE'
  | 'EXPIRED'
  | 'REFUSED';

/** Public status of the transaction; the quote shows the same (spec, quotes; facts §3). */
export type PaymentStatus = 'PENDING' | 'PROCESSING' | 'COMPLETED' | 'FAILED' | 'EXPIRED';

export interface PaymentState extends PaymentQuotedData {
  phase: PaymentPhase;
  status: PaymentStatus;
  description?: string;
  remittanceInformation?: string;
  /** What the source gave is final, not only reserved. */
  isSettled: boolean;
  /** The platform's account holds its fee. */
  isFeeCredited: boolean;
  startedAt?: string;
  /** When the process wants to be woken. */
  waitUntil?: string;
  settledAt?: string;
  failureReason?: FailureReason;
  /** Why the last execution was refused. */
  refusal?: { code: ErrorCode; reason?: string };
  refund?: Refund;
  createdAt: string;
  updatedAt: string;
}

const executed = reject('CONFLICT', { reason: 'QUOTE_ALREADY_EXECUTED' }, 'The quote has already been executed.');
const expired = reject('CONFLICT', { reason: 'QUOTE_EXPIRED' }, 'The quote has expired.');

/**
 * The life of a payment. Rows in the order of the spec's machine: quote, execution, rail, completion, return, refund. Of several rows
 * for one cell the first holds unless what the comment of a later one says is the case.
 */
export const paymentTransitions = transitions<PaymentPhase, PaymentCommand['type']>(
  [
    ['NONE', 'QuotePayment', 'OPEN', 'PaymentQuoted'],
    ['OPEN', 'ExecutePayment', 'EXECUTING', 'ExecutionRequested'],
    ['OPEN', 'ExpirePayment', 'EXPIRED', 'PaymentExpired'],
    [['EXPIRED', 'REFUSED'], 'ExecutePayment', expired],
    ['NONE', 'ExecutePayment', reject('QUOTE_NOT_FOUND')],
    [
      [
        'EXECUTING',
        'SUBMITTING',
        'WAITING',
        'SETTLING',
        'WATCHING',
        'CHECKING_RETURN',
        'REFUNDING',
        'RETURNING_FEE',
        'RETURNING',
        'SETTING_ASIDE',
        'DONE',
      ],
      'ExecutePayment',
      executed,
    ],
    ['EXECUTING', 'RefuseExecution', 'OPEN', 'ExecutionRefused'],
    ['EXECUTING', 'StartPayment', 'SUBMITTING', 'PaymentStarted'],
    ['EXECUTING', 'CompletePayment', 'DONE', 'PaymentStarted, PaymentCompleted'],
    ['EXECUTING', 'FailDelivery', 'REFUNDING', 'PaymentStarted, PaymentFailed'],
    ['SUBMITTING', 'RecordRailAnswer', 'SETTLING', 'RailAccepted'],
    // The rail has not decided yet; it refused; the user cancelled there.
    ['SUBMITTING', 'RecordRailAnswer', 'WAITING', 'RailPending'],
    ['SUBMITTING', 'RecordRailAnswer', 'REFUNDING', 'PaymentFailed'],
    ['SUBMITTING', 'RecordRailAnswer', 'REFUNDING', 'PaymentCancelled'],
    ['WAITING', 'WakePayment', 'SUBMITTING', 'PaymentWoken'],
    ['SETTLING', 'CompletePayment', 'DONE', 'PaymentCompleted'],
    // A return may still come.
    ['SETTLING', 'CompletePayment', 'WATCHING', 'PaymentCompleted'],
    ['SETTLING', 'FailDelivery', 'REFUNDING', 'PaymentFailed'],
    ['WATCHING', 'WakePayment', 'CHECKING_RETURN', 'PaymentWoken'],
    ['CHECKING_RETURN', 'RecordRailAnswer', 'DONE', 'ReturnExcluded'],
    // It came back.
    ['CHECKING_RETURN', 'RecordRailAnswer', 'REFUNDING', 'PaymentFailed'],
    ['REFUNDING', 'RecordRefundAnswer', 'RETURNING', 'RefundAccepted'],
    // The platform holds its fee and gives it back first; the money cannot be returned.
    ['REFUNDING', 'RecordRefundAnswer', 'RETURNING_FEE', 'RefundAccepted'],
    ['REFUNDING', 'RecordRefundAnswer', 'SETTING_ASIDE', 'RefundRefused'],
    ['RETURNING_FEE', 'ReversePlatformFee', 'RETURNING', 'PlatformFeeReversed'],
    ['RETURNING', 'SettleRefund', 'DONE', 'RefundCompleted'],
    ['SETTING_ASIDE', 'SettleRefund', 'DONE', 'RefundFailed'],
  ],
  reject('CONFLICT', { reason: 'PAYMENT_MOVED_ON' }),
);

function decide(state: PaymentState, { type, data }: PaymentCommand): PaymentEvent[] | Rejection {
  const refusal = paymentTransitions.guard(state.phase, type);
  if (refusal) return refusal;
  const { paymentId } = data;
  switch (type) {
    case 'QuotePayment':
      return quoted(data);
    case 'ExecutePayment':
      return data.now > state.expiresAt ? expired : [{ type: 'ExecutionRequested', data: { paymentId } }];
    case 'RefuseExecution':
      return [{ type: 'ExecutionRefused', data }];
    case 'StartPayment':
      return [{ type: 'PaymentStarted', data: { paymentId } }];
    case 'RecordRailAnswer':
      return railAnswered(state, data.answer);
    case 'WakePayment':
      return data.now >= state.waitUntil! ? [{ type: 'PaymentWoken', data: { paymentId } }] : [];
    case 'CompletePayment':
      return [...started(state), { type: 'PaymentCompleted', data: { paymentId } }];
    case 'FailDelivery':
      return [...started(state), failed(paymentId, 'ACCOUNT_CANNOT_RECEIVE', true, data.isFeeCredited)];
    case 'RecordRefundAnswer':
      return [{ type: data.isAccepted ? 'RefundAccepted' : 'RefundRefused', data: { paymentId } }];
    case 'ReversePlatformFee':
      return [
        { type: 'PlatformFeeReversed', data: { paymentId, ...(data.isCovered && { entries: coveredFee(state) }) } },
      ];
    case 'SettleRefund':
      return [refundSettled(state)];
    case 'ExpirePayment':
      return data.now >= state.expiresAt ? [{ type: 'PaymentExpired', data: { paymentId } }] : [];
  }
}

function quoted({ description, remittanceInformation, ...data }: QuotePayment['data']): PaymentEvent[] {
  const { paymentId, customerId, tenantId } = data;
  const texts = {
    ...(description !== undefined && { description }),
    ...(remittanceInformation !== undefined && { remittanceInformation }),
  };
  return [
    { type: 'PaymentQuoted', data },
    ...(Object.keys(texts).length > 0
      ? [{ type: 'PaymentDescribed' as const, data: { paymentId, subject: customerId ?? tenantId, ...texts } }]
      : []),
    ...(data.immediatelyExecute ? [{ type: 'ExecutionRequested' as const, data: { paymentId } }] : []),
  ];
}

const started = (state: PaymentState): PaymentEvent[] =>
  state.phase === 'EXECUTING' ? [{ type: 'PaymentStarted', data: { paymentId: state.paymentId } }] : [];

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
  const { paymentId } = state;
  const isPull = state.source.kind === 'EXTERNAL';
  switch (answer.outcome) {
    case 'PENDING':
      return [{ type: 'RailPending', data: { paymentId, checkAt: answer.checkAt } }];
    case 'SETTLED': {
      if (state.phase === 'CHECKING_RETURN') return [{ type: 'ReturnExcluded', data: { paymentId } }];
      const watch = answer.watchUntil !== undefined && { watchUntil: answer.watchUntil };
      return [
        { type: 'RailAccepted', data: { paymentId, ...watch, ...(isPull && { entries: settlementOfPull(state) }) } },
      ];
    }
    case 'REJECTED':
      return [failed(paymentId, answer.failureReason, !isPull)];
    case 'CANCELLED':
      return [{ type: 'PaymentCancelled', data: { paymentId } }];
    case 'RETURNED':
      return [failed(paymentId, 'PAYOUT_RETURNED', true)];
  }
}

function coveredFee({ terms }: PaymentState) {
  const currency = terms.sendingCurrency;
  return [{ from: `receivable:${currency}`, to: `transit:${currency}`, currency, amountMinor: terms.platformFeeMinor }];
}

/** Money that came by a pull goes back by its rail; all other refunds are credited or released by the source account itself. */
function refundSettled(state: PaymentState): PaymentEvent {
  const { paymentId, phase, source, destination, isFeeCredited } = state;
  if (phase === 'SETTING_ASIDE') {
    const entries = destination.kind === 'INTERNAL' ? strandedEntries(state, isFeeCredited) : undefined;
    return { type: 'RefundFailed', data: { paymentId, ...(entries && { entries }) } };
  }
  const entries = source.kind === 'EXTERNAL' ? reversed(settlementOfPull(state)) : undefined;
  return { type: 'RefundCompleted', data: { paymentId, ...(entries && { entries }) } };
}

function evolve(state: PaymentState, event: PaymentEvent & Stamped): PaymentState {
  const { at } = event;
  const next = { ...state, updatedAt: at };
  switch (event.type) {
    case 'PaymentQuoted':
      return { ...next, ...event.data, phase: 'OPEN', status: 'PENDING', createdAt: at };
    case 'PaymentDescribed': {
      const { subject: _, ...texts } = event.data;
      return { ...next, ...texts };
    }
    case 'ExecutionRequested':
      return { ...next, phase: 'EXECUTING' };
    case 'ExecutionRefused': {
      const { paymentId: _, ...refusal } = event.data;
      return { ...next, phase: state.immediatelyExecute ? 'REFUSED' : 'OPEN', refusal };
    }
    case 'PaymentStarted':
      return { ...next, phase: 'SUBMITTING', status: 'PROCESSING', startedAt: at };
    case 'RailPending':
      return { ...next, phase: 'WAITING', waitUntil: event.data.checkAt };
    case 'PaymentWoken':
      return { ...woken(next), phase: state.phase === 'WATCHING' ? 'CHECKING_RETURN' : 'SUBMITTING' };
    case 'RailAccepted':
      return {
        ...next,
        phase: 'SETTLING',
        ...(event.data.watchUntil !== undefined && { waitUntil: event.data.watchUntil }),
      };
    case 'PaymentCompleted': {
      const isFeeCredited = state.terms.platformFeeMinor > 0n;
      const phase = state.waitUntil ? 'WATCHING' : 'DONE';
      return { ...next, phase, status: 'COMPLETED', isSettled: true, isFeeCredited, settledAt: at };
    }
    case 'ReturnExcluded':
      return { ...next, phase: 'DONE' };
    case 'PaymentExpired':
      return { ...next, phase: 'EXPIRED', status: 'EXPIRED', failureReason: 'QUOTE_EXPIRED' };
    default:
      return evolveRefund(next, event, at);
  }
}

type RefundEvent = Extract<
  PaymentEvent,
  {
    type:
      | 'PaymentFailed'
      | 'PaymentCancelled'
      | 'RefundAccepted'
      | 'RefundRefused'
      | 'PlatformFeeReversed'
      | 'RefundCompleted'
      | 'RefundFailed';
  }
>;

function evolveRefund(state: PaymentState, event: RefundEvent, at: string): PaymentState {
  switch (event.type) {
    case 'PaymentFailed': {
      const { failureReason, isRefunded, isFeeCredited = state.isFeeCredited } = event.data;
      const wasDirect = state.source.kind === 'INTERNAL' && state.destination.kind === 'INTERNAL';
      const isSettled = state.isSettled || wasDirect;
      const failedState = { ...woken(state), status: 'FAILED' as const, failureReason, isSettled, isFeeCredited };
      return isRefunded ? refunding(failedState, 'TRANSACTION_FAILED', at) : { ...failedState, phase: 'DONE' };
    }
    case 'PaymentCancelled':
      return refunding(woken(state), 'USER_CANCELLATION', at);
    case 'RefundAccepted':
      return { ...state, phase: state.isFeeCredited ? 'RETURNING_FEE' : 'RETURNING' };
    case 'RefundRefused':
      return { ...state, phase: 'SETTING_ASIDE' };
    case 'PlatformFeeReversed':
      return { ...state, phase: 'RETURNING' };
    case 'RefundCompleted': {
      const refund = { ...state.refund!, status: 'COMPLETED' as const, settledAt: at };
      const isCancelled = refund.reason === 'USER_CANCELLATION';
      return { ...state, phase: 'DONE', refund, ...(isCancelled && { status: 'COMPLETED' as const, settledAt: at }) };
    }
    case 'RefundFailed':
      return { ...state, phase: 'DONE', refund: { ...state.refund!, status: 'FAILED', settledAt: at } };
  }
}

function refunding(state: PaymentState, reason: RefundReason, at: string): PaymentState {
  const refund: Refund = { reference: `${state.reference}-REFUND`, initiatedAt: at, status: 'PENDING', reason };
  return { ...state, phase: 'REFUNDING', refund };
}

function woken(state: PaymentState): PaymentState {
  const { waitUntil: _, ...rest } = state;
  return rest;
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
  version: 1,
  personal: { PaymentDescribed: { subject: 'subject', fields: ['description', 'remittanceInformation'] } },
};
