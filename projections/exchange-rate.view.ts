import { type Static, Type } from 'typebox';
import type { ExchangeRateRow } from '../libs/domain/payments/exchange-rates.ts';
import { currency, toWire } from '../libs/kernel/money.ts';
import { Currency } from './currency.view.ts';
import { CryptoNetwork, PaymentRail } from './payment-rail.view.ts';

const amount = (description: string) => Type.Integer({ format: 'int64', minimum: 0, description });

/** What a payment costs in fees, in the smallest unit of the source currency. */
export const ExchangeRateFees = Type.Object(
  {
    fixed: amount('The fixed part, of the service and of the platform.'),
    total: amount('Fixed and variable fees of `sendingAmount`.'),
  },
  { $id: 'ExchangeRateFees' },
);

/** The rate of one corridor on one rail. */
export const ExchangeRate = Type.Object(
  {
    sourceCurrency: Currency,
    sendingAmount: amount('The amount asked about, in the smallest unit of the source currency.'),
    minSendingAmount: amount('The least that can be sent, in the smallest unit of the source currency.'),
    maxSendingAmount: amount('The most that can be sent, in the smallest unit of the source currency.'),
    destinationCurrency: Currency,
    destinationPaymentRail: Type.Union([PaymentRail, CryptoNetwork], {
      description: 'The rail of a fiat destination; the network of a crypto destination.',
    }),
    receivingAmount: amount(
      '`sendingAmount` at this rate before fees, in the smallest unit of the destination currency.',
    ),
    exchangeRate: Type.Number({
      exclusiveMinimum: 0,
      description: 'Units of the source currency per one unit of the destination currency, both in major units.',
      examples: [1.08695652],
    }),
    fees: ExchangeRateFees,
    updatedAt: Type.String({ format: 'date-time' }),
  },
  { $id: 'ExchangeRate' },
);
export type ExchangeRate = Static<typeof ExchangeRate>;

/** The answer of `GET /exchange-rates`. */
export const ExchangeRateListResponse = Type.Object(
  { data: Type.Array(ExchangeRate) },
  { $id: 'ExchangeRateListResponse' },
);
export type ExchangeRateListResponse = Static<typeof ExchangeRateListResponse>;

/** A row as the API shows it. */
export const exchangeRateView = (row: ExchangeRateRow): ExchangeRate => ({
  sourceCurrency: currency(row.sourceCurrency),
  sendingAmount: toWire(row.sendingAmount),
  minSendingAmount: toWire(row.minSendingAmount),
  maxSendingAmount: toWire(row.maxSendingAmount),
  destinationCurrency: currency(row.destinationCurrency),
  destinationPaymentRail: row.destinationPaymentRail,
  receivingAmount: toWire(row.receivingAmount),
  exchangeRate: Number(row.exchangeRate),
  fees: { fixed: toWire(row.fees.fixed), total: toWire(row.fees.total) },
  updatedAt: row.updatedAt,
});
