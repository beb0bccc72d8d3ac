import { type Rejection, reject } from './errors.ts';

/**
 * Money is a `bigint` of smallest units next to a currency code, never a `number`.
 * Three other forms exist: a JSON number on the wire (`toWire`, `fromWire`), a decimal string in stored events
 * (`encodeAmount`, `decodeAmount`) and the `CurrencyAmount` of responses (`currencyAmount`).
 */

/** An ISO 4217 code or a ticker of `currencyCodes()`. */
export type CurrencyCode = string;

/** The Currency object of the API. `decimals` is the exponent: the smallest unit is 10^-decimals of the major unit. */
export interface Currency {
  code: CurrencyCode;
  name: string;
  symbol: string;
  decimals: number;
}

/** The kind of internal account that holds a currency. */
export type InternalAccountType = 'INTERNAL_FIAT' | 'INTERNAL_CRYPTO' | 'EMBEDDED_WALLET';

type Row = readonly [name: string, symbol: string, decimals: number];

// Exponents are ISO 4217's; `Intl` has other ideas about COP, IDR and PKR, so it is not asked.
const fiat: Record<CurrencyCode, Row> = {
  AED: ['United Arab Emirates Dirham', 'د.إ', 2],
  ARS: ['Argentine Peso', '$', 2],
  AUD: ['Australian Dollar', 'A$', 2],
  BDT: ['Bangladeshi Taka', '৳', 2],
  BRL: ['Brazilian Real', 'R$', 2],
  BWP: ['Botswana Pula', 'P', 2],
  CAD: ['Canadian Dollar', 'C$', 2],
  CHF: ['Swiss Franc', 'CHF', 2],
  CNY: ['Chinese Yuan', '¥', 2],
  COP: ['Colombian Peso', '$', 2],
  DKK: ['Danish Krone', 'kr', 2],
  EGP: ['Egyptian Pound', 'E£', 2],
  EUR: ['Euro', '€', 2],
  GBP: ['British Pound', '£', 2],
  GHS: ['Ghanaian Cedi', '₵', 2],
  GTQ: ['Guatemalan Quetzal', 'Q', 2],
  HKD: ['Hong Kong Dollar', 'HK$', 2],
  HTG: ['Haitian Gourde', 'G', 2],
  IDR: ['Indonesian Rupiah', 'Rp', 2],
  ILS: ['Israeli New Shekel', '₪', 2],
  INR: ['Indian Rupee', '₹', 2],
  JMD: ['Jamaican Dollar', 'J$', 2],
  JPY: ['Japanese Yen', '¥', 0],
  KES: ['Kenyan Shilling', 'KSh', 2],
  MWK: ['Malawian Kwacha', 'MK', 2],
  MXN: ['Mexican Peso', '$', 2],
  MYR: ['Malaysian Ringgit', 'RM', 2],
  NGN: ['Nigerian Naira', '₦', 2],
  NOK: ['Norwegian Krone', 'kr', 2],
  NZD: ['New Zealand Dollar', 'NZ$', 2],
  PHP: ['Philippine Peso', '₱', 2],
  PKR: ['Pakistani Rupee', '₨', 2],
  PLN: ['Polish Zloty', 'zł', 2],
  RWF: ['Rwandan Franc', 'FRw', 0],
  SEK: ['Swedish Krona', 'kr', 2],
  SGD: ['Singapore Dollar', 'S$', 2],
  THB: ['Thai Baht', '฿', 2],
  TZS: ['Tanzanian Shilling', 'TSh', 2],
  UGX: ['Ugandan Shilling', 'USh', 0],
  USD: ['United States Dollar', '$', 2],
  VND: ['Vietnamese Dong', '₫', 0],
  XAF: ['Central African CFA Franc', 'FCFA', 0],
  XOF: ['West African CFA Franc', 'CFA', 0],
  ZAR: ['South African Rand', 'R', 2],
  ZMW: ['Zambian Kwacha', 'ZK', 2],
};

const crypto: Record<CurrencyCode, Row> = {
  BTC: ['Bitcoin', '₿', 8],
  ETH: ['Ether', 'Ξ', 18],
  SOL: ['Solana', '◎', 9],
  USDB: ['USDB', '', 6],
  USDC: ['USD Coin', '', 6],
  USDT: ['Tether USD', '', 6],
};

const registry = new Map<CurrencyCode, Currency>(
  Object.entries({ ...fiat, ...crypto }).map(([code, [name, symbol, decimals]]) => [
    code,
    Object.freeze({ code, name, symbol, decimals }),
  ]),
);

/** Every code of the registry, fiat first, each part in alphabetical order. */
export const currencyCodes = (): CurrencyCode[] => [...registry.keys()];

/** True for a code of the registry; codes are upper case. */
export const isCurrency = (code: string): boolean => registry.has(code);

/** The currency of a code. Throws `INVALID_CURRENCY` for an unknown one. */
export function currency(code: CurrencyCode): Currency {
  const found = registry.get(code);
  if (!found) throw reject('INVALID_CURRENCY', { currency: code }, `"${code}" is not a known currency.`);
  return found;
}

/** Smallest units in one major unit: `minorPerMajor('USD')` → `100n`. */
export const minorPerMajor = (code: CurrencyCode): bigint => 10n ** BigInt(currency(code).decimals);

/** What holds the currency (spec, internal accounts): USDB lives in an embedded wallet. */
export function internalAccountType(code: CurrencyCode): InternalAccountType {
  const known = currency(code).code;
  if (known === 'USDB') return 'EMBEDDED_WALLET';
  return Object.hasOwn(crypto, known) ? 'INTERNAL_CRYPTO' : 'INTERNAL_FIAT';
}

/** The largest `lockedCurrencyAmount` of a quote, and the largest total that one may come to. */
export const MAX_PAYMENT_AMOUNT = 9_000_000_000_000_000n;

/** The most that JSON carries exactly, in smallest units: no balance may be larger. */
export const MAX_WIRE = BigInt(Number.MAX_SAFE_INTEGER);

/** Smallest units as a JSON number. Throws `AMOUNT_OUT_OF_RANGE` beyond ±(2^53 − 1): refused, never rounded. */
export function toWire(amount: bigint): number {
  if (amount > MAX_WIRE || amount < -MAX_WIRE) throw outOfRange(MAX_WIRE);
  return Number(amount);
}

/** A JSON number as smallest units. Throws `INVALID_AMOUNT` unless it is an integer that JSON carries exactly. */
export function fromWire(amount: number): bigint {
  if (!Number.isSafeInteger(amount)) throw reject('INVALID_AMOUNT', undefined, 'The amount is not a whole number.');
  return BigInt(amount);
}

/** The refusal of an amount above `maximum` smallest units. */
export const outOfRange = (maximum: bigint): Rejection =>
  reject('AMOUNT_OUT_OF_RANGE', { maximum: Number(maximum) }, `The amount exceeds ${maximum} smallest units.`);

/** The CurrencyAmount of a response: `currencyAmount(1000n, 'USD')` → `{ amount: 1000, currency: { code: 'USD', … } }`. */
export const currencyAmount = (amount: bigint, code: CurrencyCode): { amount: number; currency: Currency } => ({
  amount: toWire(amount),
  currency: currency(code),
});

/** The stored form of an amount: `encodeAmount(1000n)` → `"1000"`. */
export const encodeAmount = (amount: bigint): string => amount.toString();

const STORED = /^(0|-?[1-9][0-9]*)$/;

/** Reads `encodeAmount`'s form and no other; anything else is damage to the log and throws a plain error. */
export function decodeAmount(text: string): bigint {
  if (typeof text !== 'string' || !STORED.test(text))
    throw new TypeError(`not a stored amount: ${JSON.stringify(text)}`);
  return BigInt(text);
}

/** `dividend / divisor` to the integer below; neither is negative and `divisor` is not zero. */
export const divideDown = (dividend: bigint, divisor: bigint): bigint => dividend / divisor;

/** `dividend / divisor` to the integer above; same domain as `divideDown`. */
export const divideUp = (dividend: bigint, divisor: bigint): bigint => (dividend + divisor - 1n) / divisor;

/** `dividend / divisor` to the nearest integer, halves upward (9.5 → 10); same domain as `divideDown`. */
export const divideHalfUp = (dividend: bigint, divisor: bigint): bigint => (2n * dividend + divisor) / (2n * divisor);
