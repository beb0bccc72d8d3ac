import { Controller, Get, Inject, Patch } from '@nestjs/common';
import { type AccountState, account, OpenAccount } from '../../../../libs/domain/accounts/account.ts';
import {
  ConfigurePlatform,
  type PlatformState,
  platformPublicId,
  tenantIdOf,
} from '../../../../libs/domain/platforms/platform.ts';
import { Rejection, reject } from '../../../../libs/kernel/errors.ts';
import { internalAccountType } from '../../../../libs/kernel/money.ts';
import { type Caller, CurrentCaller } from '../../../../libs/runtime/caller.ts';
import { Commands } from '../../../../libs/runtime/commands.ts';
import { WritePath } from '../../../../libs/runtime/execute.ts';
import { Operation, type Submitted, SubmittedBody } from '../../../../libs/runtime/http/index.ts';
import { ReadModel } from '../../../../libs/runtime/read-model.ts';
import { PlatformConfig, platformConfigView } from '../../../../projections/platform-config.view.ts';
import { platforms } from '../../../../projections/platforms.ts';
import { platformAccountId } from '../../../shared/provision.ts';
import { API_SETTINGS, type ApiSettings } from '../settings.ts';
import { PlatformConfigUpdateRequest } from './config.bodies.ts';
import { changesOf } from './config.changes.ts';

const tag = 'Platform configuration';

@Controller('config')
export class ConfigController {
  constructor(
    @Inject(Commands) private readonly commands: Commands,
    @Inject(WritePath) private readonly writePath: WritePath,
    @Inject(ReadModel) private readonly readModel: ReadModel,
    @Inject(API_SETTINGS) private readonly settings: ApiSettings,
  ) {}

  @Get()
  @Operation({
    summary: 'Get the configuration of the platform',
    tag,
    success: { 200: PlatformConfig },
    permission: 'VIEW',
  })
  async get(@CurrentCaller() { tenant }: Caller) {
    const state = await this.readModel.byId<PlatformState>(platforms, tenant, tenantIdOf(tenant));
    if (!state) throw reject('REFERENCE_NOT_FOUND');
    return platformConfigView(state);
  }

  @Patch()
  @Operation({
    summary: 'Change the configuration of the platform',
    description: 'What is left out stays. Read-only fields are ignored.',
    tag,
    success: { 200: PlatformConfig },
    errors: [501],
    permission: 'MANAGE',
  })
  async change(
    @SubmittedBody(PlatformConfigUpdateRequest) body: Submitted<PlatformConfigUpdateRequest>,
    @CurrentCaller() caller: Caller,
  ) {
    const tenantId = tenantIdOf(caller.tenant);
    const changes = changesOf(body, this.settings);
    await Promise.all((changes.supportedCurrencies ?? []).map((one) => this.openAccount(caller, one.currencyCode)));
    return this.commands.answer(caller, new ConfigurePlatform({ tenantId, changes }), platformConfigView);
  }

  /** The platform has an account in each currency that it supports: opened before it does. */
  private async openAccount(caller: Caller, currency: string): Promise<void> {
    const { tenant } = caller;
    const accountId = platformAccountId(tenant, currency);
    const { state } = await this.writePath.state<AccountState>(account, accountId);
    if (state.status !== 'NONE') return;
    const open = new OpenAccount({
      accountId,
      tenantId: tenantIdOf(tenant),
      platformCustomerId: platformPublicId(tenant),
      currency,
      type: internalAccountType(currency),
    });
    await this.commands.send(open, caller.envelope(`open ${currency}`)).catch(openedMeanwhile);
  }
}

/** A request at the same moment wanted the account too: it is there, which is all that matters. */
function openedMeanwhile(error: unknown): void {
  if (!(error instanceof Rejection) || error.details?.reason !== 'ACCOUNT_EXISTS') throw error;
}
