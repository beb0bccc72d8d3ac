import { expect, test } from '@jest/globals';
import { type FieldError, reject, rejectFields, together } from './errors.ts';

const wrong = (field: string): FieldError => ({ field, constraint: 'ENUM', message: `${field} is wrong.` });
const currency = reject('INVALID_CURRENCY', { errors: [wrong('currencies.0')] }, 'Not that one.');
const other = reject('INVALID_CURRENCY', { errors: [wrong('currency')] });

test('one refusal stays what it is', () => {
  expect(together([currency])).toBe(currency);
});

test('several of one kind keep their code and name all fields', () => {
  const { code, details } = together([currency, other]);
  expect([code, details]).toEqual(['INVALID_CURRENCY', { errors: [wrong('currencies.0'), wrong('currency')] }]);
});

test('several kinds are an invalid input with the fields of all, in their order', () => {
  const { code, details, message } = together([rejectFields([wrong('email')]), currency]);
  expect([code, details]).toEqual(['INVALID_INPUT', { errors: [wrong('email'), wrong('currencies.0')] }]);
  expect(message).toBe('Several fields are invalid.');
});
