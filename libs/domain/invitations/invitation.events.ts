import type { Event } from '../../kernel/messages.ts';

/** Whose personal data was erased from an invitation. */
export type InvitationParty = 'INVITER' | 'INVITEE';

/** `inviterUma` and `firstName` are personal: absent once the inviter was erased. */
export interface InvitationCreatedData {
  code: string;
  /** Whose customer invites: `<platform>.<environment>`. */
  tenantId: string;
  /** The inviter. */
  customerId: string;
  inviterUma: string;
  /** Where whoever is invited goes. */
  url: string;
  /** Of whoever is invited. */
  firstName?: string;
  /** What the inviter means to send, in the smallest unit of `currency`. */
  amountToSendMinor?: bigint;
  currency?: string;
  /** RFC 3339 UTC; absent: never. */
  expiresAt?: string;
}

/** `inviteeUma` is personal: absent once `subject` was erased, the invitee where this deployment knows the customer, else the inviter. */
export interface InvitationClaimedData {
  code: string;
  subject: string;
  inviteeUma: string;
  inviteeCustomerId?: string;
  /** The platform that claimed it. */
  claimedBy: string;
}

export type InvitationEvent =
  | Event<'InvitationCreated', InvitationCreatedData>
  | Event<'InvitationClaimed', InvitationClaimedData>
  | Event<'InvitationCancelled', { code: string }>
  | Event<'InvitationExpired', { code: string }>
  | Event<'InvitationPartyErased', { code: string; party: InvitationParty }>;

export const invitationEventTypes = [
  'InvitationCreated',
  'InvitationClaimed',
  'InvitationCancelled',
  'InvitationExpired',
  'InvitationPartyErased',
] as const satisfies readonly InvitationEvent['type'][];
