import type { InvitationState } from '../../libs/domain/invitations/invitation.ts';
import { webhookEventType } from '../../libs/domain/webhooks/event-types.ts';
import { publicId } from '../../libs/kernel/ids.ts';
import type { Announcer, StateRow } from '../../libs/kernel/projection.ts';
import { invitationView } from '../invitation.view.ts';
import { invitations } from '../invitations.ts';

/** The platform of the inviter is told that its invitation was claimed. */
export const invitationAnnouncer: Announcer = {
  handles: ['InvitationClaimed'],
  announce(event, read) {
    const { code } = event.data as { code: string };
    const row = read(invitations, code) as StateRow<InvitationState> | undefined;
    if (!row) return [];
    const { type } = webhookEventType('INVITATION.CLAIMED');
    const resource = publicId('Invitation', code);
    return [{ type, resource, sequence: event.revision + 1, data: invitationView(row.state, event.at) }];
  },
};
