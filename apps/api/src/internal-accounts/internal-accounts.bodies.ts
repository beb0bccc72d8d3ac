import { currencyCodes } from '../../../../libs/kernel/money.ts';
import { PageQuery, QueryOneOf, QueryPublicId } from '../../../../libs/runtime/http/index.ts';
import { internalAccountTypes } from '../../../../projections/internal-account.view.ts';

export class CustomersInternalAccountsQuery extends PageQuery {
  @QueryOneOf(currencyCodes())
  currency?: string;

  @QueryPublicId('Customer')
  customerId?: string;

  @QueryOneOf(internalAccountTypes)
  type?: string;
}

export class PlatformInternalAccountsQuery {
  @QueryOneOf(currencyCodes())
  currency?: string;

  @QueryOneOf(internalAccountTypes)
  type?: string;
}
