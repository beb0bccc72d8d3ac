import { Inject, Injectable } from '@nestjs/common';
import { type AbandonedClaim, type ClaimState, ClaimValue, claim } from '../../../../libs/domain/claims/claim.ts';
import {
  type AccountInfo,
  accountKey,
  formerAccountKey,
} from '../../../../libs/domain/external-accounts/account-types.ts';
import { accountRule } from '../../../../libs/domain/external-accounts/external-account.process.ts';
import {
  AbandonExternalAccount,
  type ExternalAccountState,
  externalAccount,
} from '../../../../libs/domain/external-accounts/external-account.ts';
import type { Clock } from '../../../../libs/kernel/clock.ts';
import { Rejection, reject } from '../../../../libs/kernel/errors.ts';
import type { Caller } from '../../../../libs/runtime/caller.ts';
import { ClaimIds } from '../../../../libs/runtime/claims.ts';
import { Commands } from '../../../../libs/runtime/commands.ts';
import { WritePath } from '../../../../libs/runtime/execute.ts';
import { CLOCK } from '../settings.ts';

/** Longer than any request lives: a claim that is older and has no account was left behind. */
const ABANDONED_AFTER_MS = 60_000;

/** An account that is to be added: of a customer, or of the platform when `customerId` is undefined. */
export interface ClaimedAccount {
  tenantId: string;
  customerId: string | undefined;
  currency: string;
  accountInfo: AccountInfo;
}

/** Keeps a holder from having the same account twice in a currency (architecture §10; docs/why/external-accounts.md). */
@Injectable()
export class AccountClaims {
  constructor(
    @Inject(ClaimIds) private readonly ids: ClaimIds,
    @Inject(Commands) private readonly commands: Commands,
    @Inject(WritePath) private readonly writePath: WritePath,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** Claims an account that is about to be added, and answers with the claim's id; 409 when the holder has it already. */
  async take(caller: Caller, account: ClaimedAccount, owner: string): Promise<string> {
    const claimId = this.idOf(account, accountKey(account.accountInfo));
    const formerId = this.idOf(account, formerAccountKey(account.accountInfo));
    const isHeld = formerId !== claimId && (await this.isHeld(caller, formerId, owner));
    if (isHeld) throw hasItAlready();
    const abandoned = await this.abandoned(caller, claimId, owner);
    const take = {
      claimId,
      rule: accountRule,
      owner,
      refusal: 'CONFLICT',
      ...(abandoned && { abandoned }),
    } as const;
    try {
      await this.commands.send(new ClaimValue(take), anew(caller));
      return claimId;
    } catch (error) {
      if (!(error instanceof Rejection) || error.code !== 'CONFLICT') throw error;
      throw hasItAlready();
    }
  }

  private idOf({ tenantId, customerId, currency }: ClaimedAccount, key: string): string {
    return this.ids.idOf(accountRule, tenantId, customerId ?? '', currency, key);
  }

  private async isHeld(caller: Caller, claimId: string, owner: string): Promise<boolean> {
    const { state: held } = await this.writePath.state<ClaimState>(claim, claimId);
    if (held.owner === undefined || held.owner === owner) return false;
    return (await this.abandoned(caller, claimId, owner)) === undefined;
  }

  /** The claim if its holder was deleted, or never came to be and now never will. */
  private async abandoned(caller: Caller, claimId: string, owner: string): Promise<AbandonedClaim | undefined> {
    const { state: held } = await this.writePath.state<ClaimState>(claim, claimId);
    if (held.owner === undefined || held.owner === owner) return undefined;
    const { state } = await this.writePath.state<ExternalAccountState>(externalAccount, held.owner);
    const left = { owner: held.owner, epoch: held.epoch };
    if (state.status === 'DELETED') return left;
    if (state.status !== 'NONE' || this.clock.nowMs() - Date.parse(held.claimedAt!) < ABANDONED_AFTER_MS) {
      return undefined;
    }
    try {
      await this.commands.send(new AbandonExternalAccount({ externalAccountId: held.owner }), anew(caller));
      return left;
    } catch (error) {
      if (error instanceof Rejection && error.status < 500) return undefined; // it was added at this moment
      throw error;
    }
  }
}

/** Claims may be repeated by themselves: an id of the request's key would hide that one was given back meanwhile. */
const anew = (caller: Caller) => caller.freshEnvelope();

const hasItAlready = () =>
  reject('CONFLICT', { reason: accountRule }, 'The holder has this account in this currency already.');
