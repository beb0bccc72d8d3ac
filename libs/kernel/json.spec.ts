import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { canonicalJson, freeFields, fromJson, toJson } from './json.ts';

test('money survives, however deep it lies and however large it is', () => {
  const value = {
    amountMinor: 9_007_199_254_740_993n,
    legs: [{ amountMinor: -1n }, { inner: { heldMinor: 0n, note: '12' } }],
    maxMinor: null,
    list: [1, 'x', null, [{ feeMinor: 5n }]],
  };
  expect(toJson(value)).toBe(
    '{"amountMinor":"9007199254740993","legs":[{"amountMinor":"-1"},{"inner":{"heldMinor":"0","note":"12"}}],' +
      '"maxMinor":null,"list":[1,"x",null,[{"feeMinor":"5"}]]}',
  );
  expect(fromJson(toJson(value))).toEqual(value);
});

test('a text that is no amount stays one, whatever a client called its field', () => {
  const value = { aMinor: 'C minor', bMinor: '', cMinor: '1.5', dMinor: ' 1', eMinor: '0x10', minor: '7', fMinor: 7 };
  expect(fromJson(toJson(value))).toEqual(value);
});

test.each([...freeFields])('what lies in %s is nobody’s money', (name) => {
  const free = { houseMinor: '12', list: [{ keyMinor: '-1' }], [name]: { aMinor: '007' } };
  const value = { amountMinor: 1n, [name]: free, inside: [{ [name]: free }] };
  expect(fromJson(toJson(value))).toEqual(value);
  expect(fromJson(toJson(free), name)).toEqual(free);
});

test('names of members mean nothing', () => {
  const text = '{"__proto__":{"amountMinor":"1"},"constructor":"x","toString":null}';
  expect(Object.keys(fromJson<object>(text))).toEqual(['__proto__', 'constructor', 'toString']);
  expect(({} as Record<string, unknown>).amountMinor).toBeUndefined();
});

test('any JSON value comes back', () => {
  fc.assert(
    fc.property(fc.jsonValue({ stringUnit: 'binary' }), (value) => {
      const plain = JSON.parse(JSON.stringify(value));
      expect(fromJson(toJson(value))).toEqual(plain);
    }),
  );
});

test('the canonical text has the keys of every object in order, and lists as they are', () => {
  const value = { b: [{ d: 1, c: null }, 3, 2], a: { z: 'x', y: {} } };
  expect(canonicalJson(value)).toBe('{"a":{"y":{},"z":"x"},"b":[{"c":null,"d":1},3,2]}');
  expect([null, 'x', 1, []].map(canonicalJson)).toEqual(['null', '"x"', '1', '[]']);
});
