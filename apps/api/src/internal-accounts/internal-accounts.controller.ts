import { Controller, Get, Inject, Post, Query, Res } from '@nestjs/common';
import type { Response } from 'express';
import { Type } from 'typebox';
import type { AccountState } from '../../../../libs/domain/accounts/account.ts';
import { parsePublicId } from '../../../../libs/kernel/ids.ts';
import { type Caller, CurrentCaller } from '../../../../libs/runtime/caller.ts';
import { Operation, PageOf, type Submitted, SubmittedBody } from '../../../../libs/runtime/http/index.ts';
import { ReadModel, type TenantQuery } from '../../../../libs/runtime/read-model.ts';
import { InternalAccount, internalAccountView } from '../../../../projections/internal-account.view.ts';
import { internalAccounts } from '../../../../projections/internal-accounts.ts';
import {
  CustomersInternalAccountsQuery,
  PlatformInternalAccountsQuery,
  RuleAccountBody,
} from './internal-accounts.bodies.ts';
import { RuleAccounts } from './rule-accounts.ts';

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

@Controller('internal-accounts')
export class InternalAccountsController {
  constructor(@Inject(RuleAccounts) private readonly ruleAccounts: RuleAccounts) {}

  @Post()
  @Operation({
    summary: 'Open a rule-based account',
    description:
      "A further account number for a customer: what arrives on it is that customer's and goes on at once to the rule's destination. " +
      'All other internal accounts are opened automatically. A repeated request is answered with 200 and the first result.',
    tag,
    success: {
      200: { description: 'The account that an earlier request with this key opened.', schema: InternalAccount },
      201: InternalAccount,
    },
    errors: [403, 404, 410, 501],
    idempotent: true,
    sealed: true,
    permission: 'MANAGE',
  })
  async create(
    @SubmittedBody(RuleAccountBody) body: Submitted<RuleAccountBody>,
    @CurrentCaller() caller: Caller,
    @Res({ passthrough: true }) response: Response,
  ) {
    const state = await this.ruleAccounts.create(caller, body);
    response.status(201); // what is remembered for the key is answered with 200
    return internalAccountView(state);
  }
}

function narrowed(rows: TenantQuery, { currency, type }: { currency?: string; type?: string }): TenantQuery {
  const inCurrency = currency === undefined ? rows : rows.where('currency', '=', currency);
  return type === undefined ? inCurrency : inCurrency.where('type', '=', type);
}
