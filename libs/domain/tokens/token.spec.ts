import { describe, expect, test } from '@jest/globals';
import { AT, given, testEveryCell } from '../../../test/transition-cells.ts';
import type { TokenIssuedData } from './token.events.ts';
import { IssueToken, RevokeToken, token, tokenTransitions } from './token.ts';

const tokenId = '0199d8a0-0000-7000-8000-00000000000b';
const issuing: TokenIssuedData = {
  tokenId,
  platform: '0199d8a0-0000-7000-8000-000000000001',
  environment: 'sandbox',
  name: 'Backend',
  permissions: ['VIEW', 'TRANSACT'],
  clientId: '0199d8a000007000800000000000000b',
  secretHash: 'c0ffee',
};
const issued = { type: 'TokenIssued', data: issuing };
const revoked = { type: 'TokenRevoked', data: { tokenId } };
const histories: Record<string, { type: string; data: object }[]> = {
  NONE: [],
  ACTIVE: [issued],
  REVOKED: [issued, revoked],
};

describe('a token', () => {
  testEveryCell(token, tokenTransitions, {
    given: (status) => given(token, ...histories[status]!).state,
    when: { IssueToken: new IssueToken(issuing), RevokeToken: new RevokeToken({ tokenId }) },
  });

  test('is what was issued, the secret as its hash only, until it is revoked', () => {
    expect(given(token, issued).state).toEqual({ ...issuing, status: 'ACTIVE', createdAt: AT, updatedAt: AT });
    expect(given(token, issued, revoked).state).toMatchObject({ ...issuing, status: 'REVOKED' });
  });

  test('that was revoked once is unknown to whoever revokes it again', () => {
    given(token, issued, revoked).when(new RevokeToken({ tokenId })).rejects('TOKEN_NOT_FOUND');
  });
});
