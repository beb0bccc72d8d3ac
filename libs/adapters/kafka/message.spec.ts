import { expect, test } from '@jest/globals';
import { rounds } from './kafka.ts';
import { decodeMessage, encodeMessage } from './message.ts';

const event = {
  id: 'e-1',
  type: 'Happened',
  stream: 'thing-1',
  revision: 3,
  position: 17,
  metadata: '{"platform": "p"}',
  payload: '{ "spaced" :  "\\u0000 \\ud800 é \u2028\\"" }',
};

test('a message comes back as it was, payload and metadata to the byte', () => {
  const text = encodeMessage({ position: 17, previous: 12, event });
  expect(decodeMessage(text)).toEqual({ position: 17, previous: 12, event });
  expect(text).toBe(
    `{"v":1,"position":17,"previous":12,"id":"e-1","type":"Happened","stream":"thing-1","revision":3,` +
      `"metadata":${JSON.stringify(event.metadata)},"payload":${JSON.stringify(event.payload)}}`,
  );
});

test('a mark is positions alone', () => {
  const text = encodeMessage({ position: 17, previous: 17 });
  expect(text).toBe('{"v":1,"position":17,"previous":17}');
  expect(decodeMessage(text)).toEqual({ position: 17, previous: 17 });
});

test('an event that is larger than a broker takes is left to the store', () => {
  const large = { ...event, payload: JSON.stringify({ text: 'x'.repeat(1_000_000) }) };
  expect(encodeMessage({ position: 17, previous: 12, event: large })).toBe('{"v":1,"position":17,"previous":12}');
});

test.each([
  ['text', 'hello'],
  ['null', 'null'],
  ['a later version', '{"v":2,"position":17,"previous":12}'],
  ['no position', '{"v":1,"previous":12}'],
  ['a position that is no number', '{"v":1,"position":"17","previous":12}'],
  ['a negative one', '{"v":1,"position":17,"previous":-1}'],
])('what no relay of this version wrote is not read: %s', (_, text) => {
  expect(decodeMessage(text)).toBeUndefined();
});

test('one send holds no more for a partition than a broker takes, in order', () => {
  const message = (partition: number, value: string) => ({ partition, key: 'p', value });
  const [a, b, c, d, e] = [
    message(0, 'aaaaaa'),
    message(1, 'bbbbbb'),
    message(0, 'ccc'),
    message(0, 'dddddd'),
    message(0, 'e'.repeat(50)),
  ];
  expect(rounds([a, b, c, d, e], 10)).toEqual([[a, b, c], [d], [e]]);
  expect(rounds([], 10)).toEqual([]);
});
