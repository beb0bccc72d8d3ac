import type { Process } from '../../kernel/process.ts';
import { ExpireInvitation, type InvitationState, invitation } from './invitation.ts';

/** Records that an invitation has expired. */
export const expireInvitation: Process<InvitationState> = {
  name: 'expireInvitation',
  decider: invitation,
  startsOn: [],
  next: () => undefined,
  dueAt: ({ status, expiresAt }) => (status === 'PENDING' ? expiresAt : undefined),
  wake: ({ status, code }, now) => (status === 'PENDING' ? new ExpireInvitation({ code, now }) : undefined),
};
