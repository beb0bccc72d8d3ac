import { type CurrencyCode, divideHalfUp, minorPerMajor } from './money.ts';
import type { Rail } from './rails.ts';

/** A price of one currency in another, exact and ready to be stored in an event. */
export interface Rate {
  from: CurrencyCode;
  to: CurrencyCode;
  /**
   * Major units of `to` that one major unit of `from` buys: a decimal, or one decimal over another where the
   * quotient has no end. USD → EUR `"0.92"`, EUR → MXN `"17.25/0.92"`.
   */
  buys: string;
  /** When the rate was current, RFC 3339. */
  asOf: string;
}

/** What one party takes from the sending side: `fixed` smallest units of the sending currency, and `bps` of the rest. */
export interface FeeTerms {
  fixed: bigint;
  bps: number;
}

/** A way from one currency to another with its terms. Amounts are smallest units of `rate.from`. */
export interface Corridor {
  rate: Rate;
  /** The rails of the destination currency, the default first. */
  rails: readonly [Rail, ...Rail[]];
  minSendingAmount: bigint;
  maxSendingAmount: bigint;
  /** The most that one account may send on a day, over all corridors from `rate.from`. */
  maxDailyAmount: bigint;
  /** What the service charges here. */
  service: FeeTerms;
}

/** An exact positive quotient. */
export interface Fraction {
  numerator: bigint;
  denominator: bigint;
}

const BUYS = /^(\d+)(?:\.(\d+))?(?:\/(\d+)(?:\.(\d+))?)?$/;

/** Smallest units of `to` per smallest unit of `from`, exactly. Throws a plain error when `buys` is not a positive price. */
export function minorRatio(rate: Rate): Fraction {
  const [, whole, part = '', underWhole = '1', underPart = ''] = BUYS.exec(rate.buys) ?? [];
  const above = BigInt(`${whole ?? 0}${part}`);
  const below = BigInt(`${underWhole}${underPart}`);
  if (above === 0n || below === 0n) throw new RangeError(`not a rate: ${JSON.stringify(rate.buys)}`);
  return {
    numerator: above * 10n ** BigInt(underPart.length) * minorPerMajor(rate.to),
    denominator: below * 10n ** BigInt(part.length) * minorPerMajor(rate.from),
  };
}

const DECIMALS = 8;
const LEAST_DIGITS = 10n ** 5n;

/**
 * `exchangeRate` of the API (decision 5): major units of `from` paid for one major unit of `to`, when `sent` smallest
 * units became `received`. Rounded half-up to 8 decimals; further decimals where fewer than six digits would be left
 * (0.00003937 → 0.0000393701), since the rate is never 0. Text; `Number(text)` is what goes on the wire.
 */
export function exchangeRateText(from: CurrencyCode, sent: bigint, to: CurrencyCode, received: bigint): string {
  const dividend = sent * minorPerMajor(to);
  const divisor = received * minorPerMajor(from);
  let decimals = DECIMALS;
  while (dividend * 10n ** BigInt(decimals) < divisor * LEAST_DIGITS) decimals += 1;
  const digits = divideHalfUp(dividend * 10n ** BigInt(decimals), divisor)
    .toString()
    .padStart(decimals + 1, '0');
  return `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`.replace(/\.?0+$/, '');
}

/** `exchangeRate` of a rate itself, before any amount is rounded. */
export function midRateText(rate: Rate): string {
  const { numerator, denominator } = minorRatio(rate);
  return exchangeRateText(rate.from, denominator, rate.to, numerator);
}
