import type { Stamped } from '../../kernel/messages.ts';
import { withoutReceiver } from './payment.counterparty.ts';
import type { PaymentEvent, Refund, RefundReason } from './payment.events.ts';
import { isBroughtIn, isPull, type PaymentPhase, type PaymentState } from './payment.state.ts';

/** The state of a payment after an event. */
export function evolve(state: PaymentState, event: PaymentEvent & Stamped): PaymentState {
  const { at } = event;
  const next = { ...state, updatedAt: at };
  switch (event.type) {
    case 'PaymentQuoted':
      return { ...next, ...event.data, phase: 'OPEN', status: 'PENDING', createdAt: at };
    case 'PaymentDescribed': {
      const { subject: _, ...texts } = event.data;
      return { ...next, ...texts };
    }
    case 'CounterpartyTold': {
      const { counterpartyInformation } = event.data;
      return counterpartyInformation && !state.isReceiverErased ? { ...next, counterpartyInformation } : next;
    }
    case 'ReceiverErased':
      return withoutReceiver(state);
    case 'ExecutionRequested': // if it is refused nothing has changed (decision 6)
      return { ...state, phase: 'EXECUTING', ...(event.data.day !== undefined && { day: event.data.day }) };
    case 'ExecutionRefused': {
      const { paymentId: _, ...refusal } = event.data;
      return { ...state, phase: state.immediatelyExecute ? 'REFUSED' : 'OPEN', refusal };
    }
    case 'FundingSenderNamed':
      return { ...next, fundingSender: event.data.sender };
    case 'FundingReceived':
      return {
        ...next,
        receivedMinor: event.data.amountMinor,
        ...(event.data.isBarred && { isBarred: true as const }),
      };
    case 'PaymentStarted':
      return { ...next, phase: firstPhase(state), status: 'PROCESSING', startedAt: at };
    case 'RailPending': {
      const phase = state.phase === 'CHECKING_RETURN' ? 'WATCHING' : 'WAITING';
      return { ...next, phase, waitUntil: event.data.checkAt };
    }
    case 'PaymentWoken':
      return { ...woken(next), phase: state.phase === 'WATCHING' ? 'CHECKING_RETURN' : 'SUBMITTING' };
    case 'RailAccepted':
      return railAccepted(next, event.data.watchUntil, at);
    case 'CancellationRequested':
      return { ...woken(next), phase: 'CANCELLING', cancelRequestedAt: event.data.requestedAt };
    case 'CancellationRefused':
      return { ...next, phase: 'SUBMITTING' };
    case 'ReceiptDeliveryConfirmed':
      return { ...next, receiptDeliveryConfirmedAt: event.data.receiptDeliveryConfirmedAt };
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

/** Funded money that is for an internal account needs no rail any more. */
const firstPhase = (state: PaymentState): PaymentPhase =>
  isBroughtIn(state) && state.destination.kind === 'INTERNAL' ? 'SETTLING' : 'SUBMITTING';

/** A rail has collected the money, which may have to go on by another one, or has paid it out. */
function railAccepted(state: PaymentState, waitUntil: string | undefined, at: string): PaymentState {
  const wait = waitUntil !== undefined && { waitUntil };
  if (!isPull(state) || isBroughtIn(state)) return { ...state, phase: 'SETTLING', ...wait };
  const collected = { ...state, ...wait, receivedMinor: state.terms.sendingMinor };
  return state.destination.kind === 'INTERNAL'
    ? { ...collected, phase: 'SETTLING' }
    : { ...collected, phase: 'SUBMITTING', orderedAt: at };
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
      return { ...state, phase: 'RETURNING', isFeeCredited: false };
    case 'RefundCompleted': {
      const refund = { ...state.refund!, status: 'COMPLETED' as const, settledAt: at };
      const isCancelled = refund.reason === 'USER_CANCELLATION';
      return { ...state, phase: 'DONE', refund, ...(isCancelled && { status: 'COMPLETED' as const, settledAt: at }) };
    }
    case 'RefundFailed':
      return { ...undelivered(state), phase: 'DONE', refund: { ...state.refund!, status: 'FAILED', settledAt: at } };
  }
}

/** A cancelled payment is under way until its refund settles: when the money cannot come back, it has arrived nowhere. */
const undelivered = (state: PaymentState): PaymentState =>
  state.status === 'FAILED' ? state : { ...state, status: 'FAILED', failureReason: 'COUNTERPARTY_POST_TX_FAILED' };

function refunding(state: PaymentState, reason: RefundReason, at: string): PaymentState {
  const refund: Refund = { reference: `${state.reference}-REFUND`, initiatedAt: at, status: 'PENDING', reason };
  return { ...state, phase: 'REFUNDING', refund };
}

function woken(state: PaymentState): PaymentState {
  const { waitUntil: _, ...rest } = state;
  return rest;
}
