import { describe, expect, test } from '@jest/globals';
import { AT, given, testEveryCell } from '../../../test/transition-cells.ts';
import { ClaimValue, claim, claimTransitions, ReleaseValue } from './claim.ts';

const claimId = 'c';
const rule = 'UMA_ADDRESS';
const take = (owner: string, abandonedOwner?: string) =>
  new ClaimValue({ claimId, rule, owner, refusal: 'UMA_ADDRESS_EXISTS', ...(abandonedOwner && { abandonedOwner }) });
const release = (owner: string) => new ReleaseValue({ claimId, rule, owner });
const claimed = (owner: string) => ({ type: 'ValueClaimed', data: { claimId, rule, owner } });
const released = (owner: string) => ({ type: 'ValueReleased', data: { claimId, rule, owner } });

describe('a claim', () => {
  testEveryCell(claim, claimTransitions, {
    given: (status, command) =>
      status === 'FREE'
        ? claim.initial
        : { status: 'HELD' as const, owner: command === 'ReleaseValue' ? 'a' : 'gone', epoch: 1, claimedAt: AT },
    when: { ClaimValue: take('a', 'gone'), ReleaseValue: release('a') },
  });

  test('is held by one', () => {
    given(claim, claimed('a')).when(take('b')).rejects('UMA_ADDRESS_EXISTS', rule);
    given(claim, claimed('a')).when(take('a')).leadsTo();
  });

  test('is given back by its owner only', () => {
    given(claim, claimed('a')).when(release('b')).leadsTo();
    given(claim, claimed('a')).when(release('a')).leadsTo(released('a'));
    given(claim, claimed('a'), released('a')).when(take('b')).leadsTo(claimed('b'));
  });

  test('passes to the successor of exactly the owner that was found to be gone', () => {
    given(claim, claimed('a')).when(take('b', 'a')).leadsTo(claimed('b'));
    given(claim, claimed('c')).when(take('b', 'a')).rejects('UMA_ADDRESS_EXISTS', rule);
  });

  test('counts its claims and says since when it is held', () => {
    const { state } = given(claim, claimed('a'), released('a'), claimed('b'));
    expect(state).toEqual({ status: 'HELD', owner: 'b', epoch: 2, claimedAt: AT });
  });
});
