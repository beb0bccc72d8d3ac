import type { Event } from '../../kernel/messages.ts';
import type { Entry } from '../accounts/account.events.ts';
import type { PaymentDestination, PaymentEnd, PaymentTerms } from '../payments/payment.events.ts';

/** What a side wants to know of the other side's customer (spec, `CounterpartyFieldDefinition`). */
export interface RequestedField {
  name: string;
  mandatory: boolean;
}

/** Free facts about a person by `CustomerInfoFieldName`. */
export type PersonInfo = Readonly<Record<string, unknown>>;

/** A payment to a customer's UMA address, as it was announced. */
export interface IncomingPaymentData {
  paymentId: string;
  tenantId: string;
  type: 'INCOMING';
  customerId: string;
  platformCustomerId: string;
  /** `UMA`: the sender. */
  source: PaymentEnd;
  destination: PaymentDestination;
  /** The same amount on both sides: what the sender's side has converted already. */
  terms: PaymentTerms;
  reference: string;
  /** What the sender's side wants to know of the customer. */
  requestedFields: readonly RequestedField[];
  /** Where the money comes from: the clearing account, or UMA's own rail under the provider's name for the agreement. */
  origin: { kind: 'CLEARING'; tenantId: string; paymentId: string } | { kind: 'UMA'; agreement: string };
  /** Whose key encrypts what follows: the receiving customer's. */
  subject: string;
  senderUmaAddress?: string;
  receiverUmaAddress?: string;
  senderCustomerInfo?: PersonInfo;
  /** The sender where it is a customer of the same platform: what is known of it is told apart, under its own key. */
  senderCustomerId?: string;
}

/** What is known of a sender who is a customer of the same platform. */
export type SenderFacts = Pick<IncomingPaymentData, 'senderUmaAddress' | 'senderCustomerInfo'>;

/** Why an incoming payment failed (facts §3). */
export type IncomingFailureReason =
  | 'LNURLP_FAILED'
  | 'PAY_REQUEST_FAILED'
  | 'PAYMENT_APPROVAL_WEBHOOK_ERROR'
  | 'PAYMENT_APPROVAL_TIMED_OUT'
  | 'OFFRAMP_FAILED'
  | 'MISSING_MANDATORY_PAYEE_DATA'
  | 'QUOTE_EXPIRED'
  | 'QUOTE_EXECUTION_FAILED'
  | 'COMPLIANCE_REJECTED'
  | 'COLLECTION_FAILED';

interface Of {
  paymentId: string;
}
type Moved = Of & { entries: readonly Entry[] };

/** Facts of an incoming UMA payment. Times are RFC 3339 UTC. */
export type IncomingPaymentEvent =
  | Event<'IncomingPaymentAnnounced', IncomingPaymentData>
  | Event<'SenderTold', Of & { subject: string } & SenderFacts>
  | Event<'SenderErased', Of>
  | Event<'ApprovalAwaited', Of & { until: string }>
  | Event<'IncomingPaymentApproved', Of & { subject: string; receiverCustomerInfo?: PersonInfo }>
  | Event<'IncomingPaymentRejected', Of & { subject: string; reason?: string }>
  | Event<'CollectionPending', Of & { checkAt: string }>
  | Event<'IncomingPaymentCollected', Moved>
  | Event<'DepositPending', Of & { checkAt: string }>
  | Event<'DepositPaidOut', Moved & { watchUntil?: string }>
  | Event<'IncomingPaymentWoken', Of>
  | Event<'IncomingPaymentCompleted', Of>
  | Event<'DepositReturnExcluded', Of>
  | Event<
      'IncomingPaymentFailed',
      Of & {
        failureReason: IncomingFailureReason;
        isRefunded: boolean;
        requiredFields?: readonly string[];
        entries?: readonly Entry[];
      }
    >
  | Event<'IncomingRefundAccepted', Of>
  | Event<'IncomingRefundCompleted', Moved>
  | Event<'IncomingRefundFailed', Moved>;

export const incomingPaymentEventTypes = [
  'IncomingPaymentAnnounced',
  'SenderTold',
  'SenderErased',
  'ApprovalAwaited',
  'IncomingPaymentApproved',
  'IncomingPaymentRejected',
  'CollectionPending',
  'IncomingPaymentCollected',
  'DepositPending',
  'DepositPaidOut',
  'IncomingPaymentWoken',
  'IncomingPaymentCompleted',
  'DepositReturnExcluded',
  'IncomingPaymentFailed',
  'IncomingRefundAccepted',
  'IncomingRefundCompleted',
  'IncomingRefundFailed',
] as const satisfies readonly IncomingPaymentEvent['type'][];
