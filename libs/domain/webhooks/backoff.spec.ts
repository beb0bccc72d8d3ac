import { describe, expect, test } from '@jest/globals';
import { isDelivered, MAX_ATTEMPTS, nextAttemptDelayMs } from './backoff.ts';

const SEVEN_DAYS_MS = 7 * 24 * 3_600_000;
const HALF_HOUR_MS = 30 * 60_000;

describe('nextAttemptDelayMs', () => {
  test('doubles from five seconds to half an hour', () => {
    const delays = Array.from({ length: 11 }, (_, index) => nextAttemptDelayMs(index + 1, 0));
    expect(delays.map((delay) => Number(delay) / 1000)).toEqual([5, 10, 20, 40, 80, 160, 320, 640, 1280, 1800, 1800]);
  });

  test('jitter shortens a delay by up to a fifth and never lengthens it', () => {
    expect(nextAttemptDelayMs(1, 0.5)).toBe(4_500);
    expect(nextAttemptDelayMs(100, 0.5)).toBe(1_620_000);
    expect(nextAttemptDelayMs(100, 0.999999)).toBe(1_440_000);
  });

  test('all attempts fit into seven days and fill them', () => {
    let totalMs = 0;
    let attempt = 1;
    for (;;) {
      const delay = nextAttemptDelayMs(attempt, 0);
      if (delay === 'GIVE_UP') break;
      totalMs += delay;
      attempt += 1;
    }
    expect(attempt).toBe(MAX_ATTEMPTS);
    expect(attempt).toBe(344);
    expect(totalMs).toBeLessThanOrEqual(SEVEN_DAYS_MS);
    expect(totalMs).toBeGreaterThan(SEVEN_DAYS_MS - HALF_HOUR_MS);
  });

  test('gives up after the last attempt, and on any number beyond it', () => {
    expect(nextAttemptDelayMs(343, 0)).toBe(HALF_HOUR_MS);
    expect(nextAttemptDelayMs(344, 0)).toBe('GIVE_UP');
    expect(nextAttemptDelayMs(5_000, 0.5)).toBe('GIVE_UP');
  });
});

test('a 2xx and a 409 end a delivery, nothing else does', () => {
  const ending = [100, 199, 200, 202, 204, 299, 300, 302, 400, 404, 409, 410, 429, 500, 503].filter(isDelivered);
  expect(ending).toEqual([200, 202, 204, 299, 409]);
});
