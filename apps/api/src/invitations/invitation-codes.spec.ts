import { createHash } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { Caller } from '../../../../libs/runtime/caller.ts';
import { InvitationCodes, isInvitationCode } from './invitation-codes.ts';

const caller = (key?: string): Caller => {
  const made = new Caller({ platform: 'p', environment: 'sandbox' }, 'token', new Set(), 'request');
  if (key)
    made.key = {
      hash: createHash('sha256').update(key).digest('hex'),
      bodyHash: '',
      body: null,
      status: 201,
      isRecorded: false,
    };
  return made;
};
const ours = new InvitationCodes(Buffer.alloc(32, 1));
const theirs = new InvitationCodes(Buffer.alloc(32, 2));

test('codes have 26 letters and digits, and no two requests get the same', () => {
  const codes = Array.from({ length: 1_000 }, () => ours.codeFor(caller()));
  expect(codes.filter((code) => !isInvitationCode(code))).toEqual([]);
  expect(new Set(codes).size).toBe(1_000);
});

test('a keyed request gets its code again, which nobody without the key of the deployment can work out', () => {
  const code = ours.codeFor(caller('1'));
  expect(ours.codeFor(caller('1'))).toBe(code);
  expect(ours.codeFor(caller('2'))).not.toBe(code);
  expect(theirs.codeFor(caller('1'))).not.toBe(code);
});
