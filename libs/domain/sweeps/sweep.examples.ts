import type { Event } from '../../kernel/messages.ts';
import { internalQuote } from '../payments/payment.examples.ts';
import type { SweepQuote, SweepStartedData } from './sweep.events.ts';

export const sweepId = '0199dd29-0000-7000-8000-0000000000b1';

export const started: SweepStartedData = {
  sweepId,
  tenantId: 'p.sandbox',
  customerId: 'c',
  platformCustomerId: 'amina-1',
  accountId: 'rule',
  canonicalAccountId: 'canonical',
  destination: { kind: 'INTERNAL', accountId: 'destination' },
  currency: 'USD',
  amountMinor: 10_000n,
  incomingPaymentId: 'D1',
};

export const sweepQuote: SweepQuote = {
  ...internalQuote,
  paymentId: 'S1',
  immediatelyExecute: true,
  day: '2026-01-01',
};

const of = (type: string, more: object = {}): Event => ({ type, data: { sweepId, ...more } });

export const facts = {
  started: { type: 'SweepStarted', data: started } as Event,
  quoted: of('SweepQuoted', { subject: 'c', quote: sweepQuote, description: 'Rent' }),
  sent: (paymentId = 'S1') => of('SweepSent', { paymentId }),
  pending: of('SweepPending', { checkAt: '2026-01-01T00:00:30.000Z' }),
  woken: of('SweepWoken'),
  completed: of('SweepCompleted'),
  failed: (reason = 'EXECUTION_FAILED') => of('SweepFailed', { reason }),
  returned: of('SweepFallbackReturned', { checkAt: '2026-01-01T00:00:30.000Z' }),
  fellBack: of('SweepFellBack'),
  lost: of('SweepLost'),
};

const { quoted, sent, pending } = facts;

/** The history of a sweep in each phase. */
export const sweepHistories: Readonly<Record<string, readonly Event[]>> = {
  NONE: [],
  QUOTING: [facts.started],
  SENDING: [facts.started, quoted],
  FOLLOWING: [facts.started, quoted, sent()],
  WAITING: [facts.started, quoted, sent(), pending],
  DONE: [facts.started, quoted, sent(), facts.completed],
};
