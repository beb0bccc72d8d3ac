import { accountEventTypes } from '../libs/domain/accounts/account.events.ts';
import { account } from '../libs/domain/accounts/account.ts';
import { stateProjection } from '../libs/kernel/projection.ts';

/** Internal accounts with their balances. `customer` is empty for the platform's own. */
export const internalAccounts = stateProjection(account, {
  table: 'internal_accounts',
  handles: accountEventTypes,
  columns: { customer: 'text', currency: 'text', type: 'text', status: 'text' },
  filters: (state) => ({
    customer: state.customerId ?? '',
    currency: state.currency,
    type: state.type,
    status: state.status,
  }),
  indexes: ['(customer)'],
});
