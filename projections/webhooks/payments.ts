import type { PaymentState } from '../../libs/domain/payments/payment.ts';
import { platformPublicId } from '../../libs/domain/platforms/platform.ts';
import { type WebhookEvent, webhookEventType } from '../../libs/domain/webhooks/event-types.ts';
import { publicId } from '../../libs/kernel/ids.ts';
import type { RecordedEvent } from '../../libs/kernel/messages.ts';
import type { Announcement, Announcer, StateRow } from '../../libs/kernel/projection.ts';
import { payments } from '../payments.ts';
import { transactionView } from '../transaction.view.ts';

/** What each event of a payment says to the platform, by the type of the transaction. An incoming one is announced when it ends. */
const announced: Readonly<Record<string, { OUTGOING?: WebhookEvent; INCOMING?: WebhookEvent }>> = {
  PaymentQuoted: { OUTGOING: 'OUTGOING_PAYMENT.PENDING' },
  PaymentDescribed: { OUTGOING: 'OUTGOING_PAYMENT.PENDING' },
  PaymentStarted: { OUTGOING: 'OUTGOING_PAYMENT.PROCESSING' },
  PaymentCompleted: { OUTGOING: 'OUTGOING_PAYMENT.COMPLETED', INCOMING: 'INCOMING_PAYMENT.COMPLETED' },
  PaymentFailed: { OUTGOING: 'OUTGOING_PAYMENT.FAILED', INCOMING: 'INCOMING_PAYMENT.FAILED' },
  PaymentExpired: { OUTGOING: 'OUTGOING_PAYMENT.EXPIRED' },
  PaymentCancelled: { OUTGOING: 'OUTGOING_PAYMENT.REFUND_PENDING' },
  RefundAccepted: { OUTGOING: 'OUTGOING_PAYMENT.REFUND_PENDING', INCOMING: 'INCOMING_PAYMENT.REFUND_PENDING' },
  RefundCompleted: { OUTGOING: 'OUTGOING_PAYMENT.REFUND_COMPLETED', INCOMING: 'INCOMING_PAYMENT.REFUND_COMPLETED' },
  RefundFailed: { OUTGOING: 'OUTGOING_PAYMENT.REFUND_FAILED', INCOMING: 'INCOMING_PAYMENT.REFUND_FAILED' },
};

const isQuote = ({ type }: RecordedEvent): boolean => type === 'PaymentQuoted' || type === 'PaymentDescribed';

/** The last event of a quote that waits for its execution: the last one with its texts, where it says that they follow. */
const completesQuote = ({ revision }: RecordedEvent, { immediatelyExecute, descriptions = 0 }: PaymentState): boolean =>
  !immediatelyExecute && revision === descriptions;

/** A payment's transaction after each of its public steps. A quote that executes at once is never announced as pending. */
export const paymentAnnouncer: Announcer = {
  handles: [...Object.keys(announced), 'DepositReceived'],
  announce(event, read) {
    const { paymentId } = event.data as { paymentId: string };
    const row = read(payments, paymentId) as StateRow<PaymentState> | undefined;
    if (!row) return [];
    if (event.type === 'DepositReceived') return [announcement('INCOMING_PAYMENT.COMPLETED', row.state, event, 1)];
    const { state } = row;
    if (isQuote(event) && !completesQuote(event, state)) return [];
    if (event.type === 'RefundAccepted' && state.refund?.reason === 'USER_CANCELLATION') return [];
    const type = announced[event.type]?.[state.type];
    return type ? [announcement(type, state, event, event.revision + 1)] : [];
  },
};

function announcement(type: WebhookEvent, state: PaymentState, event: RecordedEvent, sequence: number): Announcement {
  return {
    type: webhookEventType(type).type,
    resource: publicId('Transaction', state.paymentId),
    sequence,
    data: transactionView(state, event.at, platformPublicId(event.meta.tenant)),
  };
}
