import { describe, expect, test } from '@jest/globals';
import { exchangeRateText, midRateText, minorRatio } from './rate.ts';

const rate = (from: string, to: string, buys: string) => ({ from, to, buys, asOf: '2025-10-13T00:00:00.000Z' });

describe('a rate', () => {
  test.each([
    ['USD', 'EUR', '0.92', 9200n, 10000n],
    ['EUR', 'USD', '1/0.92', 10000n, 9200n],
    ['EUR', 'MXN', '17.25/0.92', 172500n, 9200n],
    ['USD', 'VND', '25400', 25400n, 100n],
    ['USD', 'BTC', '0.00000833', 83300000000n, 10000000000n],
  ])('%s to %s at %s is a ratio of smallest units', (from, to, buys, numerator, denominator) => {
    const ratio = minorRatio(rate(from, to, buys));
    expect(ratio.numerator * denominator).toBe(ratio.denominator * numerator);
  });

  test.each(['', '0', '0.00', '1/0', '-1', '1e5', '.5', '1/', 'NaN', '1/2/3'])('"%s" is none', (buys) => {
    expect(() => minorRatio(rate('USD', 'EUR', buys))).toThrow(RangeError);
  });
});

describe('exchangeRate', () => {
  test.each([
    ['USD', 'EUR', '0.92', '1.08695652'],
    ['USD', 'MXN', '17.25', '0.05797101'],
    ['USD', 'BTC', '0.00000833', '120048.01920768'],
    ['USD', 'USDC', '1', '1'],
    ['EUR', 'USD', '1/0.92', '0.92'],
    ['USD', 'INR', '82.5', '0.01212121'],
  ])('of %s to %s at %s is %s', (from, to, buys, text) => {
    expect(midRateText(rate(from, to, buys))).toBe(text);
  });

  test('is rounded half-up at the eighth decimal', () => {
    expect(exchangeRateText('USD', 1_000_000_005n, 'USD', 1_000_000_000n)).toBe('1.00000001');
    expect(exchangeRateText('USD', 10_000_000_049n, 'USD', 10_000_000_000n)).toBe('1');
    expect(exchangeRateText('USD', 100_000n, 'USD', 100n)).toBe('1000');
  });

  test('keeps six digits of the smallest rates, so that it is never 0', () => {
    expect(midRateText(rate('USD', 'VND', '25400'))).toBe('0.0000393701');
    expect(midRateText(rate('BTC', 'VND', '25400/0.00000833'))).toBe('0.000000000327953');
  });
});
