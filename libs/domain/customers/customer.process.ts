import { derivedUuid, isUuid } from '../../kernel/ids.ts';
import { internalAccountType } from '../../kernel/money.ts';
import type { Process, Refused, Step } from '../../kernel/process.ts';
import { CloseAccount, OpenAccount, ReopenAccount } from '../accounts/account.ts';
import { ReleaseValue } from '../claims/claim.ts';
import {
  ConfirmAccountsClosed,
  ConfirmAccountsOpened,
  ConfirmClaimsReleased,
  ConfirmRuleAccountsOpened,
  type CustomerState,
  customer,
  DeleteCustomer,
  RefuseDeletion,
  RestoreCustomer,
} from './customer.ts';

/** The id of a customer's account in a currency. */
export const customerAccountId = (customerId: string, currency: string): string =>
  derivedUuid('account', customerId, currency);

/** The account that a list of accounts to close names: by its currency, or a rule-based one by its id. */
const namedAccountId = (customerId: string, name: string): string =>
  isUuid(name) ? name : customerAccountId(customerId, name);

/** What is still to be done for a customer. What was done before the crash is done once: the ids of the sends say so. */
function next(state: CustomerState): Step | undefined {
  switch (state.status) {
    case 'ACTIVE':
      return state.accountsToOpen.length > 0 ? opening(state) : (openingByRule(state) ?? releasing(state));
    case 'DELETING':
      return closing(state);
    case 'RESTORING':
      return reopening(state);
    case 'DELETED':
    case 'ERASED':
      return releasing(state);
    default:
      return undefined;
  }
}

function opening({ customerId, tenantId, platformCustomerId, accountsToOpen }: CustomerState): Step {
  const open = (currency: string) =>
    new OpenAccount({
      accountId: customerAccountId(customerId, currency),
      tenantId,
      customerId,
      platformCustomerId,
      currency,
      type: internalAccountType(currency),
    });
  return {
    sends: accountsToOpen.map(open),
    after: (refused?: Refused) =>
      new ConfirmAccountsOpened({ customerId, currencies: done(accountsToOpen, refused, 'ACCOUNT_EXISTS') }),
  };
}

function openingByRule(state: CustomerState): Step | undefined {
  const { customerId, tenantId, platformCustomerId, ruleAccountsToOpen = [] } = state;
  if (ruleAccountsToOpen.length === 0) return undefined;
  const holder = { tenantId, customerId, platformCustomerId, type: 'RULE_BASED' as const };
  const accountIds = ruleAccountsToOpen.map(({ accountId }) => accountId);
  return {
    sends: ruleAccountsToOpen.map((request) => new OpenAccount({ ...holder, ...request })),
    after: (refused?: Refused) =>
      new ConfirmRuleAccountsOpened({ customerId, accountIds: done(accountIds, refused, 'ACCOUNT_EXISTS') }),
  };
}

/** The first account that still holds money ends the deletion. */
function closing({ customerId, accountsToClose }: CustomerState): Step {
  return {
    sends: accountsToClose.map((name) => new CloseAccount({ accountId: namedAccountId(customerId, name) })),
    after(refused?: Refused) {
      if (!refused) return new DeleteCustomer({ customerId });
      if (reasonOf(refused) === 'ACCOUNT_NOT_EMPTY') {
        return new RefuseDeletion({ customerId, closed: accountsToClose.slice(0, refused.at) });
      }
      return new ConfirmAccountsClosed({ customerId, currencies: done(accountsToClose, refused, 'ACCOUNT_CLOSED') });
    },
  };
}

function reopening({ customerId, accountsToReopen }: CustomerState): Step {
  return {
    sends: accountsToReopen.map((name) => new ReopenAccount({ accountId: namedAccountId(customerId, name) })),
    after: (refused?: Refused) => {
      if (refused) throw unexpected(refused);
      return new RestoreCustomer({ customerId });
    },
  };
}

function releasing({ customerId, claimsToRelease }: CustomerState): Step | undefined {
  if (claimsToRelease.length === 0) return undefined;
  return {
    sends: claimsToRelease.map((held) => new ReleaseValue({ ...held, owner: customerId })),
    after: (refused?: Refused) => {
      if (refused) throw unexpected(refused);
      return new ConfirmClaimsReleased({ customerId, claims: claimsToRelease });
    },
  };
}

/** The currencies that are done: all, or those up to the one that was found to be done already. */
function done(currencies: readonly string[], refused: Refused | undefined, already: string): string[] {
  if (!refused) return [...currencies];
  if (reasonOf(refused) !== already) throw unexpected(refused);
  return currencies.slice(0, refused.at + 1);
}

const reasonOf = ({ rejection }: Refused): unknown => rejection.details?.reason;

/** A fault that must stop the process and be seen. */
const unexpected = ({ rejection }: Refused): Error =>
  new Error(`a step that cannot be refused was refused: ${rejection.code} ${rejection.details?.reason ?? ''}`);

/** Opens a customer's accounts, closes them and gives back what it had alone, also when the request that began it has died. */
export const serveCustomer: Process<CustomerState> = {
  name: 'serveCustomer',
  decider: customer,
  startsOn: [
    'CustomerCreated',
    'CustomerUpdated',
    'CustomerDeletionStarted',
    'CustomerDeletionRefused',
    'CustomerDeleted',
    'RuleAccountRequested',
  ],
  next,
  dueAt: () => undefined,
  wake: () => undefined,
};
