import { randomUUID } from 'node:crypto';
import { EraseInvitationParty, invitation } from '../../libs/domain/invitations/invitation.ts';
import type { Environment, Tenant } from '../../libs/kernel/messages.ts';
import { invitations } from '../../projections/invitations.ts';
import type { Engine } from './engine.ts';

/** An invitation that a person was erased from. */
export interface ErasedInvitation {
  code: string;
  /** The platform of the inviter, and the log position up to which its read models have to come. */
  tenant: Tenant;
  position: number;
}

/**
 * Erases a customer from the invitations that it made and from those that it claimed, which are other platforms'. Each one says so
 * itself, so that a later event of it does not bring back what a row was blanked of.
 */
export async function eraseFromInvitations(
  { pool, writePath }: Pick<Engine, 'pool' | 'writePath'>,
  customerId: string,
): Promise<ErasedInvitation[]> {
  const { rows } = await pool.query<{ id: string; platform: string; environment: Environment; is_inviter: boolean }>(
    `SELECT id, platform, environment, inviter = $1 AS is_inviter
       FROM ${invitations.name} WHERE inviter = $1 OR invitee = $1`,
    [customerId],
  );
  return Promise.all(
    rows.map(async ({ id: code, platform, environment, is_inviter: isInviter }) => {
      const tenant = { platform, environment };
      const commandId = randomUUID();
      const erase = new EraseInvitationParty({ code, party: isInviter ? 'INVITER' : 'INVITEE' });
      const envelope = { commandId, correlationId: commandId, actor: 'ops', tenant };
      const { position } = await writePath.execute(invitation, erase, envelope);
      return { code, tenant, position };
    }),
  );
}
