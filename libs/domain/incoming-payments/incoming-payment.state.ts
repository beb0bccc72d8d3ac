import type { Refund } from '../payments/payment.events.ts';
import type { IncomingFailureReason, IncomingPaymentData, PersonInfo } from './incoming-payment.events.ts';

/**
 * Where an incoming payment stands in its process. The names differ from those of other payments, beside which it lies in one read
 * table, except for the last one.
 */
export type IncomingPhase =
  | 'NONE'
  | 'ASKING'
  | 'DECIDING'
  | 'COLLECTING'
  | 'AWAITING_MONEY'
  | 'DEPOSITING'
  | 'AWAITING_DEPOSIT'
  | 'DEPOSITED'
  | 'CHECKING_DEPOSIT'
  | 'GIVING_BACK'
  | 'DONE';

/** Public status (facts §3): `PENDING` until it is approved. */
export type IncomingStatus = 'PENDING' | 'PROCESSING' | 'COMPLETED' | 'REJECTED' | 'FAILED';

export interface IncomingPaymentState extends IncomingPaymentData {
  phase: IncomingPhase;
  status: IncomingStatus;
  /** What the platform said of its customer. */
  receiverCustomerInfo?: PersonInfo;
  rejectionReason?: string;
  approvedAt?: string;
  /** When the process wants to be woken. */
  waitUntil?: string;
  settledAt?: string;
  /** The sender, a customer of the same platform, was erased. */
  isSenderErased?: true;
  failureReason?: IncomingFailureReason;
  refund?: Refund;
  createdAt: string;
  updatedAt: string;
}
