import type { Decider } from '../../kernel/decider.ts';
import { type ErrorCode, type Rejection, reject } from '../../kernel/errors.ts';
import { command, type Stamped } from '../../kernel/messages.ts';
import { transitions } from '../../kernel/transitions.ts';
import type { ClaimEvent } from './claim.events.ts';

/** One claim of a value: whose it was, and the how-manieth of the value. */
export interface AbandonedClaim {
  owner: string;
  epoch: number;
}

/**
 * Takes a value that must be unique; `refusal` is the code when somebody else has it. `abandoned` is a claim that is known never to
 * come into use (its owner's stream was fenced first) and may be taken: that one, not a later one of the same owner.
 */
export class ClaimValue extends command('ClaimValue')<{
  claimId: string;
  rule: string;
  owner: string;
  refusal: ErrorCode;
  abandoned?: AbandonedClaim;
}>() {}
/**
 * Gives a value back; anybody else's claim stays, and so does a later one of the owner's own than that of `epoch`. Absent: whichever the
 * owner has, who will never use the value again.
 */
export class ReleaseValue extends command('ReleaseValue')<{
  claimId: string;
  rule: string;
  owner: string;
  epoch?: number;
}>() {}

export type ClaimCommand = ClaimValue | ReleaseValue;
export type ClaimStatus = 'FREE' | 'HELD';

export interface ClaimState {
  status: ClaimStatus;
  owner?: string;
  /** How often the value has been claimed: tells a claim from an earlier one of the same owner. */
  epoch: number;
  /** RFC 3339 UTC. */
  claimedAt?: string;
}

/** Of two rows for one cell the second one holds for what its comment says. */
export const claimTransitions = transitions<ClaimStatus, ClaimCommand['type']>([
  ['FREE', 'ClaimValue', 'HELD', 'ValueClaimed'],
  ['FREE', 'ReleaseValue', 'FREE', 'nothing'],
  // Its owner claims it again: nothing. The successor of an abandoned claim: ValueClaimed. Anybody else: the refusal that is given.
  ['HELD', 'ClaimValue', 'HELD', 'ValueClaimed'],
  ['HELD', 'ReleaseValue', 'FREE', 'ValueReleased'],
  // By somebody who does not own it, or who owns it by a later claim.
  ['HELD', 'ReleaseValue', 'HELD', 'nothing'],
]);

function decide(state: ClaimState, { type, data }: ClaimCommand): ClaimEvent[] | Rejection {
  const { claimId, rule, owner } = data;
  switch (type) {
    case 'ClaimValue':
      if (state.owner === owner) return [];
      if (state.owner !== undefined && !isAbandoned(state, data)) return reject(data.refusal, { reason: rule });
      return [{ type: 'ValueClaimed', data: { claimId, rule, owner } }];
    case 'ReleaseValue':
      if (state.owner !== owner || (data.epoch ?? state.epoch) !== state.epoch) return [];
      return [{ type: 'ValueReleased', data: { claimId, rule, owner } }];
  }
}

const isAbandoned = ({ owner, epoch }: ClaimState, { abandoned }: ClaimValue['data']): boolean =>
  abandoned?.owner === owner && abandoned?.epoch === epoch;

function evolve({ epoch }: ClaimState, event: ClaimEvent & Stamped): ClaimState {
  return event.type === 'ValueClaimed'
    ? { status: 'HELD', owner: event.data.owner, epoch: epoch + 1, claimedAt: event.at }
    : { status: 'FREE', epoch };
}

/** A value that may be had once (architecture §10): the stream is named by the keyed hash of rule and value. */
export const claim: Decider<ClaimState, ClaimCommand, ClaimEvent> = {
  name: 'claim',
  id: 'claimId',
  commands: [ClaimValue, ReleaseValue],
  initial: { status: 'FREE', epoch: 0 },
  decide,
  evolve,
  version: 2,
  clock: 'wall',
};
