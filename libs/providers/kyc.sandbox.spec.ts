import { expect, test } from '@jest/globals';
import { sandboxKyc } from './kyc.sandbox.ts';

test.each([
  ['Amina Diallo 001', 'PENDING'],
  ['Amina Diallo 002', 'REJECTED'],
  ['Amina Diallo 003', 'UNVERIFIED'],
  ['Amina Diallo', 'APPROVED'],
  ['Amina Diallo 004', 'APPROVED'],
  ['001 Amina', 'APPROVED'],
  ['01', 'APPROVED'],
])('%s is %s', async (fullName, outcome) => {
  expect(await sandboxKyc.resolveIndividual({ fullName })).toBe(outcome);
});
