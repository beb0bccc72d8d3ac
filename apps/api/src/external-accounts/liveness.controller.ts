import { Body, Controller, Inject, Param, Post } from '@nestjs/common';
import { type Caller, CurrentCaller } from '../../../../libs/runtime/caller.ts';
import { Operation } from '../../../../libs/runtime/http/index.ts';
import { ExternalAccount } from '../../../../projections/external-account.view.ts';
import { LivenessOutcomeRequest } from './external-accounts.bodies.ts';
import { ExternalAccountFacts } from './external-accounts.facts.ts';
import { ExternalAccounts } from './external-accounts.ts';

@Controller('sandbox/external-accounts')
export class SandboxLivenessController {
  constructor(
    @Inject(ExternalAccounts) private readonly accounts: ExternalAccounts,
    @Inject(ExternalAccountFacts) private readonly facts: ExternalAccountFacts,
  ) {}

  @Post(':externalAccountId/liveness')
  @Operation({
    summary: 'End a liveness check',
    description:
      'What the two buttons of the page at `verificationLink` do. 409 `CONFLICT` when no `LIVENESS` challenge is outstanding, ' +
      'or when it has expired.',
    tag: 'Sandbox',
    success: { 200: ExternalAccount },
    errors: [404, 409],
    permission: 'TRANSACT',
    sandboxOnly: true,
    extension: true,
    sealed: true,
  })
  async liveness(
    @Param('externalAccountId') id: string,
    @Body() { outcome }: LivenessOutcomeRequest,
    @CurrentCaller() caller: Caller,
  ) {
    return this.accounts.liveness(caller, await this.facts.account(caller.tenant, id, false), outcome);
  }
}
