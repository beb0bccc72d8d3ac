import type { Decider } from '../../kernel/decider.ts';
import { type Rejection, reject, rejectFields } from '../../kernel/errors.ts';
import { command, type Stamped } from '../../kernel/messages.ts';
import { transitions } from '../../kernel/transitions.ts';
import type {
  InvitationClaimedData,
  InvitationCreatedData,
  InvitationEvent,
  InvitationParty,
} from './invitation.events.ts';

/** `now`, here and below: RFC 3339 UTC, by the clock of the inviter's platform. */
export class CreateInvitation extends command('CreateInvitation')<InvitationCreatedData & { now: string }>() {}
export class ClaimInvitation extends command('ClaimInvitation')<InvitationClaimedData & { now: string }>() {}
export class CancelInvitation extends command('CancelInvitation')<{ code: string; now: string }>() {}
export class ExpireInvitation extends command('ExpireInvitation')<{ code: string; now: string }>() {}
/** After this the key of the party's personal data is destroyed. */
export class EraseInvitationParty extends command('EraseInvitationParty')<{
  code: string;
  party: InvitationParty;
}>() {}

export type InvitationCommand =
  | CreateInvitation
  | ClaimInvitation
  | CancelInvitation
  | ExpireInvitation
  | EraseInvitationParty;

export type InvitationStatus = 'NONE' | 'PENDING' | 'CLAIMED' | 'CANCELLED' | 'EXPIRED';

export interface InvitationState extends Omit<InvitationCreatedData, 'inviterUma'> {
  status: InvitationStatus;
  inviterUma?: string;
  inviteeUma?: string;
  inviteeCustomerId?: string;
  claimedAt?: string;
  createdAt: string;
  updatedAt: string;
}

const claimed = reject('INVITATION_ALREADY_CLAIMED');
const cancelled = reject('INVITATION_CANCELLED');
const expired = reject('INVALID_INPUT', { reason: 'INVITATION_EXPIRED' }, 'The invitation has expired.');

/** The life of an invitation (spec, Invitation). */
export const invitationTransitions = transitions<InvitationStatus, InvitationCommand['type']>(
  [
    ['NONE', 'CreateInvitation', 'PENDING', 'InvitationCreated'],
    ['PENDING', 'ClaimInvitation', 'CLAIMED', 'InvitationClaimed'],
    ['PENDING', 'CancelInvitation', 'CANCELLED', 'InvitationCancelled'],
    ['PENDING', 'ExpireInvitation', 'EXPIRED', 'InvitationExpired'],
    ['CLAIMED', 'ClaimInvitation', claimed],
    ['CANCELLED', 'ClaimInvitation', cancelled],
    ['EXPIRED', 'ClaimInvitation', expired],
    ['CLAIMED', 'CancelInvitation', claimed],
    ['CANCELLED', 'CancelInvitation', cancelled],
    ['EXPIRED', 'CancelInvitation', expired],
    ['PENDING', 'EraseInvitationParty', 'PENDING', 'InvitationPartyErased'],
    ['CLAIMED', 'EraseInvitationParty', 'CLAIMED', 'InvitationPartyErased'],
    ['CANCELLED', 'EraseInvitationParty', 'CANCELLED', 'InvitationPartyErased'],
    ['EXPIRED', 'EraseInvitationParty', 'EXPIRED', 'InvitationPartyErased'],
    [['CLAIMED', 'CANCELLED', 'EXPIRED'], 'ExpireInvitation', reject('CONFLICT', { reason: 'INVITATION_OVER' })],
    [['PENDING', 'CLAIMED', 'CANCELLED', 'EXPIRED'], 'CreateInvitation', reject('CONFLICT', { reason: 'CODE_TAKEN' })],
  ],
  reject('INVITATION_NOT_FOUND'),
);

/** The status at a time: a pending invitation past its expiry is expired, whether or not the timer has recorded it yet. */
export const statusAt = ({ status, expiresAt }: Pick<InvitationState, 'status' | 'expiresAt'>, now: string) =>
  status === 'PENDING' && expiresAt !== undefined && now >= expiresAt ? 'EXPIRED' : status;

function decide(state: InvitationState, { type, data }: InvitationCommand): InvitationEvent[] | Rejection {
  const refusal = invitationTransitions.guard(state.status, type);
  if (refusal) return refusal;
  const { code } = data;
  switch (type) {
    case 'CreateInvitation': {
      const { now, ...created } = data;
      return checkExpiry(created.expiresAt, now) ?? [{ type: 'InvitationCreated', data: created }];
    }
    case 'ClaimInvitation': {
      const { now, ...claim } = data;
      if (statusAt(state, now) === 'EXPIRED') return expired;
      if (claim.inviteeUma === state.inviterUma) return ownInvitation();
      return [{ type: 'InvitationClaimed', data: claim }];
    }
    case 'CancelInvitation':
      return statusAt(state, data.now) === 'EXPIRED' ? expired : [{ type: 'InvitationCancelled', data: { code } }];
    case 'ExpireInvitation':
      return statusAt(state, data.now) === 'EXPIRED' ? [{ type: 'InvitationExpired', data: { code } }] : [];
    case 'EraseInvitationParty':
      return [{ type: 'InvitationPartyErased', data }];
  }
}

/** Refuses an expiry that is over before the invitation begins. */
export function checkExpiry(expiresAt: string | undefined, now: string): Rejection | undefined {
  if (expiresAt === undefined || expiresAt > now) return undefined;
  const message = 'expiresAt must be in the future.';
  return rejectFields([{ field: 'expiresAt', constraint: 'MINIMUM', message, now }]);
}

function ownInvitation(): Rejection {
  const message = 'Nobody can claim an invitation of their own.';
  const errors = [{ field: 'inviteeUma', constraint: 'CONFLICT', message }];
  return reject('INVALID_UMA_ADDRESS', { reason: 'INVITER', errors }, message);
}

function evolve(state: InvitationState, event: InvitationEvent & Stamped): InvitationState {
  const next = { ...state, updatedAt: event.at };
  switch (event.type) {
    case 'InvitationCreated':
      return { ...next, ...event.data, status: 'PENDING', createdAt: event.at };
    case 'InvitationClaimed': {
      const { inviteeUma, inviteeCustomerId } = event.data;
      const invitee = {
        ...(inviteeUma !== undefined && { inviteeUma }),
        ...(inviteeCustomerId && { inviteeCustomerId }),
      };
      return { ...next, ...invitee, status: 'CLAIMED', claimedAt: event.at };
    }
    case 'InvitationCancelled':
      return { ...next, status: 'CANCELLED' };
    case 'InvitationExpired':
      return { ...next, status: 'EXPIRED' };
    case 'InvitationPartyErased':
      return without(state, event.data.party);
  }
}

/** An invitee whom nobody here knows as a customer goes with the inviter, under whose key the address is sealed. */
function without(state: InvitationState, party: InvitationParty): InvitationState {
  const { inviterUma, firstName, inviteeUma, ...rest } = state;
  const isInviteeGone = party === 'INVITEE' || state.inviteeCustomerId === undefined;
  return {
    ...rest,
    ...(party === 'INVITEE' && inviterUma !== undefined && { inviterUma }),
    ...(party === 'INVITEE' && firstName !== undefined && { firstName }),
    ...(!isInviteeGone && inviteeUma !== undefined && { inviteeUma }),
  };
}

/** An invitation of a platform's customer to whoever has its code (spec, Invitation; facts §12). */
export const invitation: Decider<InvitationState, InvitationCommand, InvitationEvent> = {
  name: 'invitation',
  id: 'code',
  commands: [CreateInvitation, ClaimInvitation, CancelInvitation, ExpireInvitation, EraseInvitationParty],
  creates: ['CreateInvitation'],
  initial: { status: 'NONE', code: '', tenantId: '', customerId: '', url: '', createdAt: '', updatedAt: '' },
  decide,
  evolve,
  version: 1,
  personal: {
    InvitationCreated: { subject: 'customerId', fields: ['inviterUma', 'firstName'] },
    InvitationClaimed: { subject: 'subject', fields: ['inviteeUma'] },
  },
};
