import type { Event } from '../../kernel/messages.ts';
import type { CustomerEvent, HeldClaim, RuleAccountRequest } from './customer.events.ts';
import { CreateCustomer } from './customer.ts';

export const customerId = '0199dd29-5d53-7000-8000-0242ac120002';
export const tenantId = '0199dd29-0000-7000-8000-000000000001.sandbox';
export const platformClaim: HeldClaim = { rule: 'PLATFORM_CUSTOMER_ID', claimId: 'claim-a', epoch: 1 };
export const umaClaim: HeldClaim = { rule: 'UMA_ADDRESS', claimId: 'claim-b', epoch: 1 };

/** A new individual customer with accounts in USD and EUR. */
export const createExample = (more: Partial<CreateCustomer['data']> = {}) =>
  new CreateCustomer({
    customerId,
    tenantId,
    customerType: 'INDIVIDUAL',
    platformCustomerId: 'amina-1',
    umaAddress: '$amina@example.com',
    currencies: ['USD', 'EUR'],
    claims: [platformClaim, umaClaim],
    profile: { fullName: 'Amina Diallo', email: 'amina@example.com' },
    identifier: '123-45-6789',
    verificationStatus: 'UNVERIFIED',
    requiresTerms: false,
    ...more,
  });

const { requiresTerms: _, ...createdData } = createExample().data;

/** What creating it leads to. */
export const createdExample = {
  type: 'CustomerCreated',
  data: { ...createdData, isAwaitingTerms: false, accounts: ['USD', 'EUR'] },
} as const satisfies CustomerEvent;

export const ruleAccountExample: RuleAccountRequest = {
  accountId: '0199dd29-0000-7000-8000-0000000000a1',
  currency: 'USD',
  label: 'Rent',
  rule: {
    canonicalAccountId: '0199dd29-0000-7000-8000-0000000000a2',
    destination: { kind: 'EXTERNAL', accountId: '0199dd29-0000-7000-8000-0000000000a3', paymentRail: 'ACH' },
    minimumMinor: 1n,
    maximumMinor: 1_000_000n,
  },
};

const fact = (type: CustomerEvent['type'], more: object = {}): Event => ({ type, data: { customerId, ...more } });

export const openedExample = fact('CustomerAccountsOpened', { currencies: ['USD', 'EUR'] });
const deleting = [createdExample, openedExample, fact('CustomerDeletionStarted')];

/** The history of a customer in each status. */
export const customerHistories: Readonly<Record<string, readonly Event[]>> = {
  NONE: [],
  ABANDONED: [fact('CreationAbandoned')],
  ACTIVE: [createdExample, openedExample],
  DELETING: deleting,
  RESTORING: [...deleting, fact('CustomerDeletionRefused', { closed: ['USD'] })],
  DELETED: [...deleting, fact('CustomerDeleted')],
  ERASED: [...deleting, fact('CustomerDeleted'), fact('PersonErased')],
};
