import { type Static, Type } from 'typebox';
import { type InvitationState, statusAt } from '../libs/domain/invitations/invitation.ts';
import { currencyAmount } from '../libs/kernel/money.ts';
import { CurrencyAmount } from './currency.view.ts';

const time = (description?: string) => Type.String({ format: 'date-time', ...(description && { description }) });

export const UmaInvitation = Type.Object(
  {
    code: Type.String({ examples: ['k5sa3iv7qhx2m4dbt6ezy7owcu'] }),
    invitationCode: Type.String({ description: 'The same as `code`.' }),
    createdAt: time(),
    claimedAt: Type.Optional(time()),
    url: Type.String({ description: 'Where whoever is invited goes.' }),
    expiresAt: Type.Optional(time('Absent: the invitation does not expire.')),
    inviterUma: Type.String({ description: 'Empty once the personal data of the inviter was erased.' }),
    inviteeUma: Type.Optional(Type.String({ description: 'Who claimed it.' })),
    status: Type.Enum(['PENDING', 'CLAIMED', 'EXPIRED', 'CANCELLED']),
    firstName: Type.Optional(Type.String({ description: 'Of whoever is invited.' })),
    amountToSend: Type.Optional(CurrencyAmount),
  },
  { $id: 'UmaInvitation' },
);

/** An invitation as the API shows it at a time, which is by the clock of the inviter's platform. */
export function invitationView(state: InvitationState, now: string): Static<typeof UmaInvitation> {
  const { code, createdAt, claimedAt, url, expiresAt, inviterUma = '', inviteeUma, firstName } = state;
  const { amountToSendMinor, currency } = state;
  return {
    code,
    invitationCode: code,
    createdAt,
    ...(claimedAt !== undefined && { claimedAt }),
    url,
    ...(expiresAt !== undefined && { expiresAt }),
    inviterUma,
    ...(inviteeUma !== undefined && { inviteeUma }),
    status: statusAt(state, now) as Static<typeof UmaInvitation>['status'],
    ...(firstName !== undefined && { firstName }),
    ...(amountToSendMinor !== undefined && { amountToSend: currencyAmount(amountToSendMinor, currency!) }),
  };
}
