import type { ErrorCode } from '../../kernel/errors.ts';
import type { FundingSender } from '../../kernel/funding.ts';
import { command } from '../../kernel/messages.ts';
import type { PaymentQuotedData, PaymentTexts, RailAnswer } from './payment.events.ts';

/** Makes the quote and its transaction; with `immediatelyExecute` the execution is requested in the same breath, on the tenant's `day`. */
export class QuotePayment extends command('QuotePayment')<
  Omit<PaymentQuotedData, 'descriptions'> & PaymentTexts & { day?: string }
>() {}
export class ExecutePayment extends command('ExecutePayment')<{ paymentId: string; now: string }>() {}
/** The source account refused: nothing moved. */
export class RefuseExecution extends command('RefuseExecution')<{
  paymentId: string;
  code: ErrorCode;
  reason?: string;
}>() {}
/** The source is debited or reserved (or will be pulled from): the payment goes to its rail. */
export class StartPayment extends command('StartPayment')<{ paymentId: string }>() {}
/**
 * Money came in for a quote that waits for it. `INVALID_CURRENCY` when it is not the currency asked for; any other amount than the one
 * asked for fails the payment, and goes back.
 */
export class ReceiveFunding extends command('ReceiveFunding')<{
  paymentId: string;
  currency: string;
  amountMinor: bigint;
  now: string;
  /** As far as the rail says. */
  sender?: FundingSender;
  /** Money may not move for these customers, or to this destination, any more: it goes back. */
  isBarred?: true;
}>() {}
/** What the rail said, to the order or to a later question. */
export class RecordRailAnswer extends command('RecordRailAnswer')<{ paymentId: string; answer: RailAnswer }>() {}
export class WakePayment extends command('WakePayment')<{ paymentId: string; now: string }>() {}
/** The money has arrived at its destination. */
export class CompletePayment extends command('CompletePayment')<{ paymentId: string }>() {}
/** The destination, or the platform's fee account before it, refused money that has left the source. */
export class FailDelivery extends command('FailDelivery')<{ paymentId: string; isFeeCredited: boolean }>() {}
/** Asks the rail to stop an order that has not settled (facts §3, cancel). `reason` is the platform's, as free text. */
export class CancelPayment extends command('CancelPayment')<{ paymentId: string; now: string; reason?: string }>() {}
/** Whether the rail could still stop it. */
export class RecordCancelAnswer extends command('RecordCancelAnswer')<{ paymentId: string; isAccepted: boolean }>() {}
export class RecordRefundAnswer extends command('RecordRefundAnswer')<{ paymentId: string; isAccepted: boolean }>() {}
/** The platform gave its fee back; where it could not, `isCovered` says that the service advances it. */
export class ReversePlatformFee extends command('ReversePlatformFee')<{ paymentId: string; isCovered: boolean }>() {}
/** The account that the money was to go back to cannot take it. */
export class SetRefundAside extends command('SetRefundAside')<{ paymentId: string }>() {}
/** The refund has reached its end: the money is back, or set aside where it could not be returned. */
export class SettleRefund extends command('SettleRefund')<{ paymentId: string }>() {}
export class ExpirePayment extends command('ExpirePayment')<{ paymentId: string; now: string }>() {}
/** The platform says that the receiver knows; said again, the later time holds. `isDeposit`: a transaction without a quote. */
export class ConfirmReceipt extends command('ConfirmReceipt')<{
  paymentId: string;
  receiptDeliveryConfirmedAt: string;
  isDeposit: boolean;
}>() {}
/** The receiver, a customer of the same platform, was erased. After this its key is destroyed. */
export class EraseReceiver extends command('EraseReceiver')<{ paymentId: string }>() {}

export type PaymentCommand =
  | QuotePayment
  | ExecutePayment
  | RefuseExecution
  | StartPayment
  | RecordRailAnswer
  | WakePayment
  | CompletePayment
  | FailDelivery
  | RecordRefundAnswer
  | ReversePlatformFee
  | SettleRefund
  | ExpirePayment
  | ReceiveFunding
  | CancelPayment
  | RecordCancelAnswer
  | SetRefundAside
  | ConfirmReceipt
  | EraseReceiver;
