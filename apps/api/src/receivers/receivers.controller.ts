import { Controller, Get, Inject, Param, Query } from '@nestjs/common';
import {
  type ExternalAccountState,
  externalAccount,
} from '../../../../libs/domain/external-accounts/external-account.ts';
import { tenantIdOf } from '../../../../libs/domain/platforms/platform.ts';
import { reject } from '../../../../libs/kernel/errors.ts';
import { parsePublicId, publicId } from '../../../../libs/kernel/ids.ts';
import type { Tenant } from '../../../../libs/kernel/messages.ts';
import { MAX_PAYMENT_AMOUNT } from '../../../../libs/kernel/money.ts';
import { type Caller, CurrentCaller } from '../../../../libs/runtime/caller.ts';
import { WritePath } from '../../../../libs/runtime/execute.ts';
import { Operation } from '../../../../libs/runtime/http/index.ts';
import {
  ReceiverExternalAccountLookupResponse,
  ReceiverUmaLookupResponse,
} from '../../../../projections/receiver.view.ts';
import { ReceiverQuery } from './receivers.bodies.ts';
import { Receivers } from './receivers.ts';

@Controller('receiver')
export class ReceiversController {
  constructor(
    @Inject(Receivers) private readonly receivers: Receivers,
    @Inject(WritePath) private readonly writePath: WritePath,
  ) {}

  @Get('uma/:receiverUmaAddress')
  @Operation({
    summary: 'Look up a UMA address',
    description: 'What the receiver takes, at which rates, and what it wants to know of the payer.',
    tag: 'UMA',
    success: { 200: ReceiverUmaLookupResponse },
    errors: [404, 412, 424, 501],
    permission: 'VIEW',
  })
  async uma(
    @Param('receiverUmaAddress') text: string,
    @Query() query: ReceiverQuery,
    @CurrentCaller() { tenant }: Caller,
  ) {
    const payer = await this.receivers.payer(tenant, query);
    const { address, currencies } = await this.receivers.byAddress(tenant, text, 'receiverUmaAddress');
    return { ...(await this.receivers.view(tenant, payer, address, currencies)), receiverUmaAddress: address };
  }

  @Get('external-account/:accountId')
  @Operation({
    summary: 'Look up an external account as a receiver',
    tag: 'UMA',
    success: { 200: ReceiverExternalAccountLookupResponse },
    errors: [404, 412, 424, 501],
    permission: 'VIEW',
  })
  async externalAccount(
    @Param('accountId') id: string,
    @Query() query: ReceiverQuery,
    @CurrentCaller() { tenant }: Caller,
  ) {
    const payer = await this.receivers.payer(tenant, query);
    const account = await this.account(tenant, id);
    const taken = {
      code: account.currency,
      minMinor: 1n,
      maxMinor: MAX_PAYMENT_AMOUNT,
      requiredPayerFields: [], // a bank asks nothing about the payer
    };
    const accountId = publicId('ExternalAccount', account.externalAccountId);
    return { ...(await this.receivers.view(tenant, payer, accountId, [taken])), accountId };
  }

  private async account(tenant: Tenant, text: string): Promise<ExternalAccountState> {
    const id = parsePublicId('ExternalAccount', text);
    if (!id) throw reject('REFERENCE_NOT_FOUND');
    const { state } = await this.writePath.state<ExternalAccountState>(externalAccount, id);
    const isKnown = state.status !== 'NONE' && state.status !== 'DELETED' && state.accountInfo !== undefined;
    if (state.tenantId !== tenantIdOf(tenant) || !isKnown) throw reject('REFERENCE_NOT_FOUND');
    return state;
  }
}
