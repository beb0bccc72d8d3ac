import type { PaymentQuotedData, PaymentTerms } from './payment.events.ts';

/** 1,000.00 USD to EUR with 5.00 USD service fee: facts §2's worked example. */
export const crossCurrencyTerms: PaymentTerms = {
  sendingCurrency: 'USD',
  receivingCurrency: 'EUR',
  sendingMinor: 100_000n,
  receivingMinor: 91_540n,
  serviceFeeMinor: 500n,
  platformFeeMinor: 0n,
  convertedMinor: 99_500n,
  exchangeRate: '1.08695652',
  rateAsOf: '2026-01-01T00:00:00.000Z',
};

export const sameCurrencyTerms: PaymentTerms = {
  sendingCurrency: 'USD',
  receivingCurrency: 'USD',
  sendingMinor: 10_000n,
  receivingMinor: 10_000n,
  serviceFeeMinor: 0n,
  platformFeeMinor: 0n,
  convertedMinor: 10_000n,
  exchangeRate: '1',
  rateAsOf: '2026-01-01T00:00:00.000Z',
};

const common = {
  paymentId: '0195-payment',
  tenantId: 'p.sandbox',
  customerId: 'ada',
  platformCustomerId: 'customer-ada',
  immediatelyExecute: false,
  reference: 'PAY-1',
  expiresAt: '2026-01-01T00:05:00.000Z',
};

/** An internal account pays another internal account. */
export const internalQuote: PaymentQuotedData = {
  ...common,
  type: 'OUTGOING',
  source: { kind: 'INTERNAL', accountId: 'source', currency: 'USD', customerId: 'ada' },
  destination: { kind: 'INTERNAL', accountId: 'destination', currency: 'USD', customerId: 'bob' },
  terms: sameCurrencyTerms,
};

/** An internal account pays an external one over a rail, in another currency. */
export const payoutQuote: PaymentQuotedData = {
  ...common,
  type: 'OUTGOING',
  source: { kind: 'INTERNAL', accountId: 'source', currency: 'USD', customerId: 'ada' },
  destination: { kind: 'EXTERNAL', accountId: 'iban', currency: 'EUR', paymentRail: 'SEPA', railSelectionMode: 'AUTO' },
  terms: crossCurrencyTerms,
};

/** Money is pulled from an external account into an internal one. */
export const pullQuote: PaymentQuotedData = {
  ...common,
  type: 'INCOMING',
  source: { kind: 'EXTERNAL', accountId: 'ach', currency: 'USD', customerId: 'ada' },
  destination: { kind: 'INTERNAL', accountId: 'destination', currency: 'USD', customerId: 'ada' },
  terms: sameCurrencyTerms,
};

/** Money is pulled from an external account and paid out to another one. */
export const pullPayoutQuote: PaymentQuotedData = {
  ...payoutQuote,
  source: { kind: 'EXTERNAL', accountId: 'ach', currency: 'USD', customerId: 'ada' },
};

/** Money that is waited for goes to an internal account. */
export const fundedQuote: PaymentQuotedData = {
  ...internalQuote,
  source: { kind: 'REALTIME', accountId: '', currency: 'USD', customerId: 'ada' },
  funding: { instructions: [{ accountOrWalletInfo: { accountType: 'USD_ACCOUNT' } }] },
};

/** Money that is waited for goes to an external account, in another currency. */
export const fundedPayoutQuote: PaymentQuotedData = {
  ...payoutQuote,
  source: fundedQuote.source,
  funding: fundedQuote.funding!,
};

/** The same, and a refund is for an account of the customer's. */
export const cryptoFundedQuote: PaymentQuotedData = {
  ...fundedPayoutQuote,
  funding: { ...fundedQuote.funding!, cryptoNetwork: 'SOLANA', refundAccountId: 'refunds' },
};
