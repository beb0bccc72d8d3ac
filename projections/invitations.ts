import { invitationEventTypes } from '../libs/domain/invitations/invitation.events.ts';
import { invitation } from '../libs/domain/invitations/invitation.ts';
import { stateProjection } from '../libs/kernel/projection.ts';

/** Invitations, with the customers on both sides, so that an erasure finds them. */
export const invitations = stateProjection(invitation, {
  table: 'invitations',
  handles: invitationEventTypes,
  columns: { inviter: 'text', invitee: 'text' },
  filters: ({ customerId, inviteeCustomerId }) => ({ inviter: customerId, invitee: inviteeCustomerId }),
  indexes: ['(inviter)', '(invitee)'],
});
