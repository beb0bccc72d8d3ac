import type { BeneficiaryVerificationStatus } from '../../kernel/beneficiary-verification.ts';
import type { Decider } from '../../kernel/decider.ts';
import { type Rejection, reject } from '../../kernel/errors.ts';
import { command, type Stamped } from '../../kernel/messages.ts';
import type { PaymentRail } from '../../kernel/rails.ts';
import { transitions } from '../../kernel/transitions.ts';
import { type AccountInfo, isSelfCustodyWallet, railsOf, suffixOf } from './account-types.ts';
import type {
  ExternalAccountAddedData,
  ExternalAccountEvent,
  OwnershipChallengeData,
  OwnershipFailure,
  OwnershipType,
  PublicStatus,
} from './external-account.events.ts';
import type { OwnershipVerdict } from './ownership.ts';

/** `accountInfo` has passed `checkAccountInfo`; the name check has been asked. */
export class AddExternalAccount extends command('AddExternalAccount')<{
  externalAccountId: string;
  tenantId: string;
  customerId?: string;
  currency: string;
  accountInfo: AccountInfo;
  platformAccountId?: string;
  ownershipType?: OwnershipType;
  beneficiaryVerificationStatus: BeneficiaryVerificationStatus;
  verifiedFullName?: string;
  claimId: string;
  /** It takes the place of the customer's default UMA deposit account. */
  isDefaultWanted?: true;
}>() {}
/** Starts or restarts the proof of ownership, or switches its method; the challenge before it is void. */
export class StartOwnershipChallenge extends command('StartOwnershipChallenge')<
  OwnershipChallengeData & { externalAccountId: string }
>() {}
/** `verdict` is that of the wallet's signature over the challenge named; `now` decides about its expiry. */
export class ProveOwnership extends command('ProveOwnership')<{
  externalAccountId: string;
  challengeId: string;
  verdict: OwnershipVerdict;
  now: string;
}>() {}
/** How the hosted check ended. */
export class RecordLivenessOutcome extends command('RecordLivenessOutcome')<{
  externalAccountId: string;
  challengeId: string;
  outcome: LivenessOutcome;
  now: string;
}>() {}
/** The account has been made the customer's default, or a newer one has. */
export class ConfirmDefaultChosen extends command('ConfirmDefaultChosen')<{ externalAccountId: string }>() {}
export class DeleteExternalAccount extends command('DeleteExternalAccount')<{ externalAccountId: string }>() {}
/** What a deleted account had alone has been given back. */
export class ConfirmReleased extends command('ConfirmReleased')<{ externalAccountId: string }>() {}
/** Makes sure that an account whose claim was taken will never appear (architecture §10). */
export class AbandonExternalAccount extends command('AbandonExternalAccount')<{ externalAccountId: string }>() {}

export type ExternalAccountCommand =
  | AddExternalAccount
  | StartOwnershipChallenge
  | ProveOwnership
  | RecordLivenessOutcome
  | ConfirmDefaultChosen
  | DeleteExternalAccount
  | ConfirmReleased
  | AbandonExternalAccount;

export const livenessOutcomes = ['COMPLETED', 'FAILED'] as const;

export type LivenessOutcome = (typeof livenessOutcomes)[number];

export type ExternalAccountStatus = PublicStatus | 'NONE' | 'DELETED';

export interface ExternalAccountState extends Omit<ExternalAccountAddedData, 'status'> {
  status: ExternalAccountStatus;
  /** The challenge that waits for its proof. Absent on the read side. */
  challenge?: OwnershipChallengeData;
  /** A deleted account whose claim is still to be given back. */
  isReleasePending?: true;
  createdAt: string;
  updatedAt: string;
}

const conflict = (reason: string, message: string): Rejection => reject('CONFLICT', { reason }, message);
const missing = reject('REFERENCE_NOT_FOUND', undefined, 'There is no such external account.');
const exists = conflict('EXTERNAL_ACCOUNT_EXISTS', 'The external account already exists.');
const abandoned = conflict('CREATION_ABANDONED', 'This creation was given up. Repeat it with a new Idempotency-Key.');
const verified = conflict('ALREADY_VERIFIED', 'Ownership of the external account is already verified.');
const noChallenge = conflict(
  'NO_OUTSTANDING_CHALLENGE',
  'There is no outstanding challenge of this method. Start one.',
);

const absent = ['NONE', 'DELETED'] as const;
const unproven = ['PENDING_OWNERSHIP_VERIFICATION', 'UNVERIFIED'] as const;
const present = [
  'PENDING',
  'ACTIVE',
  'PENDING_OWNERSHIP_VERIFICATION',
  'UNVERIFIED',
  'UNDER_REVIEW',
  'INACTIVE',
] as const;

/**
 * The state machine (spec, States and transitions, External account). Of two rows for one cell the second one holds for what its
 * comment says. A failed proof uses its challenge up, so `UNVERIFIED` has an outstanding one only after a new start.
 */
export const externalAccountTransitions = transitions<ExternalAccountStatus, ExternalAccountCommand['type']>(
  [
    ['NONE', 'AddExternalAccount', 'ACTIVE', 'ExternalAccountAdded'],
    // A wallet of one's own in one's own custody (decision 8).
    ['NONE', 'AddExternalAccount', 'PENDING_OWNERSHIP_VERIFICATION', 'ExternalAccountAdded'],
    ['UNVERIFIED', 'StartOwnershipChallenge', 'PENDING_OWNERSHIP_VERIFICATION', 'OwnershipChallengeStarted'],
    [
      'PENDING_OWNERSHIP_VERIFICATION',
      'StartOwnershipChallenge',
      'PENDING_OWNERSHIP_VERIFICATION',
      'OwnershipChallengeStarted',
    ],
    [unproven, 'ProveOwnership', 'ACTIVE', 'OwnershipVerified'],
    // An invalid signature, or one that comes too late.
    [unproven, 'ProveOwnership', 'UNVERIFIED', 'OwnershipVerificationFailed'],
    ['PENDING_OWNERSHIP_VERIFICATION', 'RecordLivenessOutcome', 'ACTIVE', 'OwnershipVerified'],
    // The check failed.
    ['PENDING_OWNERSHIP_VERIFICATION', 'RecordLivenessOutcome', 'UNVERIFIED', 'OwnershipVerificationFailed'],
    ['UNVERIFIED', 'RecordLivenessOutcome', noChallenge],
    ['ACTIVE', 'StartOwnershipChallenge', verified],
    ['ACTIVE', 'ProveOwnership', verified],
    ['ACTIVE', 'RecordLivenessOutcome', verified],
    ...present.map((status) => [status, 'ConfirmDefaultChosen', status, 'ExternalAccountMadeDefault'] as const),
    ['DELETED', 'ConfirmDefaultChosen', 'DELETED', 'nothing'],
    [present, 'DeleteExternalAccount', 'DELETED', 'ExternalAccountDeleted'],
    ['DELETED', 'ConfirmReleased', 'DELETED', 'ExternalAccountReleased'],
    ['NONE', 'AbandonExternalAccount', 'DELETED', 'ExternalAccountAbandoned'],
    [present, 'AddExternalAccount', exists],
    ['DELETED', 'AddExternalAccount', abandoned],
    [[...present, 'DELETED'], 'AbandonExternalAccount', exists],
    [absent, 'StartOwnershipChallenge', missing],
    [absent, 'ProveOwnership', missing],
    [absent, 'RecordLivenessOutcome', missing],
    ['NONE', 'ConfirmDefaultChosen', missing],
    [absent, 'DeleteExternalAccount', missing],
    ['NONE', 'ConfirmReleased', missing],
  ],
  conflict('STATUS', 'The status of the external account does not allow this.'),
);

/** Rails over which money can be collected (spec, execution of quotes: "direct pull, for example ACH pull"). */
const pullRails: readonly PaymentRail[] = ['ACH'];

/** True at and after the moment at which a challenge expires. */
export const isExpired = ({ expiresAt }: OwnershipChallengeData, now: string): boolean => now >= expiresAt;

/** The text that proves ownership when its wallet signs it: what is proven, by whom, until when, and once. */
export const challengeMessage = (challenge: {
  address: string;
  /** Public id. */
  accountId: string;
  expiresAt: string;
  nonce: string;
}): string =>
  `I confirm that I control the wallet ${challenge.address} and register it as ${challenge.accountId}. ` +
  `Valid until ${challenge.expiresAt}. Nonce: ${challenge.nonce}`;

type OwnershipCommand = StartOwnershipChallenge | ProveOwnership | RecordLivenessOutcome;

function decide(state: ExternalAccountState, command: ExternalAccountCommand): ExternalAccountEvent[] | Rejection {
  const { type, data } = command;
  if (isOwnership(command)) return decideOwnership(state, command);
  const refusal = externalAccountTransitions.guard(state.status, type);
  if (refusal) return refusal;
  const { externalAccountId } = data;
  switch (command.type) {
    case 'AddExternalAccount':
      return [{ type: 'ExternalAccountAdded', data: added(command.data) }];
    case 'ConfirmDefaultChosen':
      return state.isDefaultWanted && state.status !== 'DELETED'
        ? [{ type: 'ExternalAccountMadeDefault', data: { externalAccountId } }]
        : [];
    case 'DeleteExternalAccount':
      return [{ type: 'ExternalAccountDeleted', data: { externalAccountId } }];
    case 'ConfirmReleased':
      return state.isReleasePending ? [{ type: 'ExternalAccountReleased', data: { externalAccountId } }] : [];
    case 'AbandonExternalAccount':
      return [{ type: 'ExternalAccountAbandoned', data: { externalAccountId } }];
  }
}

function isOwnership(command: ExternalAccountCommand): command is OwnershipCommand {
  const { type } = command;
  return type === 'StartOwnershipChallenge' || type === 'ProveOwnership' || type === 'RecordLivenessOutcome';
}

function added(data: AddExternalAccount['data']): ExternalAccountAddedData {
  const { accountInfo, ownershipType } = data;
  const isSelfCustody = isSelfCustodyWallet(accountInfo);
  const paymentRails = railsOf(accountInfo);
  return {
    ...data,
    subjectId: data.customerId ?? data.externalAccountId,
    status: isSelfCustody && ownershipType === 'FIRST_PARTY' ? 'PENDING_OWNERSHIP_VERIFICATION' : 'ACTIVE',
    accountType: accountInfo.accountType,
    identifierSuffix: suffixOf(accountInfo),
    paymentRails,
    isSelfCustody,
    isPullable: paymentRails.some((rail) => pullRails.includes(rail)),
  };
}

function decideOwnership(
  state: ExternalAccountState,
  { type, data }: OwnershipCommand,
): ExternalAccountEvent[] | Rejection {
  const refusal = ineligible(state) ?? externalAccountTransitions.guard(state.status, type);
  if (refusal) return refusal;
  const { externalAccountId, challengeId } = data;
  const previousStatus = state.status as PublicStatus;
  if (type === 'StartOwnershipChallenge') {
    const { subjectId } = state;
    return [{ type: 'OwnershipChallengeStarted', data: { ...data, subjectId, previousStatus } }];
  }
  const method = type === 'ProveOwnership' ? 'WALLET_SIGNATURE' : 'LIVENESS';
  const { challenge } = state;
  if (challenge?.method !== method || challenge.challengeId !== challengeId) return noChallenge;
  const outcome = { externalAccountId, challengeId, method, previousStatus } as const;
  const failure = type === 'ProveOwnership' ? proofFailure(challenge, data) : livenessFailure(challenge, data);
  if (failure === undefined) return [{ type: 'OwnershipVerified', data: outcome }];
  if (typeof failure !== 'string') return failure;
  return [{ type: 'OwnershipVerificationFailed', data: { ...outcome, reason: failure } }];
}

/** Only a wallet of one's own, in one's own custody, has an owner to verify. */
function ineligible({ status, ownershipType, isSelfCustody }: ExternalAccountState): Rejection | undefined {
  if (status === 'NONE' || status === 'DELETED') return undefined;
  if (!isSelfCustody) {
    return conflict('NOT_SELF_CUSTODY', 'Ownership is verified of crypto wallets in self-custody only.');
  }
  if (ownershipType !== 'FIRST_PARTY') {
    return conflict('NOT_FIRST_PARTY', 'Ownership is verified of FIRST_PARTY accounts only.');
  }
  return undefined;
}

function proofFailure(
  challenge: OwnershipChallengeData,
  { verdict, now }: ProveOwnership['data'],
): OwnershipFailure | undefined {
  if (isExpired(challenge, now)) return 'CHALLENGE_EXPIRED';
  return verdict.valid ? undefined : verdict.reason;
}

/** A check that nobody finished in time has no outcome: it is refused, and another one can be started. */
function livenessFailure(
  challenge: OwnershipChallengeData,
  { outcome, now }: RecordLivenessOutcome['data'],
): OwnershipFailure | Rejection | undefined {
  if (isExpired(challenge, now)) return conflict('CHALLENGE_EXPIRED', 'The challenge has expired. Start a new one.');
  return outcome === 'COMPLETED' ? undefined : 'LIVENESS_FAILED';
}

function evolve(state: ExternalAccountState, event: ExternalAccountEvent & Stamped): ExternalAccountState {
  switch (event.type) {
    case 'ExternalAccountAdded':
      return { ...event.data, createdAt: event.at, updatedAt: event.at };
    case 'OwnershipChallengeStarted': {
      const { externalAccountId: _, subjectId: __, previousStatus: ___, ...challenge } = event.data;
      return { ...state, status: 'PENDING_OWNERSHIP_VERIFICATION', challenge, updatedAt: event.at };
    }
    case 'OwnershipVerified':
      return { ...without(state, 'challenge'), status: 'ACTIVE', updatedAt: event.at };
    case 'OwnershipVerificationFailed':
      return { ...without(state, 'challenge'), status: 'UNVERIFIED', updatedAt: event.at };
    case 'ExternalAccountMadeDefault':
      return { ...without(state, 'isDefaultWanted'), updatedAt: event.at };
    case 'ExternalAccountDeleted': {
      const rest = without(state, 'challenge', 'isDefaultWanted');
      return { ...rest, status: 'DELETED', isReleasePending: true, updatedAt: event.at };
    }
    case 'ExternalAccountReleased':
      return { ...without(state, 'isReleasePending'), updatedAt: event.at };
    case 'ExternalAccountAbandoned':
      return { ...state, ...event.data, status: 'DELETED', updatedAt: event.at };
  }
}

type Passing = 'challenge' | 'isDefaultWanted' | 'isReleasePending';

function without(state: ExternalAccountState, ...fields: Passing[]): ExternalAccountState {
  const rest = { ...state };
  for (const field of fields) delete rest[field];
  return rest;
}

/** A bank account, mobile-money account or crypto wallet outside the platform (spec, External accounts). */
export const externalAccount: Decider<ExternalAccountState, ExternalAccountCommand, ExternalAccountEvent> = {
  name: 'externalAccount',
  id: 'externalAccountId',
  commands: [
    AddExternalAccount,
    StartOwnershipChallenge,
    ProveOwnership,
    RecordLivenessOutcome,
    ConfirmDefaultChosen,
    DeleteExternalAccount,
    ConfirmReleased,
    AbandonExternalAccount,
  ],
  creates: ['AddExternalAccount', 'AbandonExternalAccount'],
  initial: {
    externalAccountId: '',
    tenantId: '',
    subjectId: '',
    status: 'NONE',
    currency: '',
    accountType: 'USD_ACCOUNT',
    identifierSuffix: '',
    paymentRails: [],
    isSelfCustody: false,
    isPullable: false,
    beneficiaryVerificationStatus: 'UNSUPPORTED',
    claimId: '',
    createdAt: '',
    updatedAt: '',
  },
  decide,
  evolve,
  version: 1,
  personal: {
    ExternalAccountAdded: { subject: 'subjectId', fields: ['accountInfo', 'verifiedFullName'] },
    OwnershipChallengeStarted: { subject: 'subjectId', fields: ['messageToSign', 'token'] },
  },
};
