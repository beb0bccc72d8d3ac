import { describe, expect, test } from '@jest/globals';
import { AT, given, testEveryCell } from '../../../test/transition-cells.ts';
import type { Event } from '../../kernel/messages.ts';
import {
  BEFORE,
  CREATED,
  cancelled,
  claimed,
  code,
  create,
  created,
  EXPIRES,
  erased,
  expired,
} from './invitation.examples.ts';
import { expireInvitation } from './invitation.process.ts';
import {
  CancelInvitation,
  ClaimInvitation,
  CreateInvitation,
  EraseInvitationParty,
  ExpireInvitation,
  type InvitationState,
  invitation,
  invitationTransitions,
  statusAt,
} from './invitation.ts';

const stateAfter = (...events: Event[]) => given(invitation, ...events).state as InvitationState;
const claim = (now = CREATED) => new ClaimInvitation({ ...claimed.data, now });
const cancel = (now = CREATED) => new CancelInvitation({ code, now });
const expire = (now = EXPIRES) => new ExpireInvitation({ code, now });
const erase = (party: 'INVITER' | 'INVITEE') => new EraseInvitationParty({ code, party });

describe('the life of an invitation', () => {
  const history: Record<string, Event[]> = {
    NONE: [],
    PENDING: [created],
    CLAIMED: [created, claimed],
    CANCELLED: [created, cancelled],
    EXPIRED: [created, expired],
  };
  testEveryCell(invitation, invitationTransitions, {
    given: (status) => stateAfter(...history[status]!),
    when: {
      CreateInvitation: create,
      ClaimInvitation: claim(),
      CancelInvitation: cancel(),
      ExpireInvitation: expire(),
      EraseInvitationParty: erase('INVITER'),
    },
  });
});

describe('its expiry', () => {
  test('must be in the future', () => {
    const at = (expiresAt: string) => new CreateInvitation({ ...create.data, expiresAt });
    given(invitation).when(at(CREATED)).rejects('INVALID_INPUT');
    given(invitation)
      .when(at('2025-10-13T12:00:00.001Z'))
      .leadsTo({
        type: 'InvitationCreated',
        data: { ...created.data, expiresAt: '2025-10-13T12:00:00.001Z' },
      });
  });

  test('counts before the timer has recorded it', () => {
    given(invitation, created).when(claim(BEFORE)).leadsTo(claimed);
    given(invitation, created).when(claim(EXPIRES)).rejects('INVALID_INPUT', 'INVITATION_EXPIRED');
    given(invitation, created).when(cancel(BEFORE)).leadsTo(cancelled);
    given(invitation, created).when(cancel(EXPIRES)).rejects('INVALID_INPUT', 'INVITATION_EXPIRED');
    expect([BEFORE, EXPIRES].map((now) => statusAt(stateAfter(created), now))).toEqual(['PENDING', 'EXPIRED']);
    expect(statusAt(stateAfter(created, claimed), EXPIRES)).toBe('CLAIMED');
  });

  test('is recorded when its time has come, not before', () => {
    given(invitation, created).when(expire(BEFORE)).leadsTo();
    given(invitation, created).when(expire(EXPIRES)).leadsTo(expired);
  });

  test('wakes a pending invitation that has one', () => {
    const { expiresAt: _, ...endless } = created.data;
    expect(expireInvitation.dueAt(stateAfter(created))).toBe(EXPIRES);
    expect(expireInvitation.wake(stateAfter(created), EXPIRES)).toEqual(expire(EXPIRES));
    for (const state of [stateAfter({ type: 'InvitationCreated', data: endless }), stateAfter(created, claimed)]) {
      expect(expireInvitation.dueAt(state)).toBeUndefined();
    }
    expect(expireInvitation.wake(stateAfter(created, claimed), EXPIRES)).toBeUndefined();
  });

  test('never comes where there is none', () => {
    const { expiresAt: _, ...endless } = created.data;
    expect(statusAt(stateAfter({ type: 'InvitationCreated', data: endless }), '2999-01-01T00:00:00.000Z')).toBe(
      'PENDING',
    );
  });
});

test('an invitation is not claimed by its inviter', () => {
  const own = new ClaimInvitation({ ...claimed.data, inviteeUma: create.data.inviterUma, now: CREATED });
  given(invitation, created).when(own).rejects('INVALID_UMA_ADDRESS', 'INVITER');
});

test('a claim is tied to the code: who claimed it and when', () => {
  const { inviteeUma, claimedAt } = stateAfter(created, claimed);
  expect([inviteeUma, claimedAt]).toEqual(['$luis@bank.example', AT]);
});

describe('after an erasure', () => {
  const shown = ({ inviterUma, firstName, inviteeUma }: InvitationState) => [inviterUma, firstName, inviteeUma];

  test.each(['INVITER', 'INVITEE'] as const)('of the %s only what is personal to others is left', (party) => {
    const left = {
      INVITER: [undefined, undefined, '$luis@bank.example'],
      INVITEE: ['$amina@pay.example.com', 'Luis', undefined],
    };
    expect(shown(stateAfter(created, claimed, erased(party)))).toEqual(left[party]);
  });

  test('of the inviter an invitee whom nobody knows here is gone too', () => {
    const { inviteeCustomerId: _, ...data } = claimed.data;
    expect(shown(stateAfter(created, { ...claimed, data }, erased('INVITER')))).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });
});
