import { describe, expect, test } from '@jest/globals';
import { type PaymentState, payment } from '../../../libs/domain/payments/payment.ts';
import { type ErrorCode, reject } from '../../../libs/kernel/errors.ts';
import { reasonOf, standingOf } from './sweep-calls.ts';

const NOW = Date.UTC(2026, 0, 1);
const at = (ms: number) => new Date(NOW + ms).toISOString();

test.each<[ErrorCode, object, bigint, string]>([
  ['AMOUNT_OUT_OF_RANGE', { minimum: 100, maximum: 900 }, 99n, 'BELOW_MINIMUM'],
  ['AMOUNT_OUT_OF_RANGE', { minimum: 100, maximum: 900 }, 901n, 'ABOVE_MAXIMUM'],
  ['TRANSACTION_SIZE_LIMIT_EXCEEDED', { maximum: 900 }, 901n, 'ABOVE_MAXIMUM'],
  ['INVALID_AMOUNT', { reason: 'FEES_EXCEED_AMOUNT' }, 1n, 'BELOW_MINIMUM'],
  ['INVALID_INPUT', { reason: 'NO_ELIGIBLE_RAIL' }, 1n, 'NO_ELIGIBLE_RAIL'],
  ['REFERENCE_NOT_FOUND', {}, 1n, 'QUOTE_FAILED'],
  ['USER_NOT_READY', { reason: 'CUSTOMER_REJECTED' }, 1n, 'QUOTE_FAILED'],
])('%s %j of %d is %s', (code, details, amountMinor, reason) => {
  expect(reasonOf(reject(code, { ...details }), amountMinor)).toBe(reason);
});

describe('the payment of a sweep', () => {
  const standing = (more: Partial<PaymentState>) => standingOf({ ...payment.initial, ...more }, NOW);
  const refund = { reference: 'R', initiatedAt: at(0), reason: 'TRANSACTION_FAILED' as const };

  test('is looked at again when it goes on, and soon where it does not say', () => {
    const pending = (ms: number) => ({ outcome: 'PENDING', checkAt: at(ms) });
    expect(standing({ phase: 'WAITING', waitUntil: at(30_000) })).toEqual(pending(30_250));
    expect(standing({ phase: 'WATCHING', status: 'COMPLETED', waitUntil: at(-5) })).toEqual(pending(1_000));
    expect(standing({ phase: 'EXECUTING' })).toEqual(pending(1_000));
  });

  test('is settled when no return can come any more', () => {
    expect(standing({ phase: 'DONE', status: 'COMPLETED' })).toEqual({ outcome: 'SETTLED' });
  });

  test('is returned when it was refused, failed before anything moved, or was refunded', () => {
    const returned = { outcome: 'RETURNED', checkAt: at(60_000) };
    expect(standing({ phase: 'REFUSED' })).toEqual({ ...returned, isRefused: true });
    expect(standing({ phase: 'DONE', status: 'FAILED' })).toEqual(returned);
    expect(standing({ phase: 'DONE', status: 'FAILED', refund: { ...refund, status: 'COMPLETED' } })).toEqual(returned);
    // Cancelled at the bank: the transaction ends as completed, and the money is back.
    expect(standing({ phase: 'DONE', status: 'COMPLETED', refund: { ...refund, status: 'COMPLETED' } })).toEqual(
      returned,
    );
  });

  test('is lost when its refund failed', () => {
    expect(standing({ phase: 'DONE', status: 'FAILED', refund: { ...refund, status: 'FAILED' } })).toEqual({
      outcome: 'LOST',
    });
  });
});
