import type { ErrorCode } from '../../kernel/errors.ts';
import type { FundingInstructions, FundingSender } from '../../kernel/funding.ts';
import type { Event } from '../../kernel/messages.ts';
import type { CryptoNetwork, PaymentRail } from '../../kernel/rails.ts';
import type { Entry } from '../accounts/account.events.ts';

/** One end of a payment: an internal account here, an external account behind a rail, or whoever sends the money that is waited for. */
export interface PaymentEnd {
  kind: 'INTERNAL' | 'EXTERNAL' | 'REALTIME' | 'UMA';
  /** Empty for `REALTIME` and `UMA`, which no account stands for. */
  accountId: string;
  currency: string;
  /** Whose account it is; absent for the platform's own. */
  customerId?: string;
}

/** How a UMA address is paid: a customer of this deployment, or somebody elsewhere under the UMA provider's name for the agreement. */
export type UmaRoute =
  | { kind: 'HERE'; tenantId: string; customerId: string }
  | { kind: 'ELSEWHERE'; agreement: string };

/** The destination, with the rail that money leaves by when it is external, or the route to a UMA address. */
export interface PaymentDestination extends PaymentEnd {
  paymentRail?: PaymentRail | null;
  /** `MANUAL` when the platform named the rail (facts §3). */
  railSelectionMode?: 'AUTO' | 'MANUAL' | null;
  uma?: UmaRoute;
}

/** The price of a payment in minor units (facts §2). `sending = serviceFee + platformFee + converted`. */
export interface PaymentTerms {
  sendingCurrency: string;
  receivingCurrency: string;
  sendingMinor: bigint;
  receivingMinor: bigint;
  serviceFeeMinor: bigint;
  platformFeeMinor: bigint;
  convertedMinor: bigint;
  exchangeRate: string;
  rateAsOf: string;
}

/** The price of a payment that has none yet. */
export const noTerms: PaymentTerms = {
  sendingCurrency: '',
  receivingCurrency: '',
  sendingMinor: 0n,
  receivingMinor: 0n,
  serviceFeeMinor: 0n,
  platformFeeMinor: 0n,
  convertedMinor: 0n,
  exchangeRate: '1',
  rateAsOf: '',
};

/** The price of what moves as it is: without fees, in one currency. */
export const plainTerms = (currency: string, amountMinor: bigint, rateAsOf = ''): PaymentTerms => ({
  ...noTerms,
  sendingCurrency: currency,
  receivingCurrency: currency,
  sendingMinor: amountMinor,
  receivingMinor: amountMinor,
  convertedMinor: amountMinor,
  rateAsOf,
});

/** How a quote is funded that waits for money from outside (facts §2, Realtime-funding specifics). */
export interface Funding {
  /** Where the money is to be sent, one for each way. */
  instructions: readonly FundingInstructions[];
  cryptoNetwork?: CryptoNetwork;
  /** Where a refund goes: the customer's account of a crypto asset. Absent: to the originating instrument. */
  refundAccountId?: string;
}

/** What people wrote or are known by; encrypted where it is stored. */
export interface PaymentTexts {
  description?: string;
  remittanceInformation?: string;
  /** The sender's UMA address, where the source was named by one (decision 9). */
  sourceUmaAddress?: string;
  destinationUmaAddress?: string;
  /** What the sender's platform told of the sender, by `CustomerInfoFieldName`. */
  senderCustomerInfo?: Readonly<Record<string, unknown>>;
  /** What the receiver's platform told of the receiver. */
  counterpartyInformation?: Readonly<Record<string, unknown>>;
}

export const paymentTexts = [
  'description',
  'remittanceInformation',
  'sourceUmaAddress',
  'destinationUmaAddress',
  'senderCustomerInfo',
  'counterpartyInformation',
] as const satisfies readonly (keyof PaymentTexts)[];

export interface PaymentQuotedData {
  paymentId: string;
  tenantId: string;
  /** `INCOMING`: pulled from an external account into an internal one. */
  type: 'OUTGOING' | 'INCOMING';
  /** Whose payment it is; absent for the platform's own. */
  customerId?: string;
  platformCustomerId: string;
  source: PaymentEnd;
  destination: PaymentDestination;
  terms: PaymentTerms;
  /** The platform's account that its fee is credited to. */
  platformFeeAccountId?: string;
  /** Set when the payment waits for money to be sent. */
  funding?: Funding;
  /** Made by a deprecated transfer, whose outcomes in the sandbox have a table of their own (decision 24). */
  isTransfer?: true;
  /** The most that the source account may send on one day of the tenant, this payment included. */
  dailyLimitMinor?: bigint;
  immediatelyExecute: boolean;
  /** How many `PaymentDescribed` follow with its texts: only then is it told to the platform. Absent: none, or from before this was recorded. */
  descriptions?: number;
  purposeOfPayment?: string;
  reference: string;
  expiresAt: string;
}

/** Why a payment failed (facts §3). */
export type FailureReason =
  | 'QUOTE_EXPIRED'
  | 'QUOTE_EXECUTION_FAILED'
  | 'FUNDING_AMOUNT_MISMATCH'
  | 'PAYOUT_RETURNED'
  | 'ACCOUNT_CANNOT_RECEIVE'
  | 'ACCOUNT_INVALID'
  | 'COMPLIANCE_REJECTED'
  | 'COUNTERPARTY_POST_TX_FAILED'
  | 'COLLECTION_FAILED';

export type RefundReason = 'TRANSACTION_FAILED' | 'USER_CANCELLATION' | 'TIMEOUT';

/** The answer of a rail. `PENDING`: ask again at `checkAt`. `SETTLED` with `watchUntil`: a return may still come until then. */
export type RailAnswer =
  | { outcome: 'PENDING'; checkAt: string }
  | { outcome: 'SETTLED'; watchUntil?: string; counterpartyInformation?: Readonly<Record<string, unknown>> }
  | { outcome: 'REJECTED'; failureReason: FailureReason }
  | { outcome: 'CANCELLED' }
  | { outcome: 'RETURNED' };

/** The return of what a payment took from its source (facts §3). */
export interface Refund {
  reference: string;
  initiatedAt: string;
  settledAt?: string;
  status: 'PENDING' | 'COMPLETED' | 'FAILED';
  reason: RefundReason;
}

/** Facts of a payment. `at` of the event is the time of each. */
export type PaymentEvent =
  | Event<'PaymentQuoted', PaymentQuotedData>
  | Event<'PaymentDescribed', { paymentId: string; subject: string } & PaymentTexts>
  | Event<'ExecutionRequested', { paymentId: string; day?: string }>
  | Event<'FundingSenderNamed', { paymentId: string; subject: string; sender: FundingSender }>
  | Event<'FundingReceived', { paymentId: string; amountMinor: bigint; entries: readonly Entry[]; isBarred?: true }>
  | Event<'ExecutionRefused', { paymentId: string; code: ErrorCode; reason?: string }>
  | Event<'PaymentStarted', { paymentId: string }>
  | Event<
      'CounterpartyTold',
      { paymentId: string; subject: string; counterpartyInformation?: Readonly<Record<string, unknown>> }
    >
  | Event<'ReceiverErased', { paymentId: string }>
  | Event<'RailPending', { paymentId: string; checkAt: string }>
  | Event<'PaymentWoken', { paymentId: string }>
  | Event<'RailAccepted', { paymentId: string; watchUntil?: string; entries?: readonly Entry[] }>
  | Event<'PaymentCompleted', { paymentId: string }>
  | Event<'ReturnExcluded', { paymentId: string }>
  | Event<
      'PaymentFailed',
      { paymentId: string; failureReason: FailureReason; isRefunded: boolean; isFeeCredited?: boolean }
    >
  | Event<'CancellationRequested', { paymentId: string; subject: string; requestedAt: string; reason?: string }>
  | Event<'CancellationRefused', { paymentId: string }>
  | Event<'PaymentCancelled', { paymentId: string }>
  | Event<'RefundAccepted', { paymentId: string }>
  | Event<'RefundRefused', { paymentId: string }>
  | Event<'PlatformFeeReversed', { paymentId: string; entries?: readonly Entry[] }>
  | Event<'RefundCompleted', { paymentId: string; entries?: readonly Entry[] }>
  | Event<'RefundFailed', { paymentId: string; entries?: readonly Entry[] }>
  | Event<'PaymentExpired', { paymentId: string }>
  | Event<'ReceiptDeliveryConfirmed', { paymentId: string; receiptDeliveryConfirmedAt: string }>;

export const paymentEventTypes = [
  'PaymentQuoted',
  'PaymentDescribed',
  'ExecutionRequested',
  'ExecutionRefused',
  'PaymentStarted',
  'RailPending',
  'PaymentWoken',
  'RailAccepted',
  'PaymentCompleted',
  'ReturnExcluded',
  'PaymentFailed',
  'PaymentCancelled',
  'RefundAccepted',
  'RefundRefused',
  'PlatformFeeReversed',
  'RefundCompleted',
  'RefundFailed',
  'PaymentExpired',
  'FundingReceived',
  'FundingSenderNamed',
  'CancellationRequested',
  'CancellationRefused',
  'ReceiptDeliveryConfirmed',
  'CounterpartyTold',
  'ReceiverErased',
] as const satisfies readonly PaymentEvent['type'][];
