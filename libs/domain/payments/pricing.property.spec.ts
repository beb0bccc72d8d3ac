import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Rejection } from '../../kernel/errors.ts';
import { MAX_PAYMENT_AMOUNT } from '../../kernel/money.ts';
import { minorRatio } from '../../kernel/rate.ts';
import { feesOf, type PriceRequest, price } from './pricing.ts';

const asOf = '2025-10-13T00:00:00.000Z';
const buys = fc.constantFrom('0.92', '17.25', '25400', '0.00000833', '1/0.92', '17.25/0.92', '0.79/25400');
const pairs = fc.oneof(
  fc.constant({ from: 'USD', to: 'USD', buys: '1', asOf }),
  fc
    .tuple(fc.constantFrom('USD', 'BTC', 'VND'), fc.constantFrom('EUR', 'MXN', 'USDC', 'JPY'), buys)
    .map(([from, to, price]) => ({ from, to, buys: price, asOf })),
);
const terms = (maxBps: number, maxFixed: bigint) =>
  fc.record({ fixed: fc.bigInt({ min: 0n, max: maxFixed }), bps: fc.nat({ max: maxBps }) });

const requests = (maxAmount: bigint, maxBps: number, maxFixed: bigint): fc.Arbitrary<PriceRequest> =>
  fc.record({ pair: pairs, service: terms(maxBps, maxFixed), platform: terms(maxBps, maxFixed) }).chain((fixed) =>
    fc.record({
      sendingCurrency: fc.constant(fixed.pair.from),
      receivingCurrency: fc.constant(fixed.pair.to),
      lockedSide: fc.constantFrom('SENDING' as const, 'RECEIVING' as const),
      lockedAmount: fc.bigInt({ min: 1n, max: maxAmount }),
      rate: fc.constant(fixed.pair),
      service: fc.constant(fixed.service),
      platform: fc.constant(fixed.platform),
    }),
  );

/** What `sending` would deliver, by the definition alone. */
function delivered(sending: bigint, { rate, service, platform }: PriceRequest): bigint {
  const { numerator, denominator } = minorRatio(rate);
  const converted = sending - feesOf(sending, service, platform).total;
  return converted <= 0n ? 0n : (converted * numerator) / denominator;
}

describe('every price', () => {
  test('adds up, keeps its locked side and never invents money', () => {
    const outcomes = { priced: 0, refused: 0 };
    fc.assert(
      fc.property(requests(MAX_PAYMENT_AMOUNT, 5000, 1_000_000n), (request) => {
        const result = price(request);
        if (result instanceof Rejection) {
          outcomes.refused += 1;
          return;
        }
        outcomes.priced += 1;
        const { totalSendingAmount: sent, totalReceivingAmount: received, convertedAmount: converted } = result;
        expect(result.feesIncluded).toBe(result.serviceFee + result.platformFee);
        expect(result.platformFeesIncluded).toBe(result.platformFee);
        expect(sent).toBe(result.feesIncluded + converted);
        expect(request.lockedSide === 'SENDING' ? sent : received).toBe(request.lockedAmount);
        expect(received > 0n && sent <= MAX_PAYMENT_AMOUNT && received <= MAX_PAYMENT_AMOUNT).toBe(true);
        if (request.sendingCurrency === request.receivingCurrency) expect(received).toBe(converted);

        const { numerator, denominator } = minorRatio(request.rate);
        expect(received * denominator <= converted * numerator).toBe(true);
        expect(Number(result.exchangeRate)).toBeGreaterThan(0);
      }),
      { numRuns: 2000 },
    );
    expect(outcomes.priced).toBeGreaterThan(500);
  });

  test('of a RECEIVING lock sends the least that delivers the amount', () => {
    let checked = 0;
    fc.assert(
      fc.property(requests(3000n, 2500, 200n), (any) => {
        const request = { ...any, lockedSide: 'RECEIVING' as const };
        const result = price(request);
        if (result instanceof Rejection) {
          expect(result.code).toBe('AMOUNT_OUT_OF_RANGE');
          return;
        }
        checked += 1;
        const sent = result.totalSendingAmount;
        expect(result.totalReceivingAmount).toBe(request.lockedAmount);
        expect(delivered(sent, request) >= request.lockedAmount).toBe(true);
        const from = sent > 3000n ? sent - 3000n : 0n;
        for (let less = from; less < sent; less += 1n) {
          if (delivered(less, request) >= request.lockedAmount) throw new Error(`${less} would do, not ${sent}`);
        }
      }),
      { numRuns: 300 },
    );
    expect(checked).toBeGreaterThan(200);
  });

  test('of the other lock comes back: delivering what a SENDING lock delivers costs no more', () => {
    fc.assert(
      fc.property(requests(1_000_000_000_000n, 4999, 10_000n), (any) => {
        const there = price({ ...any, lockedSide: 'SENDING' });
        if (there instanceof Rejection) return;
        const back = price({ ...any, lockedSide: 'RECEIVING', lockedAmount: there.totalReceivingAmount });
        if (back instanceof Rejection) throw back;
        expect(back.totalReceivingAmount).toBe(there.totalReceivingAmount);
        expect(back.totalSendingAmount <= there.totalSendingAmount).toBe(true);
        expect(delivered(back.totalSendingAmount - 1n, any) < there.totalReceivingAmount).toBe(true);
      }),
      { numRuns: 2000 },
    );
  });

  test('is found quickly even where the fees take nearly everything', () => {
    const result = price({
      sendingCurrency: 'USD',
      receivingCurrency: 'USD',
      lockedSide: 'RECEIVING',
      lockedAmount: 1_000n,
      rate: { from: 'USD', to: 'USD', buys: '1', asOf },
      service: { fixed: 0n, bps: 0 },
      platform: { fixed: 0n, bps: 9999 },
    });
    if (result instanceof Rejection) throw result;
    expect(result).toMatchObject({ totalSendingAmount: 9_995_001n, feesIncluded: 9_994_001n });
  });
});
