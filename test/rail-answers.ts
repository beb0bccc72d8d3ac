import fc from 'fast-check';
import type { RailAnswer } from '../libs/domain/payments/payment.events.ts';
import type { RailRequest } from '../libs/domain/payments/payment.process.ts';

const LATER = '2026-01-01T01:00:00.000Z';

const answer = fc.constantFrom<RailAnswer>(
  { outcome: 'PENDING', checkAt: '2026-01-01T00:01:00.000Z' },
  { outcome: 'SETTLED' },
  { outcome: 'SETTLED', watchUntil: LATER },
  { outcome: 'REJECTED', failureReason: 'QUOTE_EXECUTION_FAILED' },
  { outcome: 'CANCELLED' },
  { outcome: 'RETURNED' },
);

const lastAnswer = fc.constantFrom<RailAnswer>({ outcome: 'RETURNED' }, { outcome: 'SETTLED' });

/** A payout that comes back after all. */
export const comesBack: RailAnswer[] = [{ outcome: 'SETTLED', watchUntil: LATER }, { outcome: 'RETURNED' }];

/** What a rail says to a payment's orders and questions, in the order asked. */
export const railAnswers = fc
  .tuple(fc.array(answer, { maxLength: 3 }), lastAnswer)
  .map(([first, last]) => [...first, last]);

/** Takes the next answer that a rail can give to what it is asked; when they run out, everything succeeds. */
export function railSays(answers: RailAnswer[], request: RailRequest): RailAnswer {
  for (let next = answers.shift(); next; next = answers.shift()) if (isPossible(next, request)) return next;
  return { outcome: 'SETTLED' };
}

/** Only a payout to an account can be cancelled there or come back, the latter also before anybody was told that it was settled. */
function isPossible(next: RailAnswer, { isSettled, direction, uma }: RailRequest): boolean {
  const { outcome } = next;
  if (isSettled) return outcome === 'RETURNED' || outcome === 'SETTLED' || outcome === 'PENDING';
  const isFinal = direction === 'COLLECTION' || uma !== undefined;
  return !(isFinal && (outcome === 'CANCELLED' || outcome === 'RETURNED' || 'watchUntil' in next));
}
