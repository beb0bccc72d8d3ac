import { describe, expect, test } from '@jest/globals';
import { AT, given, testEveryCell } from '../../../test/transition-cells.ts';
import { type AbandonedClaim, ClaimValue, claim, claimTransitions, ReleaseValue } from './claim.ts';

const claimId = 'c';
const rule = 'UMA_ADDRESS';
const take = (owner: string, abandoned?: AbandonedClaim) =>
  new ClaimValue({ claimId, rule, owner, refusal: 'UMA_ADDRESS_EXISTS', ...(abandoned && { abandoned }) });
const release = (owner: string, epoch?: number) =>
  new ReleaseValue({ claimId, rule, owner, ...(epoch !== undefined && { epoch }) });
const claimed = (owner: string) => ({ type: 'ValueClaimed', data: { claimId, rule, owner } });
const released = (owner: string) => ({ type: 'ValueReleased', data: { claimId, rule, owner } });

describe('a claim', () => {
  testEveryCell(claim, claimTransitions, {
    given: (status, command) =>
      status === 'FREE'
        ? claim.initial
        : { status: 'HELD' as const, owner: command === 'ReleaseValue' ? 'a' : 'gone', epoch: 1, claimedAt: AT },
    when: { ClaimValue: take('a', { owner: 'gone', epoch: 1 }), ReleaseValue: release('a') },
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

  test('is given back by that claim of its owner which is named, not by a later one', () => {
    const again = given(claim, claimed('a'), released('a'), claimed('a'));
    again.when(release('a', 1)).leadsTo();
    again.when(release('a', 2)).leadsTo(released('a'));
  });

  test('passes to the successor of exactly the claim that was found to be left behind', () => {
    const left = { owner: 'a', epoch: 1 };
    given(claim, claimed('a')).when(take('b', left)).leadsTo(claimed('b'));
    given(claim, claimed('c')).when(take('b', left)).rejects('UMA_ADDRESS_EXISTS', rule);
    given(claim, claimed('a'), released('a'), claimed('a')).when(take('b', left)).rejects('UMA_ADDRESS_EXISTS', rule);
  });

  test('counts its claims and says since when it is held', () => {
    const { state } = given(claim, claimed('a'), released('a'), claimed('b'));
    expect(state).toEqual({ status: 'HELD', owner: 'b', epoch: 2, claimedAt: AT });
  });
});
