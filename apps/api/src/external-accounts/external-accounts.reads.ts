import { Inject, Injectable } from '@nestjs/common';
import { parsePublicId } from '../../../../libs/kernel/ids.ts';
import type { Tenant } from '../../../../libs/kernel/messages.ts';
import { ReadModel, type TenantQuery } from '../../../../libs/runtime/read-model.ts';
import { type ExternalAccountRowState, externalAccountView } from '../../../../projections/external-account.view.ts';
import { externalAccounts } from '../../../../projections/external-accounts.ts';
import type { ExternalAccountsQuery, PlatformExternalAccountsQuery } from './external-accounts.bodies.ts';
import { externalAccountIdOf, notFound } from './external-accounts.facts.ts';

/** Reads of external accounts; deleted ones are not there any more. */
@Injectable()
export class ExternalAccountReads {
  constructor(@Inject(ReadModel) private readonly readModel: ReadModel) {}

  async one(tenant: Tenant, publicId: string, platformOnly: boolean) {
    const id = externalAccountIdOf(publicId);
    const state = await this.readModel.byId<ExternalAccountRowState>(externalAccounts, tenant, id);
    if (!state || state.status === 'DELETED' || (platformOnly && state.customerId !== undefined)) throw notFound();
    return externalAccountView(state);
  }

  ofCustomers(tenant: Tenant, query: ExternalAccountsQuery) {
    const { customerId } = query;
    const narrow = (rows: TenantQuery) =>
      customerId === undefined
        ? rows.where('customer', '!=', '')
        : rows.where('customer', '=', parsePublicId('Customer', customerId)!);
    return this.list(tenant, query, 'customers', narrow);
  }

  ofPlatform(tenant: Tenant, query: PlatformExternalAccountsQuery) {
    return this.list(tenant, query, 'platform', (rows) => rows.where('customer', '=', ''));
  }

  private list(
    tenant: Tenant,
    { currency, ...query }: PlatformExternalAccountsQuery,
    of: 'customers' | 'platform',
    narrow: (rows: TenantQuery) => TenantQuery,
  ) {
    return this.readModel.page<ExternalAccountRowState, ReturnType<typeof externalAccountView>>(
      externalAccounts,
      tenant,
      { ...query, ...(currency !== undefined && { currency }), of } as PlatformExternalAccountsQuery,
      (rows) => {
        const listed = narrow(rows).where('status', '!=', 'DELETED');
        return currency === undefined ? listed : listed.where('currency', '=', currency);
      },
      externalAccountView,
    );
  }
}
