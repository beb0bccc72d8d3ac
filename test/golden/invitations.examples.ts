import type { InvitationEvent } from '../../libs/domain/invitations/invitation.events.ts';
import { cancelled, claimed, created, erased, expired } from '../../libs/domain/invitations/invitation.examples.ts';

/** The events of invitations. */
export const invitationExamples: {
  readonly [T in InvitationEvent['type']]: Extract<InvitationEvent, { type: T }>['data'];
} = {
  InvitationCreated: created.data,
  InvitationClaimed: claimed.data,
  InvitationCancelled: cancelled.data,
  InvitationExpired: expired.data,
  InvitationPartyErased: erased('INVITEE').data,
};
