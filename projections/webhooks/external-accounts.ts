import { webhookEventType } from '../../libs/domain/webhooks/event-types.ts';
import { publicId } from '../../libs/kernel/ids.ts';
import { streamIdOf } from '../../libs/kernel/messages.ts';
import type { Announcer } from '../../libs/kernel/projection.ts';
import { externalAccountView } from '../external-account.view.ts';
import { externalAccounts } from '../external-accounts.ts';

/** An external account after each change of its status. A challenge that is started anew changes none. */
export const externalAccountAnnouncer: Announcer = {
  handles: ['OwnershipChallengeStarted', 'OwnershipVerified', 'OwnershipVerificationFailed'],
  announce(event, read) {
    const id = streamIdOf(event.stream);
    const row = read(externalAccounts, id);
    if (!row || row.state.status === 'DELETED') return []; // its person was erased meanwhile
    if (row.state.status === (event.data as { previousStatus: string }).previousStatus) return [];
    return [
      {
        type: webhookEventType('EXTERNAL_ACCOUNT.STATUS_UPDATED').type,
        resource: publicId('ExternalAccount', id),
        sequence: event.revision + 1,
        data: externalAccountView(row.state),
      },
    ];
  },
};
