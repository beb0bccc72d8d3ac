import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { countryCodes } from '../../kernel/countries.ts';
import { Rejection } from '../../kernel/errors.ts';
import { EverythingBody, IndividualBody, ThingsQuery } from './http-kit.examples.ts';
import { decodeCursor, encodeCursor, filtersHash, page, readAs } from './index.ts';
import { readJson } from './json.ts';
import * as rules from './rules.ts';

const constraints = (rule: rules.Rule, value: unknown) =>
  rule
    .check(rule.read ? rule.read(value) : value, {})
    ?.map(({ at, constraint }) => (at ? `${at} ${constraint}` : constraint));

describe('rules', () => {
  test.each<[string, rules.Rule, unknown, string[] | undefined]>([
    ['text', rules.text({ max: 2 }), '💶💶', undefined],
    ['text', rules.text({ max: 2 }), '💶💶a', ['MAX_LENGTH']],
    ['text', rules.text({ min: 2 }), '💶', ['MIN_LENGTH']],
    ['text', rules.text({ pattern: /^a$/ }), 'b', ['PATTERN']],
    ['text', rules.text({ format: 'uuid' }), 'b', ['FORMAT']],
    ['text', rules.text({ format: 'uri' }), 'https://example.com/a?b', undefined],
    ['text', rules.text({ format: 'uri' }), 'https://', ['FORMAT']],
    ['text', rules.text({ format: 'hostname' }), 'mail.example.com', undefined],
    ['text', rules.text({ format: 'hostname' }), '-a.com', ['FORMAT']],
    ['integer', rules.integer(), 9007199254740991, undefined],
    ['integer', rules.integer(), 9007199254740992, ['MAXIMUM']],
    ['integer', rules.integer(), Number.NaN, ['TYPE']],
    ['integer', rules.integer({ min: 0 }), -1, ['MINIMUM']],
    ['timestamp', rules.timestamp(), '2025-10-13T23:59:59Z', undefined],
    ['timestamp', rules.timestamp(), '2024-02-29T00:00:00.123456-05:30', undefined],
    ['timestamp', rules.timestamp(), '2025-02-29T00:00:00Z', ['FORMAT']],
    ['timestamp', rules.timestamp(), '2025-10-13T24:00:00Z', ['FORMAT']],
    ['timestamp', rules.timestamp(), '2025-10-13T00:00:00', ['FORMAT']],
    ['timestamp', rules.timestamp(), '9999-12-31T23:59:59-01:00', ['FORMAT']],
    ['timestamp', rules.timestamp(), '0000-01-01T00:00:00Z', ['FORMAT']],
    ['timestamp', rules.timestamp(), 1760313600000, ['TYPE']],
    ['date', rules.dateOnly(), '2024-02-29', undefined],
    ['date', rules.dateOnly(), '2023-02-29', ['FORMAT']],
    ['date', rules.dateOnly(), '2023-13-01', ['FORMAT']],
    ['date', rules.dateOnly(), '2023-1-1', ['FORMAT']],
    ['country', rules.country(), 'US', undefined],
    ['country', rules.country(), 'us', ['FORMAT']],
    ['country', rules.country(), 'UK', ['FORMAT']],
    ['phone', rules.phoneE164(), '+14155550123', undefined],
    ['phone', rules.phoneE164(), '+04155550123', ['FORMAT']],
    ['e-mail', rules.email(), 'a.b+c@example.co.uk', undefined],
    ['e-mail', rules.email(), 'a@localhost', ['FORMAT']],
    ['e-mail', rules.email(), 'a b@example.com', ['FORMAT']],
    ['public id', rules.publicIdOf('Customer'), 'Customer:01900000-0000-7000-8000-0000000000AB', undefined],
    ['public id', rules.publicIdOf('Customer'), 'Quote:01900000-0000-7000-8000-000000000000', ['PATTERN']],
    ['public id', rules.publicIdOf('Customer', 'Platform'), 'Platform:01900000-0000-7000-8000-000000000000', undefined],
    ['list', rules.listOf(rules.country(), { min: 1 }), [], ['MIN_LENGTH']],
    ['list', rules.listOf(rules.country(), { max: 1 }), ['US', 'US'], ['MAX_LENGTH']],
    ['list', rules.listOf(rules.country()), ['US', 1], ['1 TYPE']],
    ['free object', rules.freeObject(), [], ['TYPE']],
    ['free object', rules.freeObject(), { a: 1.5, b: true, c: null, d: ['x', { e: {} }] }, undefined],
    ['free object', rules.freeObject(), { a: { b: { c: {} } }, d: [[[]]] }, undefined],
    ['free object', rules.freeObject(), { a: { b: { c: [{}] } }, d: [[[1, []]]] }, ['a.b.c.0 TYPE', 'd.0.0.1 TYPE']],
  ])('%s: %j, %j', (_, rule, value, expected) => {
    expect(constraints(rule, value)).toEqual(expected);
  });

  const many = (count: number) => Array.from({ length: count }, (_, i) => i);
  const named = (length: number) => ({ ['\u{1F600}'.repeat(length)]: 1 });
  test.each<[string, object, string[] | undefined]>([
    ['as many entries as may be', { list: many(50), ...many(49) }, undefined],
    ['too many entries', { ...many(51) }, ['MAX_LENGTH']],
    ['too many deep inside', { a: [{ ...many(51) }], list: many(51) }, ['a.0 MAX_LENGTH', 'list MAX_LENGTH']],
    ['the longest name and text', { a: [named(100)], b: ['x'.repeat(1_000)] }, undefined],
    ['a longer name', { a: [named(101)] }, [`a.0.${Object.keys(named(101))[0]} MAX_LENGTH`]],
    ['a longer text', { a: ['x'.repeat(1_001)] }, ['a.0 MAX_LENGTH']],
    ['NUL', { a: { b: '\u0000' } }, ['a.b PATTERN']],
    ['as long as may be', { a: Array(50).fill('x'.repeat(1_000)), b: Array(49).fill('x'.repeat(1_000)) }, undefined],
    ['too long in all', { a: Array(50).fill('x'.repeat(1_000)), b: Array(50).fill('x'.repeat(1_000)) }, ['MAX_LENGTH']],
  ])('a free object: %s', (_, value, expected) => {
    expect(constraints(rules.freeObject(), value)).toEqual(expected);
  });

  test('there are 249 countries', () => {
    expect(countryCodes.size).toBe(249);
  });

  test('a fault carries what would be right', () => {
    expect(rules.oneOf(['A', 'B']).check('C', {})).toEqual([
      { constraint: 'ENUM', says: 'must be one of A, B', allowed: ['A', 'B'] },
    ]);
    expect(rules.text({ pattern: /^\d+$/ }).check('C', {})).toMatchObject([
      { constraint: 'PATTERN', pattern: '^\\d+$' },
    ]);
    expect(rules.integer({ min: 1, max: 9 }).check(10, {})).toMatchObject([{ constraint: 'MAXIMUM', maximum: 9 }]);
  });
});

describe('any JSON', () => {
  test('is read or refused, never an error of ours', () => {
    const keys = fc.constantFrom(
      'text',
      'address',
      'addresses',
      'source',
      'sourceType',
      'metadata',
      'checked',
      'toString',
      'then',
      '__proto__',
      'constructor',
    );
    const { json } = fc.letrec((tie) => ({
      json: fc.oneof(
        { depthSize: 'small' },
        fc.constantFrom<unknown>(null, true, 0, 1e308, '', 'ACCOUNT', '\u0000'),
        fc.array(tie('json'), { maxLength: 3 }),
        fc.dictionary(keys, tie('json'), { maxKeys: 6 }),
      ),
    }));
    const read = (value: unknown) => {
      try {
        const body = readJson(Buffer.from(JSON.stringify(value)));
        for (const type of [EverythingBody, IndividualBody, ThingsQuery]) readAs<object>(type, body);
      } catch (error) {
        if (!(error instanceof Rejection)) throw error;
      }
    };
    fc.assert(fc.property(json, read), { numRuns: 2_000 });
  });

  test('is read exactly as JSON.parse does when nothing is refused', () => {
    const exact = fc
      .jsonValue({ maxDepth: 5, noUnicodeString: false })
      .filter((value) => !/__proto__|constructor|prototype/.test(JSON.stringify(value)));
    fc.assert(
      fc.property(exact, (value) => {
        const text = JSON.stringify(value);
        try {
          expect(readJson(Buffer.from(text))).toEqual(JSON.parse(text));
        } catch (error) {
          if (!(error instanceof Rejection)) throw error;
        }
      }),
    );
  });

  test('a long text beside a long fraction is read in linear time and space', () => {
    const text = JSON.stringify({ long: '\\"'.repeat(200_000), fraction: 0.123456789 });
    expect(readJson(Buffer.from(text))).toEqual(JSON.parse(text));
  });
});

describe('pages', () => {
  const position = { key: '2025-10-13T00:00:00.000Z', id: 'Customer:01900000-0000-7000-8000-000000000000' };
  const filters = filtersHash({ status: 'PENDING' });

  test('the hash of filters ignores order, paging and absent ones', () => {
    expect(filtersHash({ b: 1, a: [2], limit: 5, cursor: 'x', c: undefined })).toBe(filtersHash({ a: [2], b: 1 }));
    expect(filtersHash({ a: [2] })).not.toBe(filtersHash({ a: [3] }));
  });

  test('a cursor comes back as the position it was made of', () => {
    expect(decodeCursor(encodeCursor(position, filters), filters)).toEqual(position);
    const numbered = { key: 42, id: '01900000-0000-7000-8000-000000000000' };
    expect(decodeCursor(encodeCursor(numbered, filters), filters)).toEqual(numbered);
  });

  test.each([
    ['a key that no column takes', { ...position, key: '2025-13-45T00:00:00Z' }],
    ['a fraction', { ...position, key: 1.5 }],
    ['an id that no column takes', { ...position, id: "x' or 1=1" }],
  ])('a forged cursor with %s is refused', (_, forged) => {
    expect(() => decodeCursor(encodeCursor(forged, filters), filters)).toThrow(Rejection);
  });

  test('the row beyond the limit is not shown', () => {
    const cursorOf = (row: number) => `after ${row}`;
    expect(page([1, 2, 3], 2, 9, cursorOf)).toEqual({
      data: [1, 2],
      hasMore: true,
      nextCursor: 'after 2',
      totalCount: 9,
    });
    expect(page([1, 2], 2, undefined, cursorOf)).toEqual({ data: [1, 2], hasMore: false });
    expect(page<number>([], 2, 0, cursorOf)).toEqual({ data: [], hasMore: false, totalCount: 0 });
    expect(page([1], 2, 1, cursorOf, String).data).toEqual(['1']);
  });
});
