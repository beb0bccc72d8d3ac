import { Body, Controller, Delete, Get, Inject, Param, Post, Query, Req } from '@nestjs/common';
import type { Request } from 'express';
import { type Caller, CurrentCaller } from '../../../../libs/runtime/caller.ts';
import { Operation, type Submitted, SubmittedBody } from '../../../../libs/runtime/http/index.ts';
import {
  ExternalAccount,
  ExternalAccountListResponse,
  OwnershipChallenge,
} from '../../../../projections/external-account.view.ts';
import { challengeDescription, verifyDescription } from './descriptions.ts';
import {
  OwnershipChallengeRequest,
  OwnershipVerifyRequest,
  PlatformExternalAccountCreateRequest,
  PlatformExternalAccountsQuery,
} from './external-accounts.bodies.ts';
import { ExternalAccountFacts } from './external-accounts.facts.ts';
import { ExternalAccountReads } from './external-accounts.reads.ts';
import { ExternalAccounts } from './external-accounts.ts';
import { livenessLink } from './liveness-page.ts';

@Controller('platform/external-accounts')
export class PlatformExternalAccountsController {
  constructor(
    @Inject(ExternalAccounts) private readonly accounts: ExternalAccounts,
    @Inject(ExternalAccountFacts) private readonly facts: ExternalAccountFacts,
    @Inject(ExternalAccountReads) private readonly reads: ExternalAccountReads,
  ) {}

  @Post()
  @Operation({
    summary: 'Add an external account of the platform',
    description: 'As `POST /customers/external-accounts` without a `customerId`.',
    tag: 'External accounts',
    success: { 201: ExternalAccount },
    errors: [409, 501],
    permission: 'TRANSACT',
    sealed: true,
  })
  add(
    @SubmittedBody(PlatformExternalAccountCreateRequest) body: Submitted<PlatformExternalAccountCreateRequest>,
    @CurrentCaller() caller: Caller,
  ) {
    return this.accounts.add(caller, body);
  }

  @Get()
  @Operation({
    summary: 'List external accounts of the platform',
    tag: 'External accounts',
    success: { 200: ExternalAccountListResponse },
    permission: 'VIEW',
  })
  list(@Query() query: PlatformExternalAccountsQuery, @CurrentCaller() { tenant }: Caller) {
    return this.reads.ofPlatform(tenant, query);
  }

  @Get(':externalAccountId')
  @Operation({
    summary: 'Get an external account of the platform',

    tag: 'External accounts',
    success: { 200: ExternalAccount },
    errors: [404],
    permission: 'VIEW',
  })
  get(@Param('externalAccountId') id: string, @CurrentCaller() { tenant }: Caller) {
    return this.reads.one(tenant, id, true);
  }

  @Delete(':externalAccountId')
  @Operation({
    summary: 'Delete an external account of the platform',
    description: 'Payments under way are not affected. The same account can be added again.',
    tag: 'External accounts',
    success: { 204: { description: 'Deleted.' } },
    errors: [404, 409],
    permission: 'TRANSACT',
  })
  async delete(@Param('externalAccountId') id: string, @CurrentCaller() caller: Caller) {
    await this.accounts.delete(caller, await this.facts.account(caller.tenant, id, true));
  }

  @Post(':externalAccountId/challenge')
  @Operation({
    summary: 'Start the proof of ownership',
    description: challengeDescription,
    tag: 'External accounts',
    success: { 201: OwnershipChallenge },
    errors: [404, 409, 501],
    permission: 'TRANSACT',
    sealed: true,
  })
  async challenge(
    @Param('externalAccountId') id: string,
    @Body() body: OwnershipChallengeRequest,
    @Req() request: Request,
    @CurrentCaller() caller: Caller,
  ) {
    const account = await this.facts.account(caller.tenant, id, true);
    return this.accounts.challenge(caller, account, body, (token) => livenessLink(request, token));
  }

  @Post(':externalAccountId/verify')
  @Operation({
    summary: 'Prove ownership with a signature',
    description: verifyDescription,
    tag: 'External accounts',
    success: { 200: ExternalAccount },
    errors: [404, 409],
    permission: 'TRANSACT',
    sealed: true,
  })
  async verify(
    @Param('externalAccountId') id: string,
    @Body() body: OwnershipVerifyRequest,
    @CurrentCaller() caller: Caller,
  ) {
    return this.accounts.verify(caller, await this.facts.account(caller.tenant, id, true), body);
  }
}
