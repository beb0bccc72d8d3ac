import type { Decider } from '../../kernel/decider.ts';
import { type ErrorCode, type Rejection, reject } from '../../kernel/errors.ts';
import { command, type Stamped } from '../../kernel/messages.ts';
import { transitions } from '../../kernel/transitions.ts';
import type { ClaimEvent } from './claim.events.ts';

/**
 * Takes a value that must be unique; `refusal` is the code when somebody else has it. `abandonedOwner` is an owner that is known
 * never to use it (its stream was fenced first), from whom the claim may be taken.
 */
export class ClaimValue extends command('ClaimValue')<{
  claimId: string;
  rule: string;
  owner: string;
  refusal: ErrorCode;
  abandonedOwner?: string;
}>() {}
/** Gives a value back; anybody else's claim stays. */
export class ReleaseValue extends command('ReleaseValue')<{ claimId: string; rule: string; owner: string }>() {}

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
  // Its owner claims it again: nothing. An abandoned owner's successor: ValueClaimed. Anybody else: the refusal that is given.
  ['HELD', 'ClaimValue', 'HELD', 'ValueClaimed'],
  ['HELD', 'ReleaseValue', 'FREE', 'ValueReleased'],
  // By somebody who does not own it.
  ['HELD', 'ReleaseValue', 'HELD', 'nothing'],
]);

function decide(state: ClaimState, { type, data }: ClaimCommand): ClaimEvent[] | Rejection {
  const { claimId, rule, owner } = data;
  switch (type) {
    case 'ClaimValue':
      if (state.owner === owner) return [];
      if (state.owner !== undefined && state.owner !== data.abandonedOwner) {
        return reject(data.refusal, { reason: rule });
      }
      return [{ type: 'ValueClaimed', data: { claimId, rule, owner } }];
    case 'ReleaseValue':
      return state.owner === owner ? [{ type: 'ValueReleased', data: { claimId, rule, owner } }] : [];
  }
}

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
