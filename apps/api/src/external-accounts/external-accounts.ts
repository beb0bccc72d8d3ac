import { randomBytes } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { serveExternalAccount } from '../../../../libs/domain/external-accounts/external-account.process.ts';
import {
  AddExternalAccount,
  challengeMessage,
  DeleteExternalAccount,
  type ExternalAccountState,
  isExpired,
  type LivenessOutcome,
  ProveOwnership,
  RecordLivenessOutcome,
  StartOwnershipChallenge,
} from '../../../../libs/domain/external-accounts/external-account.ts';
import {
  type OwnershipVerdict,
  verifyOwnership,
  walletKindOf,
} from '../../../../libs/domain/external-accounts/ownership.ts';
import { tenantIdOf } from '../../../../libs/domain/platforms/platform.ts';
import { type Clock, timestamp } from '../../../../libs/kernel/clock.ts';
import { reject, rejectFields } from '../../../../libs/kernel/errors.ts';
import { publicId } from '../../../../libs/kernel/ids.ts';
import type { Caller } from '../../../../libs/runtime/caller.ts';
import { Commands } from '../../../../libs/runtime/commands.ts';
import { Driver } from '../../../../libs/runtime/drive.ts';
import { refuseFields, type Submitted } from '../../../../libs/runtime/http/index.ts';
import {
  type ExternalAccountRowState,
  externalAccountView,
  ownershipChallengeView,
} from '../../../../projections/external-account.view.ts';
import { API_SETTINGS, type ApiSettings, CLOCK } from '../settings.ts';
import { AccountClaims } from './account-claims.ts';
import type {
  ExternalAccountCreateRequest,
  OwnershipChallengeRequest,
  OwnershipVerifyRequest,
} from './external-accounts.bodies.ts';
import { ExternalAccountFacts } from './external-accounts.facts.ts';

/** How long a challenge can be answered (facts §16). */
const CHALLENGE_MS = 5 * 60_000;

/** Why a proof was refused, for people. */
const failures: Readonly<Record<string, string>> = {
  CHALLENGE_EXPIRED: 'The challenge has expired. Start a new one.',
  MALFORMED_SIGNATURE: 'The signature is not in the encoding of this wallet. Start a new challenge to try again.',
  MALFORMED_ADDRESS: "The account's address cannot have made a signature.",
  WRONG_SIGNER: 'The signature was not made by this wallet over messageToSign. Start a new challenge to try again.',
};

/** What the controllers of customers' and of platforms' external accounts have in common: each request's commands, in order. */
@Injectable()
export class ExternalAccounts {
  constructor(
    @Inject(Commands) private readonly commands: Commands,
    @Inject(Driver) private readonly driver: Driver,
    @Inject(ExternalAccountFacts) private readonly facts: ExternalAccountFacts,
    @Inject(AccountClaims) private readonly claims: AccountClaims,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(API_SETTINGS) private readonly settings: ApiSettings,
  ) {}

  /** Adds an account: its claim first, then the account, then what makes it the default if it is to be that. */
  async add(caller: Caller, { given, accept }: Submitted<ExternalAccountCreateRequest>) {
    const { tenant } = caller;
    const errors = [
      ...(await this.facts.travelRuleErrors(tenant, given)),
      ...(await this.facts.environmentErrors(tenant, given)),
    ];
    const body = accept(() => refuseFields(errors));
    const { currency, ownershipType } = body;
    const customerId = body.customerId === undefined ? undefined : await this.facts.customerId(tenant, body.customerId);
    const accountInfo = this.facts.accountInfo(tenant, body.accountInfo);
    const { status, verifiedFullName } = await this.facts.nameCheck(tenant, accountInfo, currency);
    const platformAccountId = body.platformAccountId ?? (body.accountInfo.platformAccountId as string | undefined);
    const externalAccountId = caller.newId('external account');
    const tenantId = tenantIdOf(tenant);
    const claimed = { tenantId, customerId, currency, accountInfo };
    const claimId = await this.claims.take(caller, claimed, externalAccountId);
    const add = new AddExternalAccount({
      externalAccountId,
      tenantId,
      ...(customerId && { customerId }),
      currency,
      accountInfo,
      ...(platformAccountId !== undefined && { platformAccountId }),
      ...(ownershipType && { ownershipType }),
      beneficiaryVerificationStatus: status,
      ...(verifiedFullName !== undefined && { verifiedFullName }),
      claimId,
      ...(customerId && body.defaultUmaDepositAccount && { isDefaultWanted: true }),
    });
    if (!add.data.isDefaultWanted) return this.commands.answer(caller, add, externalAccountView);
    await this.commands.send(add, caller.envelope(add.type));
    const view = (state: ExternalAccountState) => externalAccountView({ ...state, isDefaultUmaDeposit: true });
    return view(await this.finish(caller, externalAccountId, view));
  }

  async delete(caller: Caller, { externalAccountId }: ExternalAccountRowState): Promise<void> {
    const command = new DeleteExternalAccount({ externalAccountId });
    await this.commands.send(command, caller.envelope(command.type));
    await this.finish(caller, externalAccountId);
  }

  /** Starts the proof of ownership. `linkOf` makes the address of the hosted check from its token. */
  async challenge(
    caller: Caller,
    account: ExternalAccountRowState,
    { method }: OwnershipChallengeRequest,
    linkOf: (token: string) => string,
  ) {
    if (method === 'LIVENESS' && caller.tenant.environment !== 'sandbox') {
      throw reject(
        'NOT_IMPLEMENTED',
        { provider: 'liveness' },
        'No provider of liveness checks is set up for production.',
      );
    }
    const { externalAccountId } = account;
    const scale = caller.tenant.environment === 'sandbox' ? this.settings.sandboxTimeScale : 1;
    const expiresAt = timestamp(this.clock.nowMs(caller.tenant) + CHALLENGE_MS * scale);
    const accountId = publicId('ExternalAccount', externalAccountId);
    const secret = randomBytes(16).toString('hex');
    const proof =
      method === 'LIVENESS'
        ? { token: `${externalAccountId.replaceAll('-', '')}${secret}` }
        : { messageToSign: challengeMessage({ address: addressOf(account), accountId, expiresAt, nonce: secret }) };
    const challengeId = caller.newId('challenge');
    const start = new StartOwnershipChallenge({ externalAccountId, challengeId, method, expiresAt, ...proof });
    return this.commands.answer(caller, start, (state: ExternalAccountState) => ownershipChallengeView(state, linkOf));
  }

  /** Verifies a wallet's signature. A bad one is recorded, and refused. */
  async verify(caller: Caller, account: ExternalAccountRowState, body: OwnershipVerifyRequest) {
    const { externalAccountId, challenge, accountType } = account;
    if (body.signatureScheme === 'electrum' && walletKindOf(accountType) !== 'BITCOIN') {
      const message = 'signatureScheme electrum is for Bitcoin wallets only.';
      throw rejectFields([{ field: 'signatureScheme', constraint: 'CONFLICT', message }]);
    }
    const now = timestamp(this.clock.nowMs(caller.tenant));
    const verdict = verdictOn(account, body);
    const challengeId = challenge?.challengeId ?? '';
    const prove = new ProveOwnership({ externalAccountId, challengeId, verdict, now });
    const reason =
      challenge && isExpired(challenge, now) ? 'CHALLENGE_EXPIRED' : verdict.valid ? undefined : verdict.reason;
    // Without a challenge it is refused, unless this request has answered it before.
    if (!reason || !challenge) return this.commands.answer(caller, prove, this.viewLike(account));
    await this.commands.send(prove, caller.envelope(`ProveOwnership ${challengeId}`));
    throw reject('INVALID_INPUT', { reason }, failures[reason]);
  }

  /** How the hosted check ended, told by the sandbox. */
  async liveness(caller: Caller, account: ExternalAccountRowState, outcome: LivenessOutcome) {
    const { externalAccountId, challenge } = account;
    const now = timestamp(this.clock.nowMs(caller.tenant));
    const challengeId = challenge?.challengeId ?? '';
    const record = new RecordLivenessOutcome({ externalAccountId, challengeId, outcome, now });
    return this.commands.answer(caller, record, this.viewLike(account));
  }

  /** Does what is left to be done for an account; `view` is remembered for a keyed request. */
  private async finish(
    caller: Caller,
    externalAccountId: string,
    view?: (state: ExternalAccountState) => object,
  ): Promise<ExternalAccountState> {
    const answer = view && caller.answering(({ state }) => view(state as ExternalAccountState));
    caller.answersAbout(`${serveExternalAccount.decider.name}-${externalAccountId}`);
    const drive = { tenant: caller.tenant, correlationId: caller.requestId, ...(answer && { answer }) };
    return this.driver.drive<ExternalAccountState>(serveExternalAccount, externalAccountId, drive);
  }

  /** The view of a later state of the account. */
  private viewLike({ isDefaultUmaDeposit = false }: ExternalAccountRowState) {
    return (state: ExternalAccountState) => externalAccountView({ ...state, isDefaultUmaDeposit });
  }
}

const addressOf = ({ accountInfo }: ExternalAccountState): string => String(accountInfo?.address);

/** The signature against the outstanding challenge; the decider refuses when there is none. */
function verdictOn(
  account: ExternalAccountState,
  { signature, signatureScheme }: OwnershipVerifyRequest,
): OwnershipVerdict {
  const kind = walletKindOf(account.accountType);
  const message = account.challenge?.messageToSign;
  if (!kind || message === undefined) return { valid: false, reason: 'MALFORMED_ADDRESS' };
  return verifyOwnership(kind, {
    address: addressOf(account),
    message,
    signature,
    ...(signatureScheme && { signatureScheme }),
  });
}
