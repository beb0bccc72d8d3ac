import { describe, expect, test } from '@jest/globals';
import type { SendResult } from '../../../libs/runtime/webhooks/sender.ts';
import { approvalAnswer } from './approval-answer.ts';

const UNTIL = '2025-10-13T12:00:05.000Z';
const ERROR = { outcome: 'ERROR' };
const APPROVED = { outcome: 'APPROVED' };

function answered(status: number, said: string | Buffer = '', isTruncated = false) {
  const body = Buffer.from(said as string);
  return approvalAnswer(
    { outcome: 'answered', status, body, bodyText: body.toString(), isTruncated, durationMs: 1 },
    UNTIL,
  );
}
const told = (info: string) => answered(200, `{"receiverCustomerInfo":${info}}`);

describe('200 approves', () => {
  test.each(['', 'OK', '"yes"', '[]', 'null', '{}', '{"receiverCustomerInfo":null}', '{"message":1}', '[[[['])(
    'and %j says nothing',
    (body) => expect(answered(200, body)).toEqual(APPROVED),
  );

  test('and tells of the receiver', () => {
    const receiverCustomerInfo = { FULL_NAME: 'Bob', POSTAL_ADDRESS: { lines: ['x', 1, null] }, keyMinor: '7' };
    expect(told(JSON.stringify(receiverCustomerInfo))).toEqual({ ...APPROVED, receiverCustomerInfo });
  });

  test('and names that reach the prototype are not kept', () => {
    const answer = told('{"__proto__":{"x":1},"constructor":{"y":2},"FULL_NAME":{"prototype":"z","a":"ok"}}');
    expect(answer).toEqual({ ...APPROVED, receiverCustomerInfo: { FULL_NAME: { a: 'ok' } } });
    expect(Object.keys((answer as { receiverCustomerInfo: object }).receiverCustomerInfo)).toEqual(['FULL_NAME']);
  });
});

const deep = (levels: number) => `{"A":${'['.repeat(levels)}${']'.repeat(levels)}}`;

describe('an answer that cannot be used is an error', () => {
  test.each([
    ['NUL', '{"FULL_NAME":"a\\u0000b"}'],
    ['NUL in a name', '{"a\\u0000b":1}'],
    ['a lone surrogate', '{"FULL_NAME":"a\\ud800b"}'],
    ['a lone surrogate in a name', '{"a\\ud800":1}'],
    ['a list', '[1]'],
    ['a text', '"x"'],
    ['levels too many', deep(4)],
    ['thousands of levels', deep(10_000)],
    ['a number too large', '{"A":12345678901234567890}'],
    ['a number that is none', '{"A":1e400}'],
    ['a long text', `{"A":"${'x'.repeat(1_001)}"}`],
    ['many entries', `{"A":[${Array(51).fill(1)}]}`],
  ])('%s', (_, info) => expect(told(info)).toEqual(ERROR));

  test.each<[string, number, string | Buffer]>([
    ['broken JSON', 200, '{"receiverCustomerInfo":{'],
    ['no UTF-8', 200, Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
    ['a reason that is no text', 403, '{"reason":{"a":1}}'],
    ['a reason with NUL', 403, '{"reason":"\\u0000"}'],
    ['fields that are no list', 422, '{"requiredFields":{"a":1}}'],
    ['a field that is no text', 422, '{"requiredFields":["A",1]}'],
    ['a field with a long name', 422, `{"requiredFields":["${'x'.repeat(101)}"]}`],
    ['too many fields', 422, `{"requiredFields":[${Array(101).fill('"A"')}]}`],
  ])('%s', (_, status, body) => expect(answered(status, body)).toEqual(ERROR));

  test('one that was cut off', () => {
    expect(answered(200, '{"receiverCustomerInfo":{}}', true)).toEqual(ERROR);
    expect(answered(200, 'OK', true)).toEqual(APPROVED);
    expect([answered(200, '', true), answered(200, ' \n', true)]).toEqual([ERROR, ERROR]);
    expect(answered(403, '', true)).toEqual({ outcome: 'REJECTED' });
  });
});

test.each<[number, string, object]>([
  [403, '', { outcome: 'REJECTED' }],
  [403, 'Forbidden', { outcome: 'REJECTED' }],
  [403, '{"reason":"no","message":"x"}', { outcome: 'REJECTED', reason: 'no' }],
  [403, '{"message":"x"}', { outcome: 'REJECTED', reason: 'x' }],
  [403, JSON.stringify({ reason: '😀'.repeat(1_001) }), { outcome: 'REJECTED', reason: '😀'.repeat(1_000) }],
  [422, '', { outcome: 'INSUFFICIENT', requiredFields: [] }],
  [422, '{"requiredFields":["BIRTH_DATE"]}', { outcome: 'INSUFFICIENT', requiredFields: ['BIRTH_DATE'] }],
  [202, '{"receiverCustomerInfo":[', { outcome: 'ACKNOWLEDGED', until: UNTIL }],
  [204, '', { outcome: 'ACKNOWLEDGED', until: UNTIL }],
  [409, '', { outcome: 'ACKNOWLEDGED', until: UNTIL }],
  [302, '', ERROR],
  [400, '{"receiverCustomerInfo":{}}', ERROR],
  [500, '', ERROR],
])('%i %j', (status, body, answer) => expect(answered(status, body)).toEqual(answer));

test.each([
  ['TIMEOUT', { outcome: 'TIMED_OUT' }],
  ['DNS', ERROR],
  ['CONNECTION', ERROR],
] as const)('no answer for %s', (reason, answer) => {
  const result: SendResult = { outcome: 'failed', reason, message: '', durationMs: 1 };
  expect(approvalAnswer(result, UNTIL)).toEqual(answer);
});
