import type { Decider } from '../../kernel/decider.ts';
import { type Rejection, reject } from '../../kernel/errors.ts';
import { command, type Stamped } from '../../kernel/messages.ts';
import { transitions } from '../../kernel/transitions.ts';
import type { SweepEvent, SweepFailureReason, SweepQuote, SweepStartedData } from './sweep.events.ts';

/** What the worker found out about the payment to the rule's destination. */
export type SweepQuoteAnswer =
  | { outcome: 'QUOTED'; quote: SweepQuote; description?: string; remittanceInformation?: string }
  | { outcome: 'REFUSED'; reason: SweepFailureReason };

/**
 * How a sweep's payment stands. `RETURNED`: it failed, and the rule-based account has, or still has, the money; `isRefused` where it was
 * not even executed, so that there is no transaction. `LOST`: it failed, and what it took could not be returned: an operator's case, as of
 * any such payment.
 */
export type SweepPaymentAnswer =
  | { outcome: 'PENDING'; checkAt: string }
  | { outcome: 'SETTLED' }
  | { outcome: 'RETURNED'; checkAt: string; isRefused?: true }
  | { outcome: 'LOST' };

export class StartSweep extends command('StartSweep')<SweepStartedData>() {}
export class RecordSweepQuote extends command('RecordSweepQuote')<{ sweepId: string; answer: SweepQuoteAnswer }>() {}
/** The payment is quoted and its execution asked for. */
export class RecordSweepSent extends command('RecordSweepSent')<{ sweepId: string; paymentId: string }>() {}
export class RecordSweepPayment extends command('RecordSweepPayment')<{
  sweepId: string;
  answer: SweepPaymentAnswer;
}>() {}
export class WakeSweep extends command('WakeSweep')<{ sweepId: string; now: string }>() {}

export type SweepCommand = StartSweep | RecordSweepQuote | RecordSweepSent | RecordSweepPayment | WakeSweep;

/** `SENDING` and `FOLLOWING` are about the payment to the destination, and, once there is a `reason`, the one to the canonical account. */
export type SweepPhase = 'NONE' | 'QUOTING' | 'SENDING' | 'FOLLOWING' | 'WAITING' | 'DONE';

export interface SweepState extends SweepStartedData {
  phase: SweepPhase;
  /** The payment to be sent, until it is. */
  quote?: SweepQuote;
  description?: string;
  remittanceInformation?: string;
  /** The payment to the destination, once it was sent, and unless it was refused. */
  sendPaymentId?: string;
  /** The payment that is followed. */
  paymentId?: string;
  /** Why the destination did not get it: it goes to the canonical account. */
  reason?: SweepFailureReason;
  failedAt?: string;
  /** Attempts to bring it there that came back. */
  fallbacks: number;
  waitUntil?: string;
  createdAt: string;
  updatedAt: string;
}

/** The life of a sweep. Of several rows for one cell the first holds unless what the comment of a later one says is the case. */
export const sweepTransitions = transitions<SweepPhase, SweepCommand['type']>(
  [
    ['NONE', 'StartSweep', 'QUOTING', 'SweepStarted'],
    [
      ['QUOTING', 'SENDING', 'FOLLOWING', 'WAITING', 'DONE'],
      'StartSweep',
      reject('CONFLICT', { reason: 'SWEEP_EXISTS' }),
    ],
    ['QUOTING', 'RecordSweepQuote', 'SENDING', 'SweepQuoted'],
    // There is no payment to the destination: the one to the canonical account is sent.
    ['QUOTING', 'RecordSweepQuote', 'SENDING', 'SweepFailed'],
    ['SENDING', 'RecordSweepSent', 'FOLLOWING', 'SweepSent'],
    ['FOLLOWING', 'RecordSweepPayment', 'DONE', 'SweepCompleted'],
    // It is under way; it came back, and goes to the canonical account.
    ['FOLLOWING', 'RecordSweepPayment', 'WAITING', 'SweepPending'],
    ['FOLLOWING', 'RecordSweepPayment', 'SENDING', 'SweepFailed'],
    // It is on the canonical account; that could not take it, and is tried again; the money could not come back.
    ['FOLLOWING', 'RecordSweepPayment', 'DONE', 'SweepFellBack'],
    ['FOLLOWING', 'RecordSweepPayment', 'WAITING', 'SweepFallbackReturned'],
    ['FOLLOWING', 'RecordSweepPayment', 'DONE', 'SweepLost'],
    ['WAITING', 'WakeSweep', 'FOLLOWING', 'SweepWoken'],
    // The canonical account is tried again.
    ['WAITING', 'WakeSweep', 'SENDING', 'SweepWoken'],
  ],
  reject('CONFLICT', { reason: 'SWEEP_MOVED_ON' }),
);

function decide(state: SweepState, { type, data }: SweepCommand): SweepEvent[] | Rejection {
  const refusal = sweepTransitions.guard(state.phase, type);
  if (refusal) return refusal;
  const { sweepId } = data;
  switch (type) {
    case 'StartSweep':
      return [{ type: 'SweepStarted', data }];
    case 'RecordSweepQuote': {
      const { answer } = data;
      if (answer.outcome === 'REFUSED') return [{ type: 'SweepFailed', data: { sweepId, reason: answer.reason } }];
      const { outcome: _, ...quoted } = answer;
      return [{ type: 'SweepQuoted', data: { sweepId, subject: state.customerId, ...quoted } }];
    }
    case 'RecordSweepSent':
      return [{ type: 'SweepSent', data }];
    case 'RecordSweepPayment':
      return [followed(state, data.answer)];
    case 'WakeSweep':
      return data.now < state.waitUntil! ? [] : [{ type: 'SweepWoken', data: { sweepId } }];
  }
}

function followed({ sweepId, reason }: SweepState, answer: SweepPaymentAnswer): SweepEvent {
  const isFallback = reason !== undefined;
  switch (answer.outcome) {
    case 'PENDING':
      return { type: 'SweepPending', data: { sweepId, checkAt: answer.checkAt } };
    case 'SETTLED':
      return { type: isFallback ? 'SweepFellBack' : 'SweepCompleted', data: { sweepId } };
    case 'RETURNED':
      return isFallback
        ? { type: 'SweepFallbackReturned', data: { sweepId, checkAt: answer.checkAt } }
        : {
            type: 'SweepFailed',
            data: { sweepId, reason: 'EXECUTION_FAILED', ...(answer.isRefused && { isRefused: true }) },
          };
    case 'LOST':
      return { type: 'SweepLost', data: { sweepId } };
  }
}

function evolve(state: SweepState, event: SweepEvent & Stamped): SweepState {
  const next = { ...state, updatedAt: event.at };
  switch (event.type) {
    case 'SweepStarted':
      return { ...next, ...event.data, phase: 'QUOTING', createdAt: event.at };
    case 'SweepQuoted': {
      const { subject: _, ...quoted } = event.data;
      return { ...next, ...quoted, phase: 'SENDING' };
    }
    case 'SweepSent': {
      const { paymentId } = event.data;
      const sent = { ...withoutQuote(next), phase: 'FOLLOWING' as const, paymentId };
      return state.reason ? sent : { ...sent, sendPaymentId: paymentId };
    }
    case 'SweepPending':
      return { ...next, phase: 'WAITING', waitUntil: event.data.checkAt };
    case 'SweepWoken': {
      const { waitUntil: _, ...woken } = next;
      return { ...woken, phase: state.paymentId === undefined ? 'SENDING' : 'FOLLOWING' };
    }
    case 'SweepFailed': {
      const { reason, isRefused } = event.data;
      const { sendPaymentId, ...failed } = withoutPayment(next);
      const sent = sendPaymentId !== undefined && !isRefused && { sendPaymentId };
      return { ...failed, ...sent, phase: 'SENDING', reason, failedAt: event.at };
    }
    case 'SweepFallbackReturned': {
      const waiting = { phase: 'WAITING' as const, waitUntil: event.data.checkAt, fallbacks: state.fallbacks + 1 };
      return { ...withoutPayment(next), ...waiting };
    }
    case 'SweepCompleted':
    case 'SweepFellBack':
    case 'SweepLost':
      return { ...next, phase: 'DONE' };
  }
}

function withoutPayment({ paymentId: _, ...state }: SweepState): SweepState {
  return state;
}

/** What was sent is the payment's from here on, what people wrote included. */
function withoutQuote({ quote: _, description: __, remittanceInformation: ___, ...state }: SweepState): SweepState {
  return state;
}

/** What arrived on a rule-based account on its way to the rule's destination, or to the holder's canonical account (facts §4). */
export const sweep: Decider<SweepState, SweepCommand, SweepEvent> = {
  name: 'sweep',
  id: 'sweepId',
  commands: [StartSweep, RecordSweepQuote, RecordSweepSent, RecordSweepPayment, WakeSweep],
  creates: ['StartSweep'],
  initial: {
    phase: 'NONE',
    sweepId: '',
    tenantId: '',
    customerId: '',
    platformCustomerId: '',
    accountId: '',
    canonicalAccountId: '',
    destination: { kind: 'INTERNAL', accountId: '' },
    currency: '',
    amountMinor: 0n,
    incomingPaymentId: '',
    fallbacks: 0,
    createdAt: '',
    updatedAt: '',
  },
  decide,
  evolve,
  version: 1,
  personal: { SweepQuoted: { subject: 'subject', fields: ['description', 'remittanceInformation'] } },
};
