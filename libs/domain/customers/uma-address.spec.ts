import { describe, expect, test } from '@jest/globals';
import { Rejection } from '../../kernel/errors.ts';
import { generatedUmaAddress, umaAddressOf } from './uma-address.ts';

const constraintOf = (text: string) => {
  const found = umaAddressOf(text, 'pay.example.com');
  if (!(found instanceof Rejection)) return found;
  const [error] = found.details!.errors as { field: string; constraint: string }[];
  return `${found.code} ${error!.field} ${error!.constraint}`;
};

describe('a UMA address', () => {
  test.each([
    ['$amina@pay.example.com', '$amina@pay.example.com'],
    ['$Amina.D+1_x-2@Pay.Example.COM', '$amina.d+1_x-2@pay.example.com'],
    [`$${'a'.repeat(63)}@pay.example.com`, `$${'a'.repeat(63)}@pay.example.com`],
    [`$${'a'.repeat(64)}@pay.example.com`, 'INVALID_UMA_ADDRESS umaAddress MAX_LENGTH'],
    ['amina@pay.example.com', 'INVALID_UMA_ADDRESS umaAddress PATTERN'],
    ['$@pay.example.com', 'INVALID_UMA_ADDRESS umaAddress PATTERN'],
    ['$amina', 'INVALID_UMA_ADDRESS umaAddress PATTERN'],
    ['$am ina@pay.example.com', 'INVALID_UMA_ADDRESS umaAddress PATTERN'],
    ['$amína@pay.example.com', 'INVALID_UMA_ADDRESS umaAddress PATTERN'],
    ['$amina@example.com', 'INVALID_UMA_ADDRESS umaAddress FORMAT'],
    ['$amina@evil.pay.example.com', 'INVALID_UMA_ADDRESS umaAddress FORMAT'],
    ['$a@b@pay.example.com', 'INVALID_UMA_ADDRESS umaAddress FORMAT'],
  ])('%s: %s', (text, outcome) => {
    expect(constraintOf(text)).toBe(outcome);
  });

  test('generated ones are valid', () => {
    const generated = generatedUmaAddress('0199dd29-5d53-7000-8000-0242ac120002', 'Pay.example.com');
    expect(generated).toBe('$80000242ac120002@pay.example.com');
    expect(umaAddressOf(generated, 'pay.example.com')).toBe(generated);
  });
});
