import { sql } from 'kysely';
import { customerTypes } from '../../../../libs/domain/customers/customer.profile.ts';
import { PageQuery, QueryFlag, QueryOneOf, QueryText, QueryTimestamp } from '../../../../libs/runtime/http/index.ts';
import type { TenantQuery } from '../../../../libs/runtime/read-model.ts';
import { within } from '../lists.ts';

export class CustomersQuery extends PageQuery {
  @QueryText({ max: 255 })
  platformCustomerId?: string;

  @QueryOneOf(customerTypes)
  customerType?: string;

  @QueryTimestamp({ description: 'Inclusive.' })
  createdAfter?: string;

  @QueryTimestamp({ description: 'Inclusive.' })
  createdBefore?: string;

  @QueryTimestamp({ description: 'Inclusive.' })
  updatedAfter?: string;

  @QueryTimestamp({ description: 'Inclusive.' })
  updatedBefore?: string;

  @QueryText({ max: 255 })
  region?: string;

  @QueryText({ max: 10, description: 'Customers that use this currency.' })
  currency?: string;

  @QueryText({ max: 500, description: 'In any case.' })
  umaAddress?: string;

  @QueryFlag({ description: 'Deleted customers too.' })
  isIncludingDeleted = false;
}

/** The filters of `GET /customers`. */
export function matching(query: CustomersQuery): (rows: TenantQuery) => TenantQuery {
  const { platformCustomerId, customerType, region, currency, umaAddress, isIncludingDeleted } = query;
  return (all) => {
    let rows = within(query)(all);
    if (platformCustomerId !== undefined) rows = rows.where('platform_customer_id', '=', platformCustomerId);
    if (customerType !== undefined) rows = rows.where('customer_type', '=', customerType);
    if (region !== undefined) rows = rows.where('region', '=', region);
    if (currency !== undefined) rows = rows.where(sql<boolean>`${currency} = ANY(currencies)`);
    if (umaAddress !== undefined) rows = rows.where('uma_address', '=', umaAddress.toLowerCase());
    return isIncludingDeleted ? rows : rows.where('is_deleted', '=', false);
  };
}
