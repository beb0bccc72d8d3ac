import type { Event } from '../../kernel/messages.ts';
import type { SweepRule } from '../accounts/account.events.ts';
import type { PaymentQuotedData } from '../payments/payment.events.ts';

/** What arrived on a rule-based account, and where it is to go. Amounts in minor units. */
export interface SweepStartedData {
  sweepId: string;
  /** `<platform>.<environment>`. */
  tenantId: string;
  customerId: string;
  platformCustomerId: string;
  /** The rule-based account. */
  accountId: string;
  canonicalAccountId: string;
  destination: SweepRule['destination'];
  currency: string;
  amountMinor: bigint;
  /** The payment that brought the money. */
  incomingPaymentId: string;
}

/** Why what arrived could not be swept (facts §4, RULE_BASED). */
export const sweepFailureReasons = [
  'BELOW_MINIMUM',
  'ABOVE_MAXIMUM',
  'NO_ELIGIBLE_RAIL',
  'QUOTE_FAILED',
  'EXECUTION_FAILED',
] as const;

export type SweepFailureReason = (typeof sweepFailureReasons)[number];

/** The payment that a sweep makes, apart from what people wrote. */
export type SweepQuote = PaymentQuotedData & { day: string };

interface Of {
  sweepId: string;
}

/**
 * Facts of a sweep. `SweepFailed` sends the money on to the canonical account; `SweepFellBack` says that it is there. `isRefused`: the
 * payment was not executed, so that there never was a transaction.
 */
export type SweepEvent =
  | Event<'SweepStarted', SweepStartedData>
  | Event<
      'SweepQuoted',
      Of & { subject: string; quote: SweepQuote; description?: string; remittanceInformation?: string }
    >
  | Event<'SweepSent', Of & { paymentId: string }>
  | Event<'SweepPending', Of & { checkAt: string }>
  | Event<'SweepWoken', Of>
  | Event<'SweepCompleted', Of>
  | Event<'SweepFailed', Of & { reason: SweepFailureReason; isRefused?: true }>
  | Event<'SweepFallbackReturned', Of & { checkAt: string }>
  | Event<'SweepFellBack', Of>
  | Event<'SweepLost', Of>;

export const sweepEventTypes = [
  'SweepStarted',
  'SweepQuoted',
  'SweepSent',
  'SweepPending',
  'SweepWoken',
  'SweepCompleted',
  'SweepFailed',
  'SweepFallbackReturned',
  'SweepFellBack',
  'SweepLost',
] as const satisfies readonly SweepEvent['type'][];
