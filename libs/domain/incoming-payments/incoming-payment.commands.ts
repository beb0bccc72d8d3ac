import { command } from '../../kernel/messages.ts';
import type { RailAnswer } from '../payments/payment.events.ts';
import type { IncomingFailureReason, IncomingPaymentData, PersonInfo } from './incoming-payment.events.ts';

/**
 * What the platform's answer to the approval webhook says. `ACKNOWLEDGED`: it decides through the API, at the latest at `until`.
 * `INSUFFICIENT`: it wants to know more of the sender.
 */
export type ApprovalAnswer =
  | { outcome: 'APPROVED'; receiverCustomerInfo?: PersonInfo }
  | { outcome: 'ACKNOWLEDGED'; until: string }
  | { outcome: 'REJECTED'; reason?: string }
  | { outcome: 'INSUFFICIENT'; requiredFields: readonly string[] }
  | { outcome: 'TIMED_OUT' }
  | { outcome: 'ERROR' };

/** How the sender's money stands. `PENDING`: asked again at `checkAt`. */
export type CollectionAnswer =
  | { outcome: 'PENDING'; checkAt: string }
  | { outcome: 'SETTLED' }
  | { outcome: 'REJECTED'; failureReason: IncomingFailureReason };

/** A payment to a customer's UMA address is announced; repeated, it changes nothing. */
export class ReceivePayment extends command('ReceivePayment')<Omit<IncomingPaymentData, 'subject' | 'type'>>() {}
/** The answer to the webhook; one that comes after the decision changes nothing. */
export class RecordApproval extends command('RecordApproval')<{ paymentId: string; answer: ApprovalAnswer }>() {}
export class ApprovePayment extends command('ApprovePayment')<{
  paymentId: string;
  receiverCustomerInfo?: PersonInfo;
}>() {}
export class RejectPayment extends command('RejectPayment')<{ paymentId: string; reason?: string }>() {}
/** Whether the sender's money is in. */
export class RecordCollection extends command('RecordCollection')<{ paymentId: string; answer: CollectionAnswer }>() {}
/** What the rail to the external account said. */
export class RecordDeposit extends command('RecordDeposit')<{ paymentId: string; answer: RailAnswer }>() {}
/** The internal account holds the money. */
export class CompleteDeposit extends command('CompleteDeposit')<{ paymentId: string }>() {}
/** The internal account refused it. */
export class FailDeposit extends command('FailDeposit')<{ paymentId: string }>() {}
/** Whether the money could be sent back. */
export class RecordGivingBack extends command('RecordGivingBack')<{ paymentId: string; isAccepted: boolean }>() {}
export class WakeIncoming extends command('WakeIncoming')<{ paymentId: string; now: string }>() {}
/** The sender, a customer of the same platform, was erased. After this its key is destroyed. */
export class EraseSender extends command('EraseSender')<{ paymentId: string }>() {}

export type IncomingPaymentCommand =
  | ReceivePayment
  | RecordApproval
  | ApprovePayment
  | RejectPayment
  | RecordCollection
  | RecordDeposit
  | CompleteDeposit
  | FailDeposit
  | RecordGivingBack
  | WakeIncoming
  | EraseSender;
