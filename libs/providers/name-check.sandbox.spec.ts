import { describe, expect, test } from '@jest/globals';
import type { NameCheckResult } from './name-check.port.ts';
import { sandboxNameCheck } from './name-check.sandbox.ts';

const check = (identifierSuffix: string, beneficiaryName?: string): Promise<NameCheckResult> =>
  sandboxNameCheck.check({ currency: 'EUR', accountInfo: {}, identifierSuffix, beneficiaryName });

describe('the sandbox name check', () => {
  test.each([
    ['102', { status: 'NOT_MATCHED' }],
    ['103', { status: 'PARTIAL_MATCH', verifiedFullName: 'A. Diallo' }],
    ['104', { status: 'PENDING' }],
    ['106', { status: 'UNSUPPORTED' }],
    ['107', { status: 'CHECKED_BY_RECEIVING_FI' }],
    ['101', { status: 'MATCHED', verifiedFullName: 'Amina Diallo' }],
    ['002', { status: 'MATCHED', verifiedFullName: 'Amina Diallo' }],
    ['', { status: 'MATCHED', verifiedFullName: 'Amina Diallo' }],
  ])('suffix %j gives %j', async (suffix, result) => {
    expect(await check(suffix, 'Amina Diallo')).toEqual(result);
  });

  test('105 is refused as an invalid account', async () => {
    await expect(check('105', 'Amina Diallo')).rejects.toMatchObject({ code: 'INVALID_BANK_ACCOUNT', status: 400 });
  });

  test('nothing matches a name that was not given, and the table still decides', async () => {
    expect(await check('999')).toEqual({ status: 'UNSUPPORTED' });
    expect(await check('103')).toEqual({ status: 'PARTIAL_MATCH' });
  });

  test('a name of one word is a partial match as it is', async () => {
    expect(await check('103', 'Acme')).toEqual({ status: 'PARTIAL_MATCH', verifiedFullName: 'Acme' });
  });
});
