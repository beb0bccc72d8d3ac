import { expect, test } from '@jest/globals';
import { Caller, type RequestKey } from './caller.ts';

const answer = () => ({ key: 'k', bodyHash: 'b', status: 200, body: '{}' });
function callerWith(key?: Partial<RequestKey>): Caller {
  const caller = new Caller({ platform: 'p', environment: 'sandbox' }, 't', new Set(), 'req_1');
  if (key) caller.key = { hash: 'h', bodyHash: 'b', body: null, status: 200, isRecorded: false, ...key };
  return caller;
}

test.each([
  ['without a key', undefined, undefined, undefined],
  ['a key that nobody had before', {}, undefined, undefined],
  ['a key that was begun at a position', { since: 7 }, 7, 7],
  ['a key of which nobody knows whether it was begun', { since: 'unknown' as const }, 0, undefined],
])('from where on a command is looked for: %s', (_, key, alone, withAnswer) => {
  const caller = callerWith(key);
  expect(caller.envelope('do').since).toBe(alone);
  expect(caller.envelope('do', { answer }).since).toBe(withAnswer);
  expect(caller.freshEnvelope().since).toBeUndefined();
});

test('the commands of a key have the same ids again, those that are sent anew have not', () => {
  const idsOf = (caller: Caller) => [caller.envelope('a'), caller.envelope('b')].map(({ commandId }) => commandId);
  const [one, other] = [callerWith({}), callerWith({})];
  expect(idsOf(one)).toEqual(idsOf(other));
  expect(new Set([...idsOf(one), one.freshEnvelope().commandId, other.freshEnvelope().commandId]).size).toBe(4);
});
