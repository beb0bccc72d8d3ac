import { derivedUuid } from '../../kernel/ids.ts';
import type { Process, Refused, Step } from '../../kernel/process.ts';
import { type AccountState, account, ConfirmSweepsStarted } from '../accounts/account.ts';
import { plainTerms } from '../payments/payment.events.ts';
import { QuotePayment } from '../payments/payment.ts';
import type { SweepQuote } from './sweep.events.ts';
import {
  RecordSweepPayment,
  RecordSweepQuote,
  RecordSweepSent,
  StartSweep,
  type SweepPaymentAnswer,
  type SweepQuoteAnswer,
  type SweepState,
  sweep,
  WakeSweep,
} from './sweep.ts';

/** A payment is asked for from the rule-based account to its destination. */
export interface SweepQuoteRequest {
  sweepId: string;
  paymentId: string;
  tenantId: string;
  accountId: string;
  amountMinor: bigint;
}

/** How this payment stands; it is driven as far as it goes first. */
export interface SweepPaymentRequest {
  tenantId: string;
  paymentId: string;
}

/** The id of the sweep of what a payment brought to an account. */
export const sweepIdOf = (accountId: string, paymentId: string): string => derivedUuid('sweep', accountId, paymentId);

/** Begins a sweep for everything that arrived on a rule-based account; an account holds nothing that no sweep is about. */
export const startSweeps: Process<AccountState> = {
  name: 'startSweeps',
  decider: account,
  startsOn: ['SweepRequested'],
  next({ accountId, rule, arrivals = [], tenantId, customerId = '', platformCustomerId, currency }) {
    if (!rule || arrivals.length === 0) return undefined;
    const { canonicalAccountId, destination } = rule;
    const common = { tenantId, customerId, platformCustomerId, accountId, currency, canonicalAccountId, destination };
    return {
      sends: arrivals.map(({ paymentId, amountMinor }) => {
        const sweepId = sweepIdOf(accountId, paymentId);
        return new StartSweep({ ...common, sweepId, amountMinor, incomingPaymentId: paymentId });
      }),
      after(refused?: Refused) {
        const isKnown = refused?.rejection.details?.reason === 'SWEEP_EXISTS';
        if (refused && !isKnown) throw unexpected(refused);
        const begun = refused ? arrivals.slice(0, refused.at + 1) : arrivals;
        return new ConfirmSweepsStarted({ accountId, paymentIds: begun.map(({ paymentId }) => paymentId) });
      },
    };
  },
  dueAt: () => undefined,
  wake: () => undefined,
};

/** What is done next for a sweep: every step is recorded before the next one, so that a crash repeats a step and never adds one. */
function next(state: SweepState): Step | undefined {
  const { sweepId, tenantId } = state;
  switch (state.phase) {
    case 'QUOTING':
      return {
        call: 'sweepQuote',
        request: quoteRequest(state),
        after: (answer: SweepQuoteAnswer) => new RecordSweepQuote({ sweepId, answer }),
      };
    case 'SENDING': {
      const quote = state.reason ? fallbackQuote(state) : state.quote!;
      const { description, remittanceInformation } = state;
      const texts = {
        ...(description !== undefined && { description }),
        ...(remittanceInformation !== undefined && { remittanceInformation }),
      };
      return {
        sends: [new QuotePayment({ ...quote, ...(!state.reason && texts) })],
        after: unrefusable(new RecordSweepSent({ sweepId, paymentId: quote.paymentId })),
      };
    }
    case 'FOLLOWING':
      return {
        call: 'sweepPayment',
        request: { tenantId, paymentId: state.paymentId! } satisfies SweepPaymentRequest,
        after: (answer: SweepPaymentAnswer) => new RecordSweepPayment({ sweepId, answer }),
      };
    default:
      return undefined;
  }
}

const quoteRequest = ({ sweepId, tenantId, accountId, amountMinor }: SweepState): SweepQuoteRequest => ({
  sweepId,
  paymentId: derivedUuid('sweep payment', sweepId),
  tenantId,
  accountId,
  amountMinor,
});

/** The whole of it to the canonical account: no fee, no limit, and at once. */
function fallbackQuote(state: SweepState): SweepQuote {
  const { sweepId, fallbacks, tenantId, customerId, platformCustomerId, accountId, currency, amountMinor } = state;
  const paymentId = derivedUuid('sweep fallback', sweepId, String(fallbacks));
  return {
    paymentId,
    tenantId,
    type: 'OUTGOING',
    customerId,
    platformCustomerId,
    source: { kind: 'INTERNAL', accountId, currency, customerId },
    destination: { kind: 'INTERNAL', accountId: state.canonicalAccountId, currency, customerId },
    terms: plainTerms(currency, amountMinor, state.failedAt!),
    immediatelyExecute: true,
    day: state.failedAt!.slice(0, 10),
    reference: `SWEEP-${paymentId.slice(-12).toUpperCase()}`,
    expiresAt: state.failedAt!,
  };
}

/** For sends that cannot be refused: a refusal is a fault that must stop the process and be seen. */
const unrefusable =
  <C>(done: C) =>
  (refused?: Refused): C => {
    if (refused) throw unexpected(refused);
    return done;
  };

const unexpected = ({ rejection }: Refused): Error =>
  new Error(`a step that cannot be refused was refused: ${rejection.code}`);

/** Brings what arrived on a rule-based account to the rule's destination, or to the canonical account (facts §4). */
export const completeSweep: Process<SweepState> = {
  name: 'completeSweep',
  decider: sweep,
  startsOn: ['SweepStarted', 'SweepWoken'],
  next,
  dueAt: ({ phase, waitUntil }) => (phase === 'WAITING' ? waitUntil : undefined),
  wake: ({ phase, sweepId }, now) => (phase === 'WAITING' ? new WakeSweep({ sweepId, now }) : undefined),
};
