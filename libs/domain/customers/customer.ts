import type { Decider } from '../../kernel/decider.ts';
import { type Rejection, reject } from '../../kernel/errors.ts';
import { command, type Stamped } from '../../kernel/messages.ts';
import { transitions } from '../../kernel/transitions.ts';
import { sweepTexts } from '../accounts/account.events.ts';
import {
  type Claims,
  claimForgone,
  forgoing,
  holdsClaim,
  isForgone,
  isInUse,
  releasedOf,
  withClaim,
} from './customer.claims.ts';
import {
  type CustomerCreatedData,
  type CustomerEvent,
  type CustomerUpdatedData,
  personalFields,
  type RuleAccountRequest,
  type VerificationStatus,
} from './customer.events.ts';
import { mergedProfile, type Profile } from './customer.profile.ts';

/** `requiresTerms`: the platform opens accounts at consent only. */
export class CreateCustomer extends command('CreateCustomer')<
  Omit<CustomerCreatedData, 'isAwaitingTerms' | 'accounts'> & { requiresTerms: boolean }
>() {}
/** A `umaAddress` comes with its claim, the one that the customer has too: it is compared with the newest state then. */
export class UpdateCustomer extends command('UpdateCustomer')<Omit<CustomerUpdatedData, 'accounts'>>() {}
export class ConfirmAccountsOpened extends command('ConfirmAccountsOpened')<{
  customerId: string;
  currencies: string[];
}>() {}
export class ConfirmClaimsReleased extends command('ConfirmClaimsReleased')<{
  customerId: string;
  claims: Claims['claimsToRelease'];
}>() {}
/** From here on the accounts are closed; nothing else may change meanwhile. */
export class StartDeletion extends command('StartDeletion')<{ customerId: string }>() {}
export class ConfirmAccountsClosed extends command('ConfirmAccountsClosed')<{
  customerId: string;
  currencies: string[];
}>() {}
/** An account still holds money. `closed`: those that were closed before it and are opened again. */
export class RefuseDeletion extends command('RefuseDeletion')<{ customerId: string; closed: string[] }>() {}
export class RestoreCustomer extends command('RestoreCustomer')<{ customerId: string }>() {}
/** All accounts are closed. */
export class DeleteCustomer extends command('DeleteCustomer')<{ customerId: string }>() {}
/** After this the key of the customer's personal data is destroyed. `externalAccountIds`: those that hold some of it. */
export class ErasePerson extends command('ErasePerson')<{ customerId: string; externalAccountIds: string[] }>() {}
/** Makes sure that this claim of a value will never be used by the customer, who may not exist yet (architecture §10). */
export class AbandonClaim extends command('AbandonClaim')<{ customerId: string; claimId: string; epoch: number }>() {}
/** A complete submission is checked. */
export class StartVerification extends command('StartVerification')<{ customerId: string }>() {}
/** A rule-based account is opened beside the ordinary ones (facts §4). */
export class RequestRuleAccount extends command('RequestRuleAccount')<{ customerId: string } & RuleAccountRequest>() {}
export class ConfirmRuleAccountsOpened extends command('ConfirmRuleAccountsOpened')<{
  customerId: string;
  accountIds: readonly string[];
}>() {}
/** `UNVERIFIED`: the submission has to be corrected. */
export class ResolveVerification extends command('ResolveVerification')<{
  customerId: string;
  outcome: VerificationOutcome;
}>() {}

export type CustomerCommand =
  | CreateCustomer
  | UpdateCustomer
  | ConfirmAccountsOpened
  | ConfirmClaimsReleased
  | StartDeletion
  | ConfirmAccountsClosed
  | RefuseDeletion
  | RestoreCustomer
  | DeleteCustomer
  | ErasePerson
  | AbandonClaim
  | StartVerification
  | ResolveVerification
  | RequestRuleAccount
  | ConfirmRuleAccountsOpened;

/** `ABANDONED`: older logs say so of a creation that never happened. `DELETING` and `RESTORING` are active to the public. */
export type CustomerStatus = 'NONE' | 'ABANDONED' | 'ACTIVE' | 'DELETING' | 'RESTORING' | 'DELETED' | 'ERASED';
export type VerificationOutcome = 'APPROVED' | 'REJECTED' | 'HOLD' | 'UNVERIFIED';

export interface CustomerState extends Omit<CustomerCreatedData, 'profile' | 'claims' | 'accounts'>, Claims {
  status: CustomerStatus;
  profile: Profile;
  /** Currencies of the accounts that the customer has or is about to have. */
  accounts: readonly string[];
  accountsToOpen: readonly string[];
  /** Ids of the rule-based accounts that the customer has or is about to have. */
  ruleAccounts?: readonly string[];
  ruleAccountsToOpen?: readonly RuleAccountRequest[];
  /** Currencies, and ids of rule-based accounts. */
  accountsToClose: readonly string[];
  accountsToReopen: readonly string[];
  createdAt: string;
  updatedAt: string;
}

/** True for a customer that the API still shows. */
export const isKnown = ({ status }: Pick<CustomerState, 'status'>): boolean =>
  status !== 'NONE' && status !== 'ABANDONED';

/** True for a customer that was deleted, erased or not. */
export const isDeleted = ({ status }: Pick<CustomerState, 'status'>): boolean =>
  status === 'DELETED' || status === 'ERASED';

const missing = reject('USER_NOT_FOUND');
const deleted = reject('CUSTOMER_DELETED');
const conflict = (reason: string, message?: string): Rejection => reject('CONFLICT', { reason }, message);
const abandoned = conflict('CREATION_ABANDONED', 'This creation was given up. Repeat it with a new Idempotency-Key.');
const leaving = conflict('DELETION_IN_PROGRESS', 'The customer is being deleted.');

/** What only a customer can undergo that stays. */
const changes = ['UpdateCustomer', 'StartVerification', 'ResolveVerification', 'RequestRuleAccount'] as const;

/** The life of a customer. Of two rows for one cell the second one holds for what its comment says. */
export const customerTransitions = transitions<CustomerStatus, CustomerCommand['type']>(
  [
    ['NONE', 'CreateCustomer', 'ACTIVE', 'CustomerCreated'],
    ['ABANDONED', 'CreateCustomer', abandoned],
    [['ACTIVE', 'DELETING', 'RESTORING', 'DELETED', 'ERASED'], 'CreateCustomer', conflict('CUSTOMER_EXISTS')],
    ['ACTIVE', 'UpdateCustomer', 'ACTIVE', 'CustomerUpdated'],
    ['ACTIVE', 'ConfirmAccountsOpened', 'ACTIVE', 'CustomerAccountsOpened'],
    ['ACTIVE', 'ConfirmClaimsReleased', 'ACTIVE', 'CustomerClaimsReleased'],
    ['DELETED', 'ConfirmClaimsReleased', 'DELETED', 'CustomerClaimsReleased'],
    ['ERASED', 'ConfirmClaimsReleased', 'ERASED', 'CustomerClaimsReleased'],
    ['ACTIVE', 'StartDeletion', 'DELETING', 'CustomerDeletionStarted'],
    ['DELETING', 'StartDeletion', 'DELETING', 'nothing'],
    ['DELETING', 'ConfirmAccountsClosed', 'DELETING', 'CustomerAccountsClosed'],
    ['DELETING', 'RefuseDeletion', 'RESTORING', 'CustomerDeletionRefused'],
    // No account had been closed.
    ['DELETING', 'RefuseDeletion', 'ACTIVE', 'CustomerDeletionRefused'],
    ['RESTORING', 'RestoreCustomer', 'ACTIVE', 'CustomerRestored'],
    ['DELETING', 'DeleteCustomer', 'DELETED', 'CustomerDeleted'],
    ['DELETED', 'ErasePerson', 'ERASED', 'PersonErased'],
    ['ERASED', 'ErasePerson', 'ERASED', 'nothing'],
    [['ACTIVE', 'DELETING', 'RESTORING'], 'ErasePerson', conflict('NOT_DELETED', 'Delete the customer first.')],
    ['ABANDONED', 'AbandonClaim', 'ABANDONED', 'nothing'],
    ...(['NONE', 'ACTIVE', 'DELETING', 'RESTORING', 'DELETED', 'ERASED'] as const).flatMap(
      (status) =>
        [
          [status, 'AbandonClaim', status, 'ClaimForgone'],
          // It was forgone before.
          [status, 'AbandonClaim', status, 'nothing'],
        ] as const,
    ),
    ['ACTIVE', 'StartVerification', 'ACTIVE', 'VerificationStarted'],
    ['ACTIVE', 'ResolveVerification', 'ACTIVE', 'VerificationResolved'],
    ['ACTIVE', 'RequestRuleAccount', 'ACTIVE', 'RuleAccountRequested'],
    ['ACTIVE', 'ConfirmRuleAccountsOpened', 'ACTIVE', 'RuleAccountsOpened'],
    ...([...changes, 'StartDeletion', 'ErasePerson'] as const).map(
      (name) => [['NONE', 'ABANDONED'], name, missing] as const,
    ),
    ...([...changes, 'StartDeletion'] as const).map((name) => [['DELETED', 'ERASED'], name, deleted] as const),
    ...changes.map((name) => [['DELETING', 'RESTORING'], name, leaving] as const),
    ['RESTORING', 'StartDeletion', leaving],
  ],
  conflict('CUSTOMER_MOVED_ON'),
);

const final = reject('INVALID_INPUT', { reason: 'VERIFICATION_FINAL' }, 'The verification status is final.');
type VerificationCommand = 'StartVerification' | `ResolveVerification ${VerificationOutcome}`;
const outcomes = ['APPROVED', 'REJECTED', 'HOLD', 'UNVERIFIED'] as const;

/** `kycStatus` and `kybStatus` (spec, Customer verification): a status that was decided stays. */
export const verificationTransitions = transitions<VerificationStatus, VerificationCommand>(
  [
    [['UNVERIFIED', 'PENDING', 'HOLD'], 'StartVerification', 'PENDING', 'VerificationStarted'],
    [['APPROVED', 'REJECTED'], 'StartVerification', final],
    ...outcomes.flatMap((outcome) => {
      const name = `ResolveVerification ${outcome}` as const;
      return [
        [['PENDING', 'HOLD'], name, outcome, 'VerificationResolved'] as const,
        [['APPROVED', 'REJECTED'], name, final] as const,
      ];
    }),
  ],
  conflict('VERIFICATION_NOT_STARTED'),
);

function decide(state: CustomerState, { type, data }: CustomerCommand): CustomerEvent[] | Rejection {
  const refusal = customerTransitions.guard(state.status, type);
  if (refusal) return refusal;
  const { customerId } = data;
  switch (type) {
    case 'CreateCustomer':
      if (data.claims.some((claim) => isForgone(state, claim))) return claimForgone;
      return [{ type: 'CustomerCreated', data: created(data) }];
    case 'UpdateCustomer':
      return updated(state, data);
    case 'ConfirmAccountsOpened': {
      const currencies = data.currencies.filter((currency) => state.accountsToOpen.includes(currency));
      return currencies.length > 0 ? [{ type: 'CustomerAccountsOpened', data: { customerId, currencies } }] : [];
    }
    case 'ConfirmClaimsReleased': {
      const claimIds = releasedOf(state, data.claims);
      return claimIds.length > 0 ? [{ type: 'CustomerClaimsReleased', data: { customerId, claimIds } }] : [];
    }
    case 'StartDeletion':
      if (state.status === 'DELETING') return [];
      if (isUnfinished(state)) return conflict('CHANGE_IN_PROGRESS');
      return [{ type: 'CustomerDeletionStarted', data }];
    case 'ConfirmAccountsClosed':
      return [{ type: 'CustomerAccountsClosed', data }];
    case 'RefuseDeletion':
      return [{ type: 'CustomerDeletionRefused', data }];
    case 'RestoreCustomer':
      return [{ type: 'CustomerRestored', data }];
    case 'DeleteCustomer':
      return [{ type: 'CustomerDeleted', data }];
    case 'ErasePerson':
      return state.status === 'ERASED' ? [] : [{ type: 'PersonErased', data }];
    case 'AbandonClaim':
      return forgone(state, data);
    case 'RequestRuleAccount':
      return [{ type: 'RuleAccountRequested', data }];
    case 'ConfirmRuleAccountsOpened': {
      const accountIds = data.accountIds.filter((id) => state.ruleAccountsToOpen?.some((one) => one.accountId === id));
      return accountIds.length > 0 ? [{ type: 'RuleAccountsOpened', data: { customerId, accountIds } }] : [];
    }
    default:
      return verified(state, type, data);
  }
}

function created({ requiresTerms, ...data }: CreateCustomer['data']): CustomerCreatedData {
  const isAwaitingTerms = requiresTerms && data.termsVersion === undefined;
  return { ...data, isAwaitingTerms, accounts: isAwaitingTerms ? [] : data.currencies };
}

/** The value that the customer has already stays as it is, with the claim that it is held by. */
function updated(state: CustomerState, change: UpdateCustomer['data']): CustomerEvent[] | Rejection {
  const { umaAddress, claim, ...rest } = change;
  if (umaAddress !== undefined && !claim) return conflict('UMA_ADDRESS_NOT_CLAIMED');
  const isNew = claim !== undefined && !isInUse(state, claim);
  if (isNew && isForgone(state, claim)) return claimForgone;
  const data = isNew ? { ...rest, ...(umaAddress !== undefined && { umaAddress }), claim } : rest;
  const { termsVersion, currencies = state.currencies } = data;
  const isAwaitingTerms = state.isAwaitingTerms && termsVersion === undefined;
  const accounts = isAwaitingTerms ? [] : currencies.filter((currency) => !state.accounts.includes(currency));
  const isChange = Object.keys(data).length > 1 || accounts.length > 0;
  return isChange ? [{ type: 'CustomerUpdated', data: { ...data, accounts } }] : [];
}

function forgone(state: CustomerState, data: AbandonClaim['data']): CustomerEvent[] | Rejection {
  if (holdsClaim(state, data.claimId)) return conflict('CLAIM_IN_USE');
  return state.status === 'ABANDONED' || isForgone(state, data) ? [] : [{ type: 'ClaimForgone', data }];
}

function verified(
  state: CustomerState,
  type: 'StartVerification' | 'ResolveVerification',
  data: { customerId: string; outcome?: VerificationOutcome },
): CustomerEvent[] | Rejection {
  const { customerId, outcome } = data;
  const name = outcome ? (`${type} ${outcome}` as VerificationCommand) : 'StartVerification';
  const refusal = verificationTransitions.guard(state.verificationStatus, name);
  if (refusal) return refusal;
  return outcome
    ? [{ type: 'VerificationResolved', data: { customerId, status: outcome } }]
    : [{ type: 'VerificationStarted', data: { customerId, status: 'PENDING' } }];
}

const isUnfinished = ({ accountsToOpen, ruleAccountsToOpen = [], claimsToRelease }: CustomerState): boolean =>
  accountsToOpen.length + ruleAccountsToOpen.length + claimsToRelease.length > 0;

const without = (all: readonly string[], some: readonly string[]): string[] => all.filter((one) => !some.includes(one));

function evolve(state: CustomerState, event: CustomerEvent & Stamped): CustomerState {
  const next = { ...state, updatedAt: event.at };
  switch (event.type) {
    case 'CustomerCreated': {
      const { accounts, profile, ...data } = event.data;
      const begun = { ...next, ...data, status: 'ACTIVE' as const, createdAt: event.at };
      return { ...begun, profile: profile ?? {}, accounts, accountsToOpen: accounts };
    }
    case 'CustomerUpdated':
      return changed(next, event.data);
    case 'CustomerAccountsOpened':
      return { ...state, accountsToOpen: without(state.accountsToOpen, event.data.currencies) };
    case 'CustomerClaimsReleased': {
      const claimsToRelease = state.claimsToRelease.filter(({ claimId }) => !event.data.claimIds.includes(claimId));
      return { ...state, claimsToRelease };
    }
    case 'CustomerDeletionStarted':
      return { ...state, status: 'DELETING', accountsToClose: [...(state.ruleAccounts ?? []), ...state.accounts] };
    case 'CustomerAccountsClosed':
      return closed(state, event.data.currencies);
    case 'CustomerDeletionRefused': {
      const after = closed(state, event.data.closed);
      const status = after.accountsToReopen.length > 0 ? 'RESTORING' : 'ACTIVE';
      return { ...after, status, accountsToClose: [] };
    }
    case 'CustomerRestored':
      return { ...state, status: 'ACTIVE', accountsToReopen: [] };
    case 'CustomerDeleted': {
      const gone = { accounts: [], ruleAccounts: [], accountsToClose: [], accountsToReopen: [] };
      return { ...next, ...gone, status: 'DELETED', claims: [], claimsToRelease: state.claims };
    }
    case 'PersonErased': {
      const { umaAddress: _, identifier: __, endUserTermsConsent: ___, ...rest } = next;
      return { ...rest, status: 'ERASED', profile: {} };
    }
    case 'CreationAbandoned':
      return { ...next, customerId: event.data.customerId, status: 'ABANDONED' };
    case 'ClaimForgone':
      return { ...state, forgone: forgoing(state, [event.data]) };
    case 'VerificationStarted':
    case 'VerificationResolved':
      return { ...next, verificationStatus: event.data.status };
    case 'RuleAccountRequested': {
      const { customerId: _, ...request } = event.data;
      const ruleAccounts = [...(state.ruleAccounts ?? []), request.accountId];
      return { ...state, ruleAccounts, ruleAccountsToOpen: [...(state.ruleAccountsToOpen ?? []), request] };
    }
    case 'RuleAccountsOpened': {
      const { accountIds } = event.data;
      const ruleAccountsToOpen = state.ruleAccountsToOpen?.filter(({ accountId }) => !accountIds.includes(accountId));
      return { ...state, ...(ruleAccountsToOpen && { ruleAccountsToOpen }) };
    }
  }
}

const closed = (state: CustomerState, currencies: readonly string[]): CustomerState => ({
  ...state,
  accountsToClose: without(state.accountsToClose, currencies),
  accountsToReopen: [...state.accountsToReopen, ...currencies],
});

function changed(state: CustomerState, { accounts, claim, profile, ...data }: CustomerUpdatedData): CustomerState {
  return {
    ...state,
    ...data,
    ...(claim && withClaim(state, claim)),
    profile: mergedProfile(state.profile, profile),
    ...(data.termsVersion !== undefined && { isAwaitingTerms: false }),
    accounts: [...state.accounts, ...accounts],
    accountsToOpen: [...state.accountsToOpen, ...accounts],
  };
}

/** A customer of a platform: who it is, what it alone has, how its verification stands (spec, Customers). */
export const customer: Decider<CustomerState, CustomerCommand, CustomerEvent> = {
  name: 'customer',
  id: 'customerId',
  commands: [
    CreateCustomer,
    UpdateCustomer,
    ConfirmAccountsOpened,
    ConfirmClaimsReleased,
    StartDeletion,
    ConfirmAccountsClosed,
    RefuseDeletion,
    RestoreCustomer,
    DeleteCustomer,
    ErasePerson,
    AbandonClaim,
    StartVerification,
    ResolveVerification,
    RequestRuleAccount,
    ConfirmRuleAccountsOpened,
  ],
  creates: ['CreateCustomer'],
  initial: {
    status: 'NONE',
    customerId: '',
    tenantId: '',
    customerType: 'INDIVIDUAL',
    platformCustomerId: '',
    currencies: [],
    profile: {},
    verificationStatus: 'UNVERIFIED',
    isAwaitingTerms: false,
    claims: [],
    accounts: [],
    accountsToOpen: [],
    accountsToClose: [],
    accountsToReopen: [],
    claimsToRelease: [],
    forgone: {},
    createdAt: '',
    updatedAt: '',
  },
  decide,
  evolve,
  version: 2,
  asides: ['ClaimForgone'],
  personal: {
    CustomerCreated: { subject: 'customerId', fields: personalFields },
    CustomerUpdated: { subject: 'customerId', fields: personalFields },
    RuleAccountRequested: { subject: 'customerId', fields: sweepTexts },
  },
};
