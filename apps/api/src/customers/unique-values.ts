import { Inject, Injectable } from '@nestjs/common';
import { type ClaimState, ClaimValue, claim, ReleaseValue } from '../../../../libs/domain/claims/claim.ts';
import type { CustomerRule, HeldClaim } from '../../../../libs/domain/customers/customer.events.ts';
import { AbandonClaim, type CustomerState, customer, holdsClaim } from '../../../../libs/domain/customers/customer.ts';
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
    const abandonedOwner = await this.abandonedOwner(caller, claimId, owner);
    const take = new ClaimValue({ claimId, rule, owner, refusal, ...(abandonedOwner && { abandonedOwner }) });
    const { state } = await this.commands.send<ClaimState>(take, envelope(caller));
    return { rule, claimId, epoch: state.epoch };
  }

  /** Gives back what the customer turned out not to need. */
  async release(caller: Caller, claims: readonly HeldClaim[], owner: string): Promise<void> {
    const releases = claims.map(({ rule, claimId }) => new ReleaseValue({ rule, claimId, owner }));
    await Promise.all(releases.map((release) => this.commands.send(release, envelope(caller))));
  }

  /** Who left this claim behind, made sure never to use it any more; undefined when it is free or in use. */
  private async abandonedOwner(caller: Caller, claimId: string, owner: string): Promise<string | undefined> {
    const { state: held } = await this.writePath.state<ClaimState>(claim, claimId);
    if (held.owner === undefined || held.owner === owner) return undefined;
    if (this.clock.nowMs() - Date.parse(held.claimedAt!) < ABANDONED_AFTER_MS) return undefined;
    const { state } = await this.writePath.state<CustomerState>(customer, held.owner);
    if (holdsClaim(state, claimId)) return undefined;
    try {
      const fence = new AbandonClaim({ customerId: held.owner, claimId, epoch: held.epoch });
      await this.commands.send(fence, envelope(caller));
      return held.owner;
    } catch (error) {
      if (error instanceof Rejection && error.status < 500) return undefined; // it came into use at this moment
      throw error;
    }
  }
}

/** Not with an id of the request's key: an owner claims again what it gave back after a refusal. */
const envelope = (caller: Caller): Envelope => caller.freshEnvelope();
