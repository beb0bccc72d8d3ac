import { describe, expect, test } from '@jest/globals';
import { currencyCodes } from '../kernel/money.ts';
import { minorRatio } from '../kernel/rate.ts';
import { sandboxRates } from './rates.sandbox.ts';

const now = new Date('2026-03-01T10:07:31.250Z');
const asOf = '2026-03-01T10:05:00.000Z';

describe('the sandbox rates', () => {
  test.each([
    ['USD', 'EUR', '0.92'],
    ['USD', 'MXN', '17.25'],
    ['USD', 'BTC', '0.00000833'],
    ['EUR', 'USD', '1/0.92'],
    ['EUR', 'MXN', '17.25/0.92'],
    ['USDC', 'EUR', '0.92'],
    ['USD', 'USDB', '1'],
    ['GBP', 'GBP', '1'],
    ['XAF', 'XOF', '1'],
  ])('%s to %s is %s', async (from, to, buys) => {
    expect(await sandboxRates.rate(from, to, now)).toEqual({ from, to, buys, asOf });
  });

  test('price every currency but the gas coins', async () => {
    const priced = await sandboxRates.corridors([], now);
    const destinations = priced.map(({ rate }) => rate.to);
    expect(currencyCodes().filter((code) => !destinations.includes(code))).toEqual(['USD', 'ETH', 'SOL']);
    expect(priced.every(({ rate }) => minorRatio(rate).numerator > 0n)).toBe(true);
  });

  test.each(['ETH', 'XXX', 'constructor'])('have none for %s', async (code) => {
    await expect(sandboxRates.rate('USD', code, now)).rejects.toMatchObject({ code: 'INVALID_CURRENCY' });
    await expect(sandboxRates.corridor(code, 'USD', now)).rejects.toMatchObject({ code: 'INVALID_CURRENCY' });
  });
});

describe('the sandbox corridors', () => {
  test('charge half a percent across currencies and nothing within one', async () => {
    expect(await sandboxRates.corridor('USD', 'EUR', now)).toEqual({
      rate: { from: 'USD', to: 'EUR', buys: '0.92', asOf },
      rails: ['SEPA_INSTANT', 'SEPA'],
      minSendingAmount: 1n,
      maxSendingAmount: 1_000_000_000n,
      maxDailyAmount: 5_000_000_000n,
      service: { fixed: 0n, bps: 50 },
    });
    expect((await sandboxRates.corridor('USD', 'USD', now)).service).toEqual({ fixed: 0n, bps: 0 });
  });

  test('limit the worth of a payment, in the sending currency', async () => {
    const limits = async (code: string) => {
      const { minSendingAmount, maxSendingAmount } = await sandboxRates.corridor(code, 'EUR', now);
      return [minSendingAmount, maxSendingAmount];
    };
    expect(await limits('BTC')).toEqual([9n, 8_330_000_000n]);
    expect(await limits('JPY')).toEqual([2n, 1_500_000_000n]);
    expect(await limits('USDC')).toEqual([10_000n, 10_000_000_000_000n]);
  });

  test('go from USD and from the given currencies everywhere', async () => {
    const corridors = await sandboxRates.corridors(['USD', 'EUR', 'BTC', 'ETH'], now);
    const ways = corridors.map(({ rate }) => `${rate.from}-${rate.to}`);
    for (const from of ['USD', 'EUR', 'BTC']) expect(ways.filter((way) => way.startsWith(`${from}-`))).toHaveLength(48);
    expect(ways).toHaveLength(3 * 48);
    expect(new Set(ways).size).toBe(ways.length);
  });
});
