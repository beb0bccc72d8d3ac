import { type Rejection } from '../../kernel/errors.ts';
import { type CurrencyCode, divideDown, MAX_PAYMENT_AMOUNT, outOfRange } from '../../kernel/money.ts';
import type { Rail } from '../../kernel/rails.ts';
import { type Corridor, type FeeTerms, midRateText, minorRatio } from '../../kernel/rate.ts';
import { feesOf } from './pricing.ts';

/** The filters of `GET /exchange-rates`; absent ones let everything through. */
export interface ExchangeRateQuery {
  sourceCurrency?: CurrencyCode;
  destinationCurrencies?: CurrencyCode[];
  /** Smallest units of each row's source currency. */
  sendingAmount: bigint;
}

/** One corridor on one rail. Amounts are smallest units; fees and limits are of the source currency. */
export interface ExchangeRateRow {
  sourceCurrency: CurrencyCode;
  destinationCurrency: CurrencyCode;
  destinationPaymentRail: Rail;
  minSendingAmount: bigint;
  maxSendingAmount: bigint;
  sendingAmount: bigint;
  /** `sendingAmount` at the rate, rounded down; fees are not subtracted. */
  receivingAmount: bigint;
  exchangeRate: string;
  fees: { fixed: bigint; total: bigint };
  updatedAt: string;
}

const NO_FEE: FeeTerms = { fixed: 0n, bps: 0 };

/** The currencies to ask for corridors from: the platform's own and the one that the query names. */
export const exchangeRateSources = (query: ExchangeRateQuery, platformCurrencies: readonly CurrencyCode[]) => [
  ...new Set([...platformCurrencies, ...(query.sourceCurrency ? [query.sourceCurrency] : [])]),
];

/**
 * The rows of `GET /exchange-rates`: one per corridor and rail, in the corridors' order. `platformFees` holds the
 * platform's own cross-currency fee by source currency. Refuses with `AMOUNT_OUT_OF_RANGE` where `sendingAmount`
 * would become more than a payment can carry.
 */
export function exchangeRates(
  query: ExchangeRateQuery,
  corridors: readonly Corridor[],
  platformFees: ReadonlyMap<CurrencyCode, FeeTerms>,
): ExchangeRateRow[] | Rejection {
  const rows = corridors
    .filter(
      ({ rate }) =>
        (query.sourceCurrency ?? rate.from) === rate.from && (query.destinationCurrencies?.includes(rate.to) ?? true),
    )
    .flatMap((corridor) => corridorRows(corridor, query.sendingAmount, platformFees.get(corridor.rate.from) ?? NO_FEE));
  if (rows.some((row) => row.receivingAmount > MAX_PAYMENT_AMOUNT)) return outOfRange(MAX_PAYMENT_AMOUNT);
  return rows;
}

function corridorRows(corridor: Corridor, sendingAmount: bigint, platform: FeeTerms): ExchangeRateRow[] {
  const { rate, rails, minSendingAmount, maxSendingAmount, service } = corridor;
  const ratio = minorRatio(rate);
  const row = {
    sourceCurrency: rate.from,
    destinationCurrency: rate.to,
    minSendingAmount,
    maxSendingAmount,
    sendingAmount,
    receivingAmount: divideDown(sendingAmount * ratio.numerator, ratio.denominator),
    exchangeRate: midRateText(rate),
    fees: { fixed: service.fixed + platform.fixed, total: feesOf(sendingAmount, service, platform).total },
    updatedAt: rate.asOf,
  };
  return rails.map((destinationPaymentRail) => ({ ...row, destinationPaymentRail }));
}
