import { describe, expect, test } from '@jest/globals';
import { Rejection } from '../../kernel/errors.ts';
import { MAX_PAYMENT_AMOUNT } from '../../kernel/money.ts';
import { feesOf, type Priced, type PriceRequest, price } from './pricing.ts';

const asOf = '2025-10-13T00:00:00.000Z';
const none = { fixed: 0n, bps: 0 };

const request = (to: string, buys: string, rest: Partial<PriceRequest>): PriceRequest => ({
  sendingCurrency: 'USD',
  receivingCurrency: to,
  lockedSide: 'SENDING',
  lockedAmount: 100_000n,
  rate: { from: 'USD', to, buys, asOf },
  service: none,
  platform: none,
  ...rest,
});

function priced(of: PriceRequest): Priced {
  const result = price(of);
  if (result instanceof Rejection) throw result;
  return result;
}

describe('fees', () => {
  test('1000 cents, platform 30 bps + 50, service 100 bps: 53 and 10', () => {
    const platform = { fixed: 50n, bps: 30 };
    const service = { fixed: 0n, bps: 100 };
    expect(feesOf(1000n, service, platform)).toEqual({ service: 10n, platform: 53n, total: 63n });
    expect(priced(request('USD', '1', { lockedAmount: 1000n, service, platform }))).toEqual({
      sendingCurrency: 'USD',
      receivingCurrency: 'USD',
      totalSendingAmount: 1000n,
      totalReceivingAmount: 937n,
      feesIncluded: 63n,
      platformFeesIncluded: 53n,
      serviceFee: 10n,
      platformFee: 53n,
      convertedAmount: 937n,
      exchangeRate: '1',
      rate: { from: 'USD', to: 'USD', buys: '1', asOf },
    });
  });

  test('a variable share is taken of what all fixed fees leave', () => {
    const fees = feesOf(1000n, { fixed: 100n, bps: 1000 }, { fixed: 200n, bps: 100 });
    expect(fees).toEqual({ service: 170n, platform: 207n, total: 377n });
  });

  test('where the fixed fees exceed the amount there are no shares', () => {
    expect(feesOf(10n, { fixed: 8n, bps: 100 }, { fixed: 9n, bps: 100 })).toEqual({
      service: 8n,
      platform: 9n,
      total: 17n,
    });
  });
});

// The samples' fee of 500 is the sandbox's 50 bps of 100000 as well as a fixed fee of 500.
describe.each([
  ['50 bps', { fixed: 0n, bps: 50 }],
  ['500 fixed', { fixed: 500n, bps: 0 }],
])('100000 USD cents with a service fee of %s', (_, service) => {
  test.each([
    ['EUR', '0.92', 91_540n, '1.08695652', 1.08695652],
    ['BTC', '0.00000833', 828_835n, '120048.01920768', 120048.01920768],
    ['MXN', '17.25', 1_716_375n, '0.05797101', 0.05797101],
  ])('to %s at %s is %s at %s', (to, buys, receiving, exchangeRate, onTheWire) => {
    const result = priced(request(to, buys, { service }));
    expect(result).toMatchObject({
      totalSendingAmount: 100_000n,
      feesIncluded: 500n,
      convertedAmount: 99_500n,
      totalReceivingAmount: receiving,
      exchangeRate,
    });
    expect(Number(result.exchangeRate)).toBe(onTheWire);
  });
});

describe('a SENDING lock', () => {
  test('delivers what the rate gives, rounded down', () => {
    expect(priced(request('EUR', '0.92', { lockedAmount: 99n })).totalReceivingAmount).toBe(91n);
    expect(priced(request('VND', '25400', { lockedAmount: 99n })).totalReceivingAmount).toBe(25_146n);
  });
});

describe('a RECEIVING lock', () => {
  const receiving = (to: string, buys: string, lockedAmount: bigint, rest: Partial<PriceRequest> = {}) =>
    priced(request(to, buys, { lockedSide: 'RECEIVING', lockedAmount, ...rest }));

  test('divides by what the fees leave and does not multiply by the fees', () => {
    const result = receiving('USD', '1', 100_000n, { service: { fixed: 0n, bps: 100 } });
    expect(result).toMatchObject({ totalSendingAmount: 101_010n, feesIncluded: 1010n, convertedAmount: 100_000n });
  });

  test('turns the samples around', () => {
    const service = { fixed: 0n, bps: 50 };
    expect(receiving('EUR', '0.92', 91_540n, { service }).totalSendingAmount).toBe(100_000n);
    expect(receiving('MXN', '17.25', 1_716_375n, { service }).totalSendingAmount).toBe(100_000n);
    expect(receiving('BTC', '0.00000833', 828_835n, { service }).totalSendingAmount).toBe(100_000n);
  });

  test('delivers exactly the amount where one cent buys more than one unit', () => {
    expect(receiving('MXN', '17.25', 18n)).toMatchObject({
      totalSendingAmount: 2n,
      convertedAmount: 2n,
      totalReceivingAmount: 18n,
    });
  });

  test('finds the least amount where a cent more leaves a cent less', () => {
    const service = { fixed: 0n, bps: 50 };
    const platform = { fixed: 0n, bps: 50 };
    // 99 cents leave 99; at 100 both shares become 1 and leave 98.
    expect(feesOf(99n, service, platform).total).toBe(0n);
    expect(feesOf(100n, service, platform).total).toBe(2n);
    expect(receiving('USD', '1', 98n, { service, platform }).totalSendingAmount).toBe(98n);
    expect(receiving('USD', '1', 99n, { service, platform }).totalSendingAmount).toBe(99n);
    expect(receiving('USD', '1', 100n, { service, platform }).totalSendingAmount).toBe(102n);
  });
});

describe('price refuses', () => {
  const most = MAX_PAYMENT_AMOUNT;
  const receiving = 'RECEIVING' as const;
  test.each<[string, PriceRequest, string, string | undefined]>([
    ['zero', request('USD', '1', { lockedAmount: 0n }), 'INVALID_AMOUNT', undefined],
    ['a negative amount', request('USD', '1', { lockedAmount: -1n }), 'INVALID_AMOUNT', undefined],
    ['more than the maximum', request('USD', '1', { lockedAmount: most + 1n }), 'AMOUNT_OUT_OF_RANGE', undefined],
    [
      'fees of the whole amount',
      request('USD', '1', { lockedAmount: 500n, platform: { fixed: 500n, bps: 0 } }),
      'INVALID_AMOUNT',
      'FEES_EXCEED_AMOUNT',
    ],
    [
      'fees above the amount',
      request('USD', '1', { lockedAmount: 499n, platform: { fixed: 500n, bps: 0 } }),
      'INVALID_AMOUNT',
      'FEES_EXCEED_AMOUNT',
    ],
    [
      'shares of the whole amount, whatever is to be received',
      request('USD', '1', {
        lockedSide: receiving,
        service: { fixed: 0n, bps: 50 },
        platform: { fixed: 0n, bps: 9950 },
      }),
      'INVALID_AMOUNT',
      'FEES_EXCEED_AMOUNT',
    ],
    ['what buys nothing', request('EUR', '0.92', { lockedAmount: 1n }), 'INVALID_AMOUNT', 'RECEIVING_AMOUNT_IS_ZERO'],
    ['too much to receive', request('VND', '25400', { lockedAmount: most }), 'AMOUNT_OUT_OF_RANGE', undefined],
    [
      'too much to send',
      request('EUR', '0.92', { lockedSide: receiving, lockedAmount: most }),
      'AMOUNT_OUT_OF_RANGE',
      undefined,
    ],
  ])('%s', (_, bad, code, reason) => {
    const result = price(bad);
    expect(result).toBeInstanceOf(Rejection);
    expect([(result as Rejection).code, (result as Rejection).details?.reason]).toEqual([code, reason]);
  });

  test('nothing at the maximum itself', () => {
    expect(priced(request('USD', '1', { lockedAmount: most })).totalReceivingAmount).toBe(most);
  });
});

describe('price throws where the caller is wrong', () => {
  test.each<[string, PriceRequest]>([
    ['another pair', request('EUR', '0.92', { receivingCurrency: 'GBP' })],
    ['not 1 to itself', request('USD', '0.99', {})],
    ['a negative fee', request('EUR', '0.92', { platform: { fixed: -1n, bps: 0 } })],
    ['half a basis point', request('EUR', '0.92', { service: { fixed: 0n, bps: 0.5 } })],
  ])('%s', (_, bad) => {
    expect(() => price(bad)).toThrow(Error);
  });
});
