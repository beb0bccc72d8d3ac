import { Inject, Injectable } from '@nestjs/common';
import type { InvitationCreatedData } from '../../../../libs/domain/invitations/invitation.events.ts';
import { checkExpiry, type InvitationState, invitation } from '../../../../libs/domain/invitations/invitation.ts';
import { type PlatformState, platform, tenantIdOf, tenantOf } from '../../../../libs/domain/platforms/platform.ts';
import { timestamp } from '../../../../libs/kernel/clock.ts';
import { type Rejection, reject } from '../../../../libs/kernel/errors.ts';
import type { Tenant } from '../../../../libs/kernel/messages.ts';
import { ClaimIds } from '../../../../libs/runtime/claims.ts';
import { WritePath } from '../../../../libs/runtime/execute.ts';
import type { Submitted } from '../../../../libs/runtime/http/index.ts';
import { PlatformClock } from '../../../../libs/runtime/platform-clock.ts';
import { ownerOfAddress } from '../../../shared/uma-receivers.ts';
import { readAddress } from '../receivers/receivers.ts';
import { isInvitationCode } from './invitation-codes.ts';
import type { UmaInvitationCreateRequest } from './invitations.bodies.ts';

/** An invitation, whose it is, and what time it is there. */
export interface KnownInvitation {
  state: InvitationState;
  tenant: Tenant;
  now: string;
}

/** What requests about invitations need to know. */
@Injectable()
export class InvitationFacts {
  constructor(
    @Inject(WritePath) private readonly writePath: WritePath,
    @Inject(ClaimIds) private readonly claimIds: ClaimIds,
    @Inject(PlatformClock) private readonly clock: PlatformClock,
  ) {}

  /**
   * The invitation of this code, of whichever platform in the caller's environment: who has the code may read and claim it. From its own
   * stream, since a read model shows a platform its own only.
   */
  async known({ environment }: Tenant, code: string): Promise<KnownInvitation> {
    if (!isInvitationCode(code)) throw reject('INVITATION_NOT_FOUND');
    const { state } = await this.writePath.state<InvitationState>(invitation, code);
    const tenant = tenantOf(state.tenantId);
    if (state.status === 'NONE' || tenant.environment !== environment) throw reject('INVITATION_NOT_FOUND');
    await this.clock.know(tenant);
    return { state, tenant, now: this.now(tenant) };
  }

  /** The same for the platform whose customer invites; `403 FORBIDDEN` for others. */
  async own(tenant: Tenant, code: string): Promise<KnownInvitation> {
    const found = await this.known(tenant, code);
    if (found.state.tenantId !== tenantIdOf(tenant)) throw reject('FORBIDDEN', { reason: 'NOT_THE_INVITER' });
    return found;
  }

  /** What a new invitation says of its inviter, who has to be a customer of the caller's platform. */
  async ofInviter(
    tenant: Tenant,
    { valid, accept }: Submitted<UmaInvitationCreateRequest>,
    code: string,
    now: string,
  ): Promise<InvitationCreatedData> {
    const body = accept(
      () => valid.inviterUma !== undefined && readAddress(valid.inviterUma, 'inviterUma'),
      () => orThrow(checkExpiry(valid.expiresAt, now)),
    );
    const tenantId = tenantIdOf(tenant);
    const { umaDomain, supportedCurrencies, settings } = (await this.writePath.state<PlatformState>(platform, tenantId))
      .state;
    if (settings.hasNoInvitations) throw reject('INVITATIONS_NOT_CONFIGURED');
    const inviterUma = readAddress(body.inviterUma, 'inviterUma');
    const inviter = await ownerOfAddress(this.writePath.fresh, this.claimIds, tenant.environment, inviterUma);
    if (inviter?.tenantId !== tenantId)
      throw notACustomer('inviterUma', 'No customer of the platform has this UMA address.');
    const { firstName, amountToSend, expiresAt } = body;
    const currency = inviter.currencies[0] ?? supportedCurrencies[0]!.currencyCode;
    return {
      code,
      tenantId,
      customerId: inviter.customerId,
      inviterUma,
      url: `https://${umaDomain}/invitations/${code}`,
      ...(firstName !== undefined && { firstName }),
      ...(amountToSend !== undefined && { amountToSendMinor: BigInt(amountToSend), currency }),
      ...(expiresAt !== undefined && { expiresAt }),
    };
  }

  /**
   * Who claims an invitation, by UMA address: a customer of the caller's platform, or somebody whom it knows and this deployment does
   * not. Their personal data is sealed under the customer's key, else under the inviter's.
   */
  async invitee(tenant: Tenant, text: string, inviter: string) {
    const inviteeUma = readAddress(text, 'inviteeUma');
    const owner = await ownerOfAddress(this.writePath.fresh, this.claimIds, tenant.environment, inviteeUma);
    if (!owner) return { inviteeUma, subject: inviter };
    if (owner.tenantId !== tenantIdOf(tenant)) {
      throw notACustomer('inviteeUma', 'This UMA address belongs to a customer of another platform.');
    }
    return { inviteeUma, subject: owner.customerId, inviteeCustomerId: owner.customerId };
  }

  now(tenant: Tenant): string {
    return timestamp(this.clock.nowMs(tenant));
  }
}

function orThrow(refusal: Rejection | undefined): void {
  if (refusal) throw refusal;
}

function notACustomer(field: string, message: string) {
  return reject('INVALID_UMA_ADDRESS', { errors: [{ field, constraint: 'CONFLICT', message }] }, message);
}
