import { type FieldError, type Rejection, rejectFields } from '../../kernel/errors.ts';
import {
  type CurrencyCode,
  currencyCodes,
  divideDown,
  isCurrency,
  MAX_PAYMENT_AMOUNT,
  outOfRange,
} from '../../kernel/money.ts';
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

const DEFAULT_SENDING_AMOUNT = 10_000n;
const NO_FEE: FeeTerms = { fixed: 0n, bps: 0 };

/**
 * Reads the raw query parameters. `destinationCurrency` may be repeated or joined by commas.
 * Every invalid one is reported at once, as `400 INVALID_INPUT`.
 */
export function exchangeRateQuery(params: {
  sourceCurrency?: unknown;
  destinationCurrency?: unknown;
  sendingAmount?: unknown;
}): ExchangeRateQuery | Rejection {
  const { sourceCurrency, destinationCurrency, sendingAmount } = params;
  const destinations = [destinationCurrency ?? []]
    .flat()
    .flatMap((value: unknown) => (typeof value === 'string' ? value.split(',') : [value]));
  const amount = sendingAmount === undefined ? DEFAULT_SENDING_AMOUNT : parseAmount(sendingAmount);

  const errors: FieldError[] = [];
  if (sourceCurrency !== undefined && !isKnown(sourceCurrency)) errors.push(notACurrency('sourceCurrency'));
  if (!destinations.every(isKnown)) errors.push(notACurrency('destinationCurrency'));
  if (typeof amount !== 'bigint') errors.push(amount);
  if (errors.length > 0) return rejectFields(errors);

  return {
    ...(sourceCurrency !== undefined && { sourceCurrency: sourceCurrency as CurrencyCode }),
    ...(destinations.length > 0 && { destinationCurrencies: destinations as CurrencyCode[] }),
    sendingAmount: amount as bigint,
  };
}

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

const isKnown = (value: unknown): boolean => typeof value === 'string' && isCurrency(value);

const notACurrency = (field: string): FieldError => ({
  field,
  constraint: 'ENUM',
  message: `${field} must be a supported currency code.`,
  values: currencyCodes(),
});

function parseAmount(value: unknown): bigint | FieldError {
  const field = 'sendingAmount';
  const text = typeof value === 'number' ? String(value) : value;
  if (typeof text !== 'string' || !/^-?[0-9]+$/.test(text)) {
    return { field, constraint: 'TYPE', message: 'sendingAmount must be an integer.' };
  }
  if (text.startsWith('-')) {
    return { field, constraint: 'MINIMUM', message: 'sendingAmount must not be negative.', minimum: 0 };
  }
  const amount = BigInt(text);
  if (amount > MAX_PAYMENT_AMOUNT) {
    const maximum = Number(MAX_PAYMENT_AMOUNT);
    return { field, constraint: 'MAXIMUM', message: `sendingAmount must not exceed ${maximum}.`, maximum };
  }
  return amount;
}
