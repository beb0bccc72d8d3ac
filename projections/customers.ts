import { customerEventTypes } from '../libs/domain/customers/customer.events.ts';
import { customer, isDeleted } from '../libs/domain/customers/customer.ts';
import { stateProjection } from '../libs/kernel/projection.ts';

/** Customers, deleted ones too. An identification number is needed for verification only: it stays in the log. */
export const customers = stateProjection(customer, {
  table: 'customers',
  handles: customerEventTypes,
  columns: {
    platform_customer_id: 'text',
    customer_type: 'text',
    region: 'text',
    currencies: 'text[]',
    uma_address: 'text',
    is_deleted: 'boolean',
  },
  filters: (state) => ({
    platform_customer_id: state.platformCustomerId,
    customer_type: state.customerType,
    region: state.region,
    currencies: state.currencies,
    uma_address: state.umaAddress,
    is_deleted: isDeleted(state),
  }),
  indexes: ['(platform_customer_id)', '(uma_address)', '(platform, environment, updated_at)'],
  omit: ['identifier'],
});
