import { Type } from 'typebox';
import type { IncomingPaymentState } from '../../libs/domain/incoming-payments/incoming-payment.state.ts';
import { platformPublicId } from '../../libs/domain/platforms/platform.ts';
import { type WebhookEvent, webhookEventType } from '../../libs/domain/webhooks/event-types.ts';
import { publicId } from '../../libs/kernel/ids.ts';
import type { RecordedEvent } from '../../libs/kernel/messages.ts';
import type { Announcement, Announcer, StateRow } from '../../libs/kernel/projection.ts';
import { asTransaction, payments } from '../payments.ts';
import { RequiredPayerField } from '../receiver.view.ts';
import { IncomingTransaction, transactionView } from '../transaction.view.ts';

/** An incoming payment as its webhooks carry it: while it is pending, with what the sender's side asks of the receiver. */
export const IncomingPaymentWebhookData = Type.Object(
  {
    ...IncomingTransaction.properties,
    requestedReceiverCustomerInfoFields: Type.Optional(
      Type.Array(RequiredPayerField, { description: 'To be told in `receiverCustomerInfo` when you approve.' }),
    ),
  },
  { $id: 'IncomingPaymentWebhookData' },
);

/** What each event of a payment to a UMA address says to the receiver's platform. */
const announced: Readonly<Record<string, WebhookEvent>> = {
  IncomingPaymentAnnounced: 'INCOMING_PAYMENT.PENDING',
  IncomingPaymentCompleted: 'INCOMING_PAYMENT.COMPLETED',
  IncomingPaymentRejected: 'INCOMING_PAYMENT.FAILED',
  IncomingPaymentFailed: 'INCOMING_PAYMENT.FAILED',
  IncomingRefundAccepted: 'INCOMING_PAYMENT.REFUND_PENDING',
  IncomingRefundCompleted: 'INCOMING_PAYMENT.REFUND_COMPLETED',
  IncomingRefundFailed: 'INCOMING_PAYMENT.REFUND_FAILED',
};

/** The first one asks for approval: the process sends it. */
export const incomingPaymentAnnouncer: Announcer = {
  handles: Object.keys(announced),
  announce(event, read) {
    const { paymentId } = event.data as { paymentId: string };
    const row = read(payments, paymentId) as StateRow<unknown> | undefined;
    return row ? [incomingAnnouncement(row.state as IncomingPaymentState, event)] : [];
  },
};

/** What is said of an incoming payment, as it stands after the event. */
export function incomingAnnouncement(state: IncomingPaymentState, event: RecordedEvent): Announcement {
  const view = transactionView(asTransaction(state), event.at, platformPublicId(event.meta.tenant));
  const isAwaited = event.type === 'IncomingPaymentAnnounced';
  const requested = isAwaited && { requestedReceiverCustomerInfoFields: state.requestedFields };
  return {
    type: webhookEventType(announced[event.type]!).type,
    resource: publicId('Transaction', state.paymentId),
    sequence: event.revision + 1,
    data: { ...view, ...requested },
    ...(isAwaited && { isAwaited }),
  };
}
