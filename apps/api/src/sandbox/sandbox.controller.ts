import { Body, Controller, Inject, Param, Post } from '@nestjs/common';
import { type AccountState, account, ReceiveDeposit } from '../../../../libs/domain/accounts/account.ts';
import { tenantIdOf } from '../../../../libs/domain/platforms/platform.ts';
import { reject } from '../../../../libs/kernel/errors.ts';
import { parsePublicId } from '../../../../libs/kernel/ids.ts';
import { type Caller, CurrentCaller } from '../../../../libs/runtime/caller.ts';
import { Commands } from '../../../../libs/runtime/commands.ts';
import { WritePath } from '../../../../libs/runtime/execute.ts';
import { Operation } from '../../../../libs/runtime/http/index.ts';
import { InternalAccount, internalAccountView } from '../../../../projections/internal-account.view.ts';
import { SandboxFundBody } from './sandbox.bodies.ts';

@Controller('sandbox')
export class SandboxController {
  constructor(
    @Inject(Commands) private readonly commands: Commands,
    @Inject(WritePath) private readonly writePath: WritePath,
  ) {}

  @Post('internal-accounts/:accountId/fund')
  @Operation({
    summary: 'Fund an internal account',
    description: 'Stands in for a settled deposit: an `INCOMING` transaction that is completed at once.',
    tag: 'Sandbox',
    success: { 200: InternalAccount },
    errors: [404],
    keyedByCommit: true,
    permission: 'TRANSACT',
    sandboxOnly: true,
  })
  async fund(@Param('accountId') id: string, @Body() { amount }: SandboxFundBody, @CurrentCaller() caller: Caller) {
    const accountId = parsePublicId('InternalAccount', id);
    if (!accountId) throw reject('REFERENCE_NOT_FOUND');
    const { state } = await this.writePath.state<AccountState>(account, accountId);
    if (state.tenantId !== tenantIdOf(caller.tenant)) throw reject('REFERENCE_NOT_FOUND');
    const paymentId = caller.newId('payment');
    const deposit = new ReceiveDeposit({
      accountId,
      tenantId: state.tenantId,
      platformCustomerId: state.platformCustomerId,
      currency: state.currency,
      amountMinor: BigInt(amount),
      counterpart: `mint:${state.currency}`,
      paymentId,
      ...(state.customerId && { customerId: state.customerId }),
      reference: `FUND-${paymentId.slice(0, 8).toUpperCase()}`,
    });
    return this.commands.answer(caller, deposit, internalAccountView);
  }
}
