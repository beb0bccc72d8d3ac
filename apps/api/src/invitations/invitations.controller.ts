import { Body, Controller, Get, Inject, Param, Post } from '@nestjs/common';
import {
  CancelInvitation,
  ClaimInvitation,
  CreateInvitation,
  type InvitationState,
} from '../../../../libs/domain/invitations/invitation.ts';
import { tenantIdOf } from '../../../../libs/domain/platforms/platform.ts';
import { type Caller, CurrentCaller } from '../../../../libs/runtime/caller.ts';
import { Commands } from '../../../../libs/runtime/commands.ts';
import { Operation, type Submitted, SubmittedBody } from '../../../../libs/runtime/http/index.ts';
import { invitationView, UmaInvitation } from '../../../../projections/invitation.view.ts';
import { InvitationCodes } from './invitation-codes.ts';
import { UmaInvitationClaimRequest, UmaInvitationCreateRequest } from './invitations.bodies.ts';
import { InvitationFacts } from './invitations.facts.ts';

const tag = 'Invitations';
const viewAt = (now: string) => (state: InvitationState) => invitationView(state, now);

@Controller('invitations')
export class InvitationsController {
  constructor(
    @Inject(Commands) private readonly commands: Commands,
    @Inject(InvitationFacts) private readonly facts: InvitationFacts,
    @Inject(InvitationCodes) private readonly codes: InvitationCodes,
  ) {}

  @Post()
  @Operation({
    summary: 'Create an invitation',
    description: "A customer of the platform invites somebody. `amountToSend` is in the customer's first currency.",
    tag,
    success: { 201: UmaInvitation },
    permission: 'MANAGE',
    sealed: true,
  })
  async create(
    @SubmittedBody(UmaInvitationCreateRequest) body: Submitted<UmaInvitationCreateRequest>,
    @CurrentCaller() caller: Caller,
  ) {
    const now = this.facts.now(caller.tenant);
    const data = await this.facts.ofInviter(caller.tenant, body, this.codes.codeFor(caller), now);
    return this.commands.answer(caller, new CreateInvitation({ ...data, now }), viewAt(now));
  }

  @Get(':invitationCode')
  @Operation({
    summary: 'Get an invitation',
    description: 'Any platform may that has the code.',
    tag,
    success: { 200: UmaInvitation },
    errors: [404],
    permission: 'VIEW',
  })
  async get(@Param('invitationCode') code: string, @CurrentCaller() { tenant }: Caller) {
    const { state, now } = await this.facts.known(tenant, code);
    return invitationView(state, now);
  }

  @Post(':invitationCode/claim')
  @Operation({
    summary: 'Claim an invitation',
    description:
      'Any platform may that has the code: for one of its customers, or for somebody whose UMA address is no customer’s here. The platform of the inviter is told by webhook.',
    tag,
    success: { 200: UmaInvitation },
    errors: [404],
    permission: 'MANAGE',
    sealed: true,
  })
  async claim(
    @Param('invitationCode') code: string,
    @Body() { inviteeUma }: UmaInvitationClaimRequest,
    @CurrentCaller() caller: Caller,
  ) {
    const { state, tenant, now } = await this.facts.known(caller.tenant, code);
    const invitee = await this.facts.invitee(caller.tenant, inviteeUma, state.customerId);
    const claim = new ClaimInvitation({ code, ...invitee, claimedBy: tenantIdOf(caller.tenant), now });
    return this.commands.answer(caller, claim, viewAt(now), tenant);
  }

  @Post(':invitationCode/cancel')
  @Operation({
    summary: 'Cancel an invitation',
    description: 'The platform of the inviter may.',
    tag,
    success: { 200: UmaInvitation },
    errors: [404],
    permission: 'MANAGE',
    sealed: true,
  })
  async cancel(@Param('invitationCode') code: string, @CurrentCaller() caller: Caller) {
    const { now } = await this.facts.own(caller.tenant, code);
    return this.commands.answer(caller, new CancelInvitation({ code, now }), viewAt(now));
  }
}
