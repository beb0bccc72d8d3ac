import { Inject, Injectable } from '@nestjs/common';
import {
  type AbandonedClaim,
  type ClaimState,
  ClaimValue,
  claim,
  ReleaseValue,
} from '../../../../libs/domain/claims/claim.ts';
import { holdsClaim } from '../../../../libs/domain/customers/customer.claims.ts';
import type { CustomerRule, HeldClaim } from '../../../../libs/domain/customers/customer.events.ts';
import { AbandonClaim, type CustomerState, customer } from '../../../../libs/domain/customers/customer.ts';
import type { Clock } from '../../../../libs/kernel/clock.ts';
import { type ErrorCode, Rejection } from '../../../../libs/kernel/errors.ts';
import type { Caller } from '../../../../libs/runtime/caller.ts';
import { Commands } from '../../../../libs/runtime/commands.ts';
import { WritePath } from '../../../../libs/runtime/execute.ts';
import type { Envelope } from '../../../../libs/runtime/stream.ts';
import { CLOCK } from '../settings.ts';

/** Longer than any request lives: a claim that is older and not used was left behind. */
const ABANDONED_AFTER_MS = 60_000;

/** Takes and gives back what a customer must have alone (architecture §10; docs/why/unique-values.md). */
@Injectable()
export class UniqueValues {
  private readonly commands: Commands;
  private readonly writePath: WritePath;
  private readonly clock: Clock;

  constructor(
    @Inject(Commands) commands: Commands,
    @Inject(WritePath) writePath: WritePath,
    @Inject(CLOCK) clock: Clock,
  ) {
    this.commands = commands;
    this.writePath = writePath;
    this.clock = clock;
  }

  /** Claims a value for a customer, who may have it already. Throws `refusal` when another one has it. */
  async take(
    caller: Caller,
    { rule, claimId, refusal }: { rule: CustomerRule; claimId: string; refusal: ErrorCode },
    owner: string,
  ): Promise<HeldClaim> {
    const abandoned = await this.abandoned(caller, claimId, owner);
    const take = new ClaimValue({ claimId, rule, owner, refusal, ...(abandoned && { abandoned }) });
    const { state } = await this.commands.send<ClaimState>(take, envelope(caller));
    return { rule, claimId, epoch: state.epoch };
  }

  /**
   * Gives back what a refused request of the customer's had claimed. Another request of the same customer may have claimed it too: what
   * that one has put into use stays, and what it has not it cannot any more.
   */
  async release(caller: Caller, claims: readonly HeldClaim[], owner: string): Promise<void> {
    await Promise.all(
      claims.map(async (held) => {
        if (!(await this.fence(caller, held, owner))) return;
        await this.commands.send(new ReleaseValue({ ...held, owner }), envelope(caller));
      }),
    );
  }

  /** The claim that somebody left behind, made sure never to come into use any more; undefined when the value is free or in use. */
  private async abandoned(caller: Caller, claimId: string, owner: string): Promise<AbandonedClaim | undefined> {
    const { state: held } = await this.writePath.state<ClaimState>(claim, claimId);
    if (held.owner === undefined || held.owner === owner) return undefined;
    if (this.clock.nowMs() - Date.parse(held.claimedAt!) < ABANDONED_AFTER_MS) return undefined;
    const { state } = await this.writePath.state<CustomerState>(customer, held.owner);
    if (holdsClaim(state, claimId)) return undefined;
    const { epoch } = held;
    return (await this.fence(caller, { claimId, epoch }, held.owner)) ? { owner: held.owner, epoch } : undefined;
  }

  /** Sees to it that this claim never comes into use from now on; false when the value is in use. */
  private async fence(
    caller: Caller,
    { claimId, epoch }: Pick<HeldClaim, 'claimId' | 'epoch'>,
    customerId: string,
  ): Promise<boolean> {
    try {
      await this.commands.send(new AbandonClaim({ customerId, claimId, epoch }), envelope(caller));
      return true;
    } catch (error) {
      if (error instanceof Rejection && error.status < 500) return false;
      throw error;
    }
  }
}

/** Not with an id of the request's key: an owner claims again what it gave back after a refusal. */
const envelope = (caller: Caller): Envelope => caller.freshEnvelope();
