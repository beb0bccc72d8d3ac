import type { TenantQuery } from '../../../libs/runtime/read-model.ts';

/** The time filters that several lists share; both ends are inclusive (facts §1). */
export interface TimeFilters {
  createdAfter?: string;
  createdBefore?: string;
  updatedAfter?: string;
  updatedBefore?: string;
}

/** Leaves the rows that were created and updated within the given times. */
export const within =
  ({ createdAfter, createdBefore, updatedAfter, updatedBefore }: TimeFilters) =>
  (rows: TenantQuery): TenantQuery => {
    let left = rows;
    if (createdAfter !== undefined) left = left.where('created_at', '>=', createdAfter);
    if (createdBefore !== undefined) left = left.where('created_at', '<=', createdBefore);
    if (updatedAfter !== undefined) left = left.where('updated_at', '>=', updatedAfter);
    if (updatedBefore !== undefined) left = left.where('updated_at', '<=', updatedBefore);
    return left;
  };
