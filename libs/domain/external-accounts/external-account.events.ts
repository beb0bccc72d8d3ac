import type { BeneficiaryVerificationStatus } from '../../kernel/beneficiary-verification.ts';
import type { Event } from '../../kernel/messages.ts';
import type { PaymentRail } from '../../kernel/rails.ts';
import type { AccountInfo, AccountType } from './account-types.ts';

export const ownershipTypes = ['FIRST_PARTY', 'THIRD_PARTY'] as const;

/** Whether the account belongs to the customer (or platform) itself or to somebody else (spec, `OwnershipType`). */
export type OwnershipType = (typeof ownershipTypes)[number];

export const externalAccountStatuses = [
  'PENDING',
  'ACTIVE',
  'PENDING_OWNERSHIP_VERIFICATION',
  'UNVERIFIED',
  'UNDER_REVIEW',
  'INACTIVE',
] as const;

/** Statuses that the API shows (spec, States and transitions). */
export type PublicStatus = (typeof externalAccountStatuses)[number];

export const ownershipMethods = ['WALLET_SIGNATURE', 'LIVENESS'] as const;

export type OwnershipMethod = (typeof ownershipMethods)[number];

/** Why a proof of ownership was not accepted. */
export type OwnershipFailure =
  | 'CHALLENGE_EXPIRED'
  | 'MALFORMED_SIGNATURE'
  | 'MALFORMED_ADDRESS'
  | 'WRONG_SIGNER'
  | 'LIVENESS_FAILED';

/** An external account as it was added, with what was concluded from its identifiers while they could be read. */
export interface ExternalAccountAddedData {
  externalAccountId: string;
  /** `<platform>.<environment>`. */
  tenantId: string;
  /** Absent for the platform's own. */
  customerId?: string;
  /** Whose personal data this is: the customer's, or the account's own for one of the platform. */
  subjectId: string;
  status: PublicStatus;
  currency: string;
  accountType: AccountType;
  /** Personal: absent once it was erased. */
  accountInfo?: AccountInfo;
  /** Last 3 characters of the primary identifier, which decide sandbox outcomes. */
  identifierSuffix: string;
  paymentRails: readonly PaymentRail[];
  /** A wallet without custodian, whose ownership can be verified. */
  isSelfCustody: boolean;
  /** Money can be collected from it, not only sent to it. */
  isPullable: boolean;
  platformAccountId?: string;
  ownershipType?: OwnershipType;
  beneficiaryVerificationStatus: BeneficiaryVerificationStatus;
  /** The holder's name as the rail knows it. Personal. */
  verifiedFullName?: string;
  /** The claim that keeps the account from being added twice. */
  claimId: string;
  /** It is to become the customer's default UMA deposit account. */
  isDefaultWanted?: true;
}

/** A challenge under way. Its text or token is personal: it names the address, or opens the check. */
export interface OwnershipChallengeData {
  challengeId: string;
  method: OwnershipMethod;
  /** RFC 3339 UTC. */
  expiresAt: string;
  /** What the wallet signs, for `WALLET_SIGNATURE`. */
  messageToSign?: string;
  /** What opens the hosted check, for `LIVENESS`. */
  token?: string;
}

interface OwnershipOutcome {
  externalAccountId: string;
  challengeId: string;
  method: OwnershipMethod;
  previousStatus: PublicStatus;
}

/** Facts of an external account. */
export type ExternalAccountEvent =
  | Event<'ExternalAccountAdded', ExternalAccountAddedData>
  | Event<
      'OwnershipChallengeStarted',
      OwnershipChallengeData & { externalAccountId: string; subjectId: string; previousStatus: PublicStatus }
    >
  | Event<'OwnershipVerified', OwnershipOutcome>
  | Event<'OwnershipVerificationFailed', OwnershipOutcome & { reason: OwnershipFailure }>
  | Event<'ExternalAccountMadeDefault', { externalAccountId: string }>
  | Event<'ExternalAccountDeleted', { externalAccountId: string }>
  | Event<'ExternalAccountReleased', { externalAccountId: string }>
  | Event<'ExternalAccountAbandoned', { externalAccountId: string }>;

export const externalAccountEventTypes = [
  'ExternalAccountAdded',
  'OwnershipChallengeStarted',
  'OwnershipVerified',
  'OwnershipVerificationFailed',
  'ExternalAccountMadeDefault',
  'ExternalAccountDeleted',
  'ExternalAccountReleased',
  'ExternalAccountAbandoned',
] as const satisfies readonly ExternalAccountEvent['type'][];
