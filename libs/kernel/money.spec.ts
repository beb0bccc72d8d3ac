import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Rejection } from './errors.ts';
import {
  currency,
  currencyAmount,
  currencyCodes,
  decodeAmount,
  divideDown,
  divideHalfUp,
  divideUp,
  encodeAmount,
  fromWire,
  internalAccountType,
  isCurrency,
  minorPerMajor,
  toWire,
} from './money.ts';

/** The code of the rejection that `run` throws. */
function rejection(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (error instanceof Rejection) return error.code;
    throw error;
  }
  return 'accepted';
}

describe('the currency registry', () => {
  test.each([
    ['USD', 'United States Dollar', '$', 2],
    ['EUR', 'Euro', '€', 2],
    ['MXN', 'Mexican Peso', '$', 2],
    ['INR', 'Indian Rupee', '₹', 2],
    ['BRL', 'Brazilian Real', 'R$', 2],
    ['BTC', 'Bitcoin', '₿', 8],
    ['USDC', 'USD Coin', '', 6],
  ])('%s is %s', (code, name, symbol, decimals) => {
    expect(currency(code)).toEqual({ code, name, symbol, decimals });
  });

  test('exponents are those of ISO 4217, and of the chains', () => {
    const other = currencyCodes().filter((code) => currency(code).decimals !== 2);
    expect(Object.fromEntries(other.map((code) => [code, currency(code).decimals]))).toEqual({
      JPY: 0,
      RWF: 0,
      UGX: 0,
      VND: 0,
      XAF: 0,
      XOF: 0,
      BTC: 8,
      ETH: 18,
      SOL: 9,
      USDB: 6,
      USDC: 6,
      USDT: 6,
    });
    expect(minorPerMajor('COP')).toBe(100n);
    expect(minorPerMajor('ETH')).toBe(10n ** 18n);
  });

  test('holds the currency of every external account type', () => {
    const needed =
      'AED BDT BRL BWP CAD CNY COP DKK EGP EUR GBP GHS GTQ HKD HTG IDR ILS INR JMD KES MWK MXN MYR NGN PHP PKR RWF ' +
      'SGD THB TZS UGX USD VND XAF XOF ZAR ZMW BTC USDB USDC USDT';
    expect(needed.split(' ').filter((code) => !isCurrency(code))).toEqual([]);
  });

  test.each(['usd', '', 'XXX', 'constructor', '__proto__', 'USD '])('does not know "%s"', (code) => {
    expect(isCurrency(code)).toBe(false);
    expect(rejection(() => currency(code))).toBe('INVALID_CURRENCY');
  });

  test.each([
    ['USD', 'INTERNAL_FIAT'],
    ['VND', 'INTERNAL_FIAT'],
    ['USDC', 'INTERNAL_CRYPTO'],
    ['USDT', 'INTERNAL_CRYPTO'],
    ['BTC', 'INTERNAL_CRYPTO'],
    ['USDB', 'EMBEDDED_WALLET'],
  ])('%s lies in an account of type %s', (code, type) => {
    expect(internalAccountType(code)).toBe(type);
  });
});

describe('amounts on the wire', () => {
  test('are JSON numbers up to 2^53 - 1 and refused beyond', () => {
    expect(toWire(9_007_199_254_740_991n)).toBe(9_007_199_254_740_991);
    expect(toWire(-9_007_199_254_740_991n)).toBe(-9_007_199_254_740_991);
    expect(rejection(() => toWire(9_007_199_254_740_992n))).toBe('AMOUNT_OUT_OF_RANGE');
    expect(rejection(() => toWire(-9_007_199_254_740_992n))).toBe('AMOUNT_OUT_OF_RANGE');
  });

  test('are read only where JSON carries them exactly', () => {
    expect(fromWire(1000)).toBe(1000n);
    for (const bad of [1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53]) {
      expect(rejection(() => fromWire(bad))).toBe('INVALID_AMOUNT');
    }
  });

  test('carry their currency', () => {
    expect(currencyAmount(1000n, 'USD')).toEqual({
      amount: 1000,
      currency: { code: 'USD', name: 'United States Dollar', symbol: '$', decimals: 2 },
    });
  });
});

describe('stored amounts', () => {
  test('come back as they were, at any size', () => {
    fc.assert(fc.property(fc.bigInt(), (amount) => expect(decodeAmount(encodeAmount(amount))).toBe(amount)));
  });

  test.each(['', '-', '-0', '+1', '01', '1.0', '1e3', '0x10', ' 1', '1\n', '1n'])('"%s" is damage', (text) => {
    expect(() => decodeAmount(text)).toThrow(TypeError);
  });

  test('a number is damage', () => {
    expect(() => decodeAmount(1000 as unknown as string)).toThrow(TypeError);
  });
});

test.each([
  [950n, 100n, 9n, 10n, 10n],
  [949n, 100n, 9n, 10n, 9n],
  [900n, 100n, 9n, 9n, 9n],
  [0n, 7n, 0n, 0n, 0n],
  [3n, 2n, 1n, 2n, 2n],
])('%s / %s is %s below, %s above, %s nearest', (dividend, divisor, down, up, halfUp) => {
  expect([divideDown(dividend, divisor), divideUp(dividend, divisor), divideHalfUp(dividend, divisor)]).toEqual([
    down,
    up,
    halfUp,
  ]);
});
