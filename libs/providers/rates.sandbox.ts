import { reject } from '../kernel/errors.ts';
import { type CurrencyCode, divideDown, divideUp } from '../kernel/money.ts';
import type { Rail } from '../kernel/rails.ts';
import { type Corridor, type FeeTerms, minorRatio, type Rate } from '../kernel/rate.ts';
import type { RatesProvider } from './rates.port.ts';

type Listing = readonly [buys: string, rails: readonly [Rail, ...Rail[]]];

/** Mid rates as of 13 October 2025: what one USD buys, and the rails of the currency, the default first. */
const table: Record<CurrencyCode, Listing> = {
  AED: ['3.6725', ['BANK_TRANSFER']],
  ARS: ['1350', ['SWIFT']],
  AUD: ['1.53', ['SWIFT']],
  BDT: ['121.5', ['BANK_TRANSFER', 'MOBILE_MONEY']],
  BRL: ['5.4', ['PIX']],
  BTC: ['0.00000833', ['SPARK', 'LIGHTNING']],
  BWP: ['13.6', ['MOBILE_MONEY']],
  CAD: ['1.38', ['BANK_TRANSFER']],
  CHF: ['0.88', ['SWIFT']],
  CNY: ['7.15', ['BANK_TRANSFER', 'MOBILE_MONEY']],
  COP: ['4100', ['BANK_TRANSFER', 'MOBILE_MONEY']],
  DKK: ['6.86', ['SEPA_INSTANT', 'SEPA']],
  EGP: ['48.5', ['BANK_TRANSFER', 'MOBILE_MONEY']],
  EUR: ['0.92', ['SEPA_INSTANT', 'SEPA']],
  GBP: ['0.79', ['FASTER_PAYMENTS']],
  GHS: ['12.4', ['BANK_TRANSFER', 'MOBILE_MONEY']],
  GTQ: ['7.7', ['BANK_TRANSFER']],
  HKD: ['7.8', ['BANK_TRANSFER']],
  HTG: ['131', ['MOBILE_MONEY']],
  IDR: ['16400', ['BANK_TRANSFER']],
  ILS: ['3.7', ['BANK_TRANSFER']],
  INR: ['82.5', ['UPI', 'NEFT', 'RTGS']],
  JMD: ['158', ['BANK_TRANSFER']],
  JPY: ['150', ['SWIFT']],
  KES: ['129', ['MOBILE_MONEY']],
  MWK: ['1734', ['MOBILE_MONEY']],
  MXN: ['17.25', ['SPEI']],
  MYR: ['4.4', ['BANK_TRANSFER']],
  NGN: ['1530', ['BANK_TRANSFER']],
  NOK: ['10.6', ['SWIFT']],
  NZD: ['1.68', ['SWIFT']],
  PHP: ['57', ['BANK_TRANSFER']],
  PKR: ['281', ['BANK_TRANSFER', 'MOBILE_MONEY']],
  PLN: ['3.95', ['SWIFT']],
  RWF: ['1440', ['MOBILE_MONEY']],
  SEK: ['10.3', ['SWIFT']],
  SGD: ['1.33', ['PAYNOW', 'FAST', 'BANK_TRANSFER']],
  THB: ['33.5', ['BANK_TRANSFER']],
  TZS: ['2550', ['MOBILE_MONEY']],
  UGX: ['3650', ['MOBILE_MONEY']],
  USD: ['1', ['ACH', 'WIRE', 'RTP', 'FEDNOW']],
  USDB: ['1', ['SPARK']],
  USDC: ['1', ['SOLANA', 'ETHEREUM', 'BASE', 'POLYGON']],
  USDT: ['1', ['SOLANA', 'ETHEREUM', 'TRON', 'PLASMA']],
  VND: ['25400', ['BANK_TRANSFER']],
  XAF: ['603.48', ['MOBILE_MONEY']],
  XOF: ['603.48', ['MOBILE_MONEY']],
  ZAR: ['17.9', ['BANK_TRANSFER']],
  ZMW: ['24', ['MOBILE_MONEY']],
};

// Decision 22.
const sameCurrencyFee: FeeTerms = { fixed: 0n, bps: 0 };
const crossCurrencyFee: FeeTerms = { fixed: 0n, bps: 50 };

// One payment is worth between 0.01 and 10,000,000 USD.
const LEAST_CENTS = 1n;
const MOST_CENTS = 1_000_000_000n;

// One account sends at most the worth of 50,000,000 USD on a day (docs/why/daily-limits.md).
const MOST_CENTS_DAILY = 5_000_000_000n;

const CACHE_MS = 5 * 60 * 1000;

/** The sandbox's prices: fixed, crossed through USD, published anew every five minutes. */
export const sandboxRates: RatesProvider = {
  rate: async (from, to, now) => rateOf(from, to, now),
  corridor: async (from, to, now) => corridorOf(from, to, now),
  corridors: async (sources, now) =>
    pairs(sources.filter((code) => Object.hasOwn(table, code))).map(([from, to]) => corridorOf(from, to, now)),
};

function rateOf(from: CurrencyCode, to: CurrencyCode, now: Date): Rate {
  const [fromBuys] = listing(from);
  const [toBuys] = listing(to);
  const asOf = new Date(now.getTime() - (now.getTime() % CACHE_MS)).toISOString();
  if (fromBuys === toBuys) return { from, to, buys: '1', asOf };
  return { from, to, buys: fromBuys === '1' ? toBuys : `${toBuys}/${fromBuys}`, asOf };
}

function corridorOf(from: CurrencyCode, to: CurrencyCode, now: Date): Corridor {
  const [, rails] = listing(to);
  return {
    rate: rateOf(from, to, now),
    rails,
    ...limits(from, now),
    service: from === to ? sameCurrencyFee : crossCurrencyFee,
  };
}

function limits(
  from: CurrencyCode,
  now: Date,
): Pick<Corridor, 'minSendingAmount' | 'maxSendingAmount' | 'maxDailyAmount'> {
  const { numerator, denominator } = minorRatio(rateOf('USD', from, now));
  return {
    minSendingAmount: divideUp(LEAST_CENTS * numerator, denominator),
    maxSendingAmount: divideDown(MOST_CENTS * numerator, denominator),
    maxDailyAmount: divideDown(MOST_CENTS_DAILY * numerator, denominator),
  };
}

function listing(code: CurrencyCode): Listing {
  const found = Object.hasOwn(table, code) ? table[code] : undefined;
  if (!found) throw reject('INVALID_CURRENCY', { currency: code }, `There is no exchange rate for "${code}".`);
  return found;
}

function pairs(sources: readonly CurrencyCode[]): [CurrencyCode, CurrencyCode][] {
  const destinations = Object.keys(table);
  return [...new Set(['USD', ...sources])].flatMap((from) =>
    destinations.filter((to) => to !== from).map((to): [CurrencyCode, CurrencyCode] => [from, to]),
  );
}
