import type { Event } from '../../kernel/messages.ts';
import type { SweepRule, SweepTexts } from '../accounts/account.events.ts';
import type { acceptanceMethods, CustomerType, Profile } from './customer.profile.ts';

export const verificationStatuses = ['UNVERIFIED', 'PENDING', 'APPROVED', 'REJECTED', 'HOLD'] as const;

/** `kycStatus` of an individual, `kybStatus` of a business (spec, Customer verification). */
export type VerificationStatus = (typeof verificationStatuses)[number];

/** A value that the customer has alone: its rule, its claim's stream, and the how-manieth claim of the value it is. */
export interface HeldClaim {
  rule: CustomerRule;
  claimId: string;
  epoch: number;
}

export type CustomerRule = 'PLATFORM_CUSTOMER_ID' | 'UMA_ADDRESS';

/** Consent to the end-user terms, as the platform recorded it. */
export interface EndUserTermsConsent {
  acceptedAt: string;
  ipAddress: string;
  termsVersion: string;
  acceptanceMethod: (typeof acceptanceMethods)[number];
}

/** Absent once the person was erased. */
export const personalFields = ['umaAddress', 'profile', 'identifier', 'endUserTermsConsent'] as const;

export interface CustomerCreatedData {
  customerId: string;
  /** `<platform>.<environment>`. */
  tenantId: string;
  customerType: CustomerType;
  platformCustomerId: string;
  umaAddress?: string;
  region?: string;
  currencies: string[];
  claims: HeldClaim[];
  profile?: Profile;
  identifier?: string;
  endUserTermsConsent?: EndUserTermsConsent;
  /** The terms that were accepted; absent: none yet. */
  termsVersion?: string;
  verificationStatus: VerificationStatus;
  /** Accounts are opened once the end-user terms are accepted (decision 23). */
  isAwaitingTerms: boolean;
  /** Currencies of the accounts to open now. */
  accounts: string[];
}

/** What a change consists of; `claim` takes the place of the one held under its rule. */
export interface CustomerUpdatedData {
  customerId: string;
  currencies?: string[];
  umaAddress?: string;
  claim?: HeldClaim;
  profile?: Profile;
  identifier?: string;
  endUserTermsConsent?: EndUserTermsConsent;
  termsVersion?: string;
  /** Currencies of the further accounts to open now. */
  accounts: string[];
}

/** A further account that the customer is about to have: its rule says where its money goes on to. */
export interface RuleAccountRequest extends SweepTexts {
  accountId: string;
  currency: string;
  rule: SweepRule;
}

/** Facts of a customer. */
export type CustomerEvent =
  | Event<'CustomerCreated', CustomerCreatedData>
  | Event<'CustomerUpdated', CustomerUpdatedData>
  | Event<'CustomerAccountsOpened', { customerId: string; currencies: string[] }>
  | Event<'CustomerClaimsReleased', { customerId: string; claimIds: string[] }>
  | Event<'CustomerDeletionStarted', { customerId: string }>
  | Event<'CustomerAccountsClosed', { customerId: string; currencies: string[] }>
  | Event<'CustomerDeletionRefused', { customerId: string; closed: string[] }>
  | Event<'CustomerRestored', { customerId: string }>
  | Event<'CustomerDeleted', { customerId: string }>
  | Event<'PersonErased', { customerId: string; externalAccountIds: string[] }>
  | Event<'CreationAbandoned', { customerId: string }>
  | Event<'ClaimForgone', { customerId: string; claimId: string; epoch: number }>
  | Event<'VerificationStarted', { customerId: string; status: VerificationStatus }>
  | Event<'VerificationResolved', { customerId: string; status: VerificationStatus }>
  | Event<'RuleAccountRequested', { customerId: string } & RuleAccountRequest>
  | Event<'RuleAccountsOpened', { customerId: string; accountIds: readonly string[] }>;

/** Those that change what the API shows of a customer. */
export const customerEventTypes = [
  'CustomerCreated',
  'CustomerUpdated',
  'CustomerDeleted',
  'PersonErased',
  'VerificationStarted',
  'VerificationResolved',
] as const satisfies readonly CustomerEvent['type'][];
