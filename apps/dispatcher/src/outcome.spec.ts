import { expect, test } from '@jest/globals';
import { outcomeOf } from './outcome.ts';

const question = 'INCOMING_PAYMENT.PENDING';

test.each([
  ['of an approval nothing, since it may tell of a person', question, 200, undefined],
  ['of any other answer to the question its text', question, 403, 'said'],
  ['of an answer to any other webhook its text', 'TEST', 200, 'said'],
])('is kept: %s', (_, type, status, responseText) => {
  const delivery = {
    webhookId: '',
    type,
    body: '{}',
    attempts: 0,
    failures: 0,
    startedMs: 0,
    schedule: '2026-01-01T00:00:00Z',
  };
  const result = {
    outcome: 'answered' as const,
    status,
    body: Buffer.from('said'),
    bodyText: 'said',
    isTruncated: false,
    durationMs: 1,
  };
  const outcome = outcomeOf(delivery, result, 0, () => 'GIVE_UP');
  expect([outcome.httpStatus, outcome.responseText]).toEqual([status, responseText]);
});
