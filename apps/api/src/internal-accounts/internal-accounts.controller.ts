import { Controller, Get, Inject, Query } from '@nestjs/common';
import { Type } from 'typebox';
import type { AccountState } from '../../../../libs/domain/accounts/account.ts';
import { parsePublicId } from '../../../../libs/kernel/ids.ts';
import { type Caller, CurrentCaller } from '../../../../libs/runtime/caller.ts';
import { Operation, PageOf } from '../../../../libs/runtime/http/index.ts';
import { ReadModel, type TenantQuery } from '../../../../libs/runtime/read-model.ts';
import { InternalAccount, internalAccountView } from '../../../../projections/internal-account.view.ts';
import { internalAccounts } from '../../../../projections/internal-accounts.ts';
import { CustomersInternalAccountsQuery, PlatformInternalAccountsQuery } from './internal-accounts.bodies.ts';

const tag = 'Internal accounts';

@Controller('customers/internal-accounts')
export class CustomersInternalAccountsController {
  constructor(@Inject(ReadModel) private readonly readModel: ReadModel) {}

  @Get()
  @Operation({
    summary: "List customers' internal accounts",
    description: 'Of all customers of the platform, or of one.',
    tag,
    success: { 200: PageOf(InternalAccount, 'InternalAccountListResponse') },
    permission: 'VIEW',
  })
  list(@Query() query: CustomersInternalAccountsQuery, @CurrentCaller() { tenant }: Caller) {
    const customer = query.customerId && parsePublicId('Customer', query.customerId);
    const narrow = (all: TenantQuery) => {
      const rows = narrowed(all, query);
      return customer ? rows.where('customer', '=', customer) : rows.where('customer', '<>', '');
    };
    return this.readModel.page<AccountState, object>(internalAccounts, tenant, query, narrow, internalAccountView);
  }
}

@Controller('platform/internal-accounts')
export class PlatformInternalAccountsController {
  constructor(@Inject(ReadModel) private readonly readModel: ReadModel) {}

  @Get()
  @Operation({
    summary: "List the platform's own internal accounts",
    description: 'One per currency that the platform supports, in one answer.',
    tag,
    success: {
      200: Type.Object({ data: Type.Array(InternalAccount) }, { $id: 'PlatformInternalAccountListResponse' }),
    },
    permission: 'VIEW',
  })
  async list(@Query() query: PlatformInternalAccountsQuery, @CurrentCaller() { tenant }: Caller) {
    const own = (all: TenantQuery) => narrowed(all, query).where('customer', '=', '');
    const states = await this.readModel.all<AccountState>(internalAccounts, tenant, own);
    return { data: states.map(internalAccountView) };
  }
}

function narrowed(rows: TenantQuery, { currency, type }: { currency?: string; type?: string }): TenantQuery {
  const inCurrency = currency === undefined ? rows : rows.where('currency', '=', currency);
  return type === undefined ? inCurrency : inCurrency.where('type', '=', type);
}
