import type { IncomingPaymentEvent } from '../../libs/domain/incoming-payments/incoming-payment.events.ts';

const tenantId = '0199dd29-0000-7000-8000-000000000001.sandbox';
const accountId = '0199dd29-1111-7000-8000-00000000000a';
const customerId = '0199dd29-2222-7000-8000-00000000000c';
const paymentId = '0199dd29-4444-7000-8000-00000000000f';
const entry = { from: 'transit:USD', to: 'fees:USD', currency: 'USD', amountMinor: 500n };

/** Examples of incoming UMA payments, for examples.ts. */
export const incomingPayments: {
  readonly [T in IncomingPaymentEvent['type']]: Extract<IncomingPaymentEvent, { type: T }>['data'];
} = {
  IncomingPaymentAnnounced: {
    paymentId,
    tenantId,
    type: 'INCOMING',
    customerId,
    platformCustomerId: 'user-42',
    source: { kind: 'UMA', accountId: '', currency: 'USD' },
    destination: { kind: 'INTERNAL', accountId, currency: 'USD', customerId },
    terms: {
      sendingCurrency: 'USD',
      receivingCurrency: 'USD',
      sendingMinor: 12_345n,
      receivingMinor: 12_345n,
      serviceFeeMinor: 0n,
      platformFeeMinor: 0n,
      convertedMinor: 12_345n,
      exchangeRate: '1',
      rateAsOf: '2025-10-13T12:00:00.000Z',
    },
    reference: 'UMA-0199DD29',
    requestedFields: [{ name: 'FULL_NAME', mandatory: true }],
    origin: { kind: 'CLEARING', tenantId, paymentId },
    subject: customerId,
    senderUmaAddress: '$kofi@other.example',
    receiverUmaAddress: '$amina@pay.example',
    senderCustomerInfo: { FULL_NAME: 'Kofi Mensah', BIRTH_DATE: '1988-02-29' },
  },
  SenderTold: {
    paymentId,
    subject: customerId,
    senderUmaAddress: '$kofi@pay.example',
    senderCustomerInfo: { FULL_NAME: 'Kofi Mensah' },
  },
  SenderErased: { paymentId },
  ApprovalAwaited: { paymentId, until: '2025-10-13T12:00:05.000Z' },
  IncomingPaymentApproved: { paymentId, subject: customerId, receiverCustomerInfo: { FULL_NAME: 'Amina Diop' } },
  IncomingPaymentRejected: { paymentId, subject: customerId, reason: 'Not a customer any more' },
  CollectionPending: { paymentId, checkAt: '2025-10-13T12:06:00.000Z' },
  IncomingPaymentCollected: { paymentId, entries: [{ ...entry, from: 'clearing:USD', to: 'transit:USD' }] },
  DepositPending: { paymentId, checkAt: '2025-10-13T12:00:30.000Z' },
  DepositPaidOut: {
    paymentId,
    entries: [{ ...entry, from: 'transit:USD', to: 'rail:USD' }],
    watchUntil: '2025-10-13T12:00:30.000Z',
  },
  IncomingPaymentWoken: { paymentId },
  IncomingPaymentCompleted: { paymentId },
  DepositReturnExcluded: { paymentId },
  IncomingPaymentFailed: {
    paymentId,
    failureReason: 'MISSING_MANDATORY_PAYEE_DATA',
    isRefunded: false,
    requiredFields: ['BIRTH_DATE'],
    entries: [{ ...entry, from: 'rail:USD', to: 'transit:USD' }],
  },
  IncomingRefundAccepted: { paymentId },
  IncomingRefundCompleted: { paymentId, entries: [{ ...entry, from: 'transit:USD', to: 'clearing:USD' }] },
  IncomingRefundFailed: { paymentId, entries: [{ ...entry, from: 'transit:USD', to: 'suspense:USD' }] },
};
