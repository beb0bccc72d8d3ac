import type { Rejection } from '../kernel/errors.ts';
import type { Tenant } from '../kernel/messages.ts';

/** An order to a rail: money out to an external account, or in from one. Amounts in minor units. */
export interface RailOrder {
  /** Idempotency key: the same order is carried out once, and answered with how it stands now. */
  reference: string;
  /** Whose money moves. */
  tenant: Tenant;
  direction: 'PAYOUT' | 'COLLECTION';
  /** Last three characters of the external account's identifier, as they were when it was added. */
  suffix: string;
  currency: string;
  amountMinor: bigint;
  /** RFC 3339, by the clock of the platform. */
  orderedAt: string;
  /** It was settled before; asked whether it has been returned since. */
  isSettled: boolean;
  /** It comes from one of the deprecated transfers (decision 24). */
  isTransfer?: boolean;
}

/**
 * `PENDING`: ask again at `checkAt`. `SETTLED` with `watchUntil`: ask for a return then. To that question both say that it may still
 * come back, and `SETTLED` alone that it cannot any more. A timeout is no answer: it throws.
 */
export type RailOrderAnswer =
  | { outcome: 'PENDING'; checkAt: string }
  | { outcome: 'SETTLED'; watchUntil?: string }
  | {
      outcome: 'REJECTED';
      failureReason:
        | 'QUOTE_EXECUTION_FAILED'
        | 'COUNTERPARTY_POST_TX_FAILED'
        | 'COLLECTION_FAILED'
        | 'ACCOUNT_INVALID'
        | 'ACCOUNT_CANNOT_RECEIVE';
    }
  | { outcome: 'CANCELLED' }
  | { outcome: 'RETURNED' };

/** Bank and chain rails. */
export interface Rails {
  carryOut(order: RailOrder): Promise<RailOrderAnswer>;
  /** Whether money of a failed payout can be brought back. */
  refund(order: { reference: string; suffix: string; isTransfer?: boolean }): Promise<boolean>;
  /** Whether an order that is not settled was stopped, as of `requestedAt` (RFC 3339): asked again, the same answer. */
  cancel(order: RailOrder & { requestedAt: string }): Promise<boolean>;
}

/** What an environment without rails answers: nothing is recorded then (decision 14). */
export type RailsOf = (environment: string) => Rails | Rejection;
