import { CreateInvitation } from './invitation.ts';

/** When the invitations of examples are created and when they expire. */
export const CREATED = '2025-10-13T12:00:00.000Z';
export const EXPIRES = '2025-10-20T12:00:00.000Z';
export const BEFORE = '2025-10-20T11:59:59.999Z';

export const code = 'k5sa3iv7qhx2m4dbt6ezy7owcu';
const tenantId = '0199dd29-0000-7000-8000-000000000001.sandbox';
const inviter = '0199dd29-2222-7000-8000-00000000000c';

export const create = new CreateInvitation({
  code,
  tenantId,
  customerId: inviter,
  inviterUma: '$amina@pay.example.com',
  url: `https://pay.example.com/invitations/${code}`,
  firstName: 'Luis',
  amountToSendMinor: 12_550n,
  currency: 'USD',
  expiresAt: EXPIRES,
  now: CREATED,
});

const { now: _, ...createdData } = create.data;
export const created = { type: 'InvitationCreated' as const, data: createdData };
export const claimed = {
  type: 'InvitationClaimed' as const,
  data: {
    code,
    subject: '0199dd29-2222-7000-8000-00000000000d',
    inviteeUma: '$luis@bank.example',
    inviteeCustomerId: '0199dd29-2222-7000-8000-00000000000d',
    claimedBy: '0199dd29-0000-7000-8000-000000000002.sandbox',
  },
};
export const cancelled = { type: 'InvitationCancelled' as const, data: { code } };
export const expired = { type: 'InvitationExpired' as const, data: { code } };
export const erased = (party: 'INVITER' | 'INVITEE') => ({
  type: 'InvitationPartyErased' as const,
  data: { code, party },
});
