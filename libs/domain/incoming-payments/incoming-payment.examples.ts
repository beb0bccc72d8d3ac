import type { ReceivePayment } from './incoming-payment.commands.ts';

const paymentId = '0195-incoming';

/** 100.00 USD from a sender elsewhere, for an internal account. */
export const fromElsewhere: ReceivePayment['data'] = {
  paymentId,
  tenantId: 'p.sandbox',
  customerId: 'bob',
  platformCustomerId: 'customer-bob',
  source: { kind: 'UMA', accountId: '', currency: 'USD' },
  destination: { kind: 'INTERNAL', accountId: 'deposit', currency: 'USD', customerId: 'bob' },
  terms: {
    sendingCurrency: 'USD',
    receivingCurrency: 'USD',
    sendingMinor: 10_000n,
    receivingMinor: 10_000n,
    serviceFeeMinor: 0n,
    platformFeeMinor: 0n,
    convertedMinor: 10_000n,
    exchangeRate: '1',
    rateAsOf: '2026-01-01T00:00:00.000Z',
  },
  reference: 'UMA-1',
  requestedFields: [],
  origin: { kind: 'UMA', agreement: '' },
  senderUmaAddress: '$ada@sandbox.example',
  receiverUmaAddress: '$bob@pay.example',
};

/** The same from a platform of this deployment. */
export const fromHere: ReceivePayment['data'] = {
  ...fromElsewhere,
  origin: { kind: 'CLEARING', tenantId: 'q.sandbox', paymentId: '0195-payment' },
};

/** The same for an external account. */
export const toBank: ReceivePayment['data'] = {
  ...fromElsewhere,
  destination: { kind: 'EXTERNAL', accountId: 'iban', currency: 'USD', customerId: 'bob', paymentRail: 'ACH' },
};
