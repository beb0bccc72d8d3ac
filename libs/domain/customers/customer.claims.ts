import { type Rejection, reject } from '../../kernel/errors.ts';
import type { HeldClaim } from './customer.events.ts';

/** What a customer knows of its claims (docs/why/unique-values.md). */
export interface Claims {
  /** Those in use, one of each rule. */
  claims: readonly HeldClaim[];
  /** Those to be given back, one of each value. */
  claimsToRelease: readonly HeldClaim[];
  /** Value → up to which of its claims none can come into use any more: given back, about to be, or taken away. */
  forgone: Readonly<Record<string, number>>;
}

/** A claim of a value, whatever its rule. */
type Numbered = Pick<HeldClaim, 'claimId' | 'epoch'>;

/** The refusal of a claim that cannot come into use any more. The value can be claimed anew. */
export const claimForgone = reject(
  'CONFLICT',
  { reason: 'CLAIM_FORGONE' },
  'A value that must be unique was given back at this moment. Repeat the request.',
);

/** True for the refusal `claimForgone`. */
export const isClaimForgone = ({ details }: Rejection): boolean => details?.reason === claimForgone.details?.reason;

/** True while the claimed value is this customer's. */
export const holdsClaim = ({ claims }: Pick<Claims, 'claims'>, claimId: string): boolean =>
  claims.some((held) => held.claimId === claimId);

/** True when this claim, or a later one of its value, is in use: there is nothing to change then. */
export const isInUse = ({ claims }: Claims, { claimId, epoch }: Numbered): boolean =>
  claims.some((held) => held.claimId === claimId && held.epoch >= epoch);

/** True when this claim cannot come into use any more. */
export const isForgone = ({ forgone }: Pick<Claims, 'forgone'>, { claimId, epoch }: Numbered): boolean =>
  (forgone[claimId] ?? 0) >= epoch;

/** The same with these claims forgone. */
export const forgoing = ({ forgone }: Pick<Claims, 'forgone'>, claims: readonly Numbered[]): Claims['forgone'] => ({
  ...forgone,
  ...Object.fromEntries(claims.map(({ claimId, epoch }) => [claimId, Math.max(epoch, forgone[claimId] ?? 0)] as const)),
});

/** The ids of those claims that were to be given back and have been. */
export const releasedOf = ({ claimsToRelease }: Claims, released: readonly Numbered[]): string[] =>
  claimsToRelease
    .filter((held) => released.some(({ claimId, epoch }) => claimId === held.claimId && epoch === held.epoch))
    .map(({ claimId }) => claimId);

/** The claims after `claim` took the place of that of another value under its rule, which is forgone and to be given back. */
export function withClaim(before: Claims, claim: HeldClaim): Claims {
  const replaced = before.claims.filter(({ rule, claimId }) => rule === claim.rule && claimId !== claim.claimId);
  const others = before.claimsToRelease.filter(({ claimId }) => replaced.every((one) => one.claimId !== claimId));
  return {
    claims: [...before.claims.filter(({ rule }) => rule !== claim.rule), claim],
    claimsToRelease: [...others, ...replaced],
    forgone: forgoing(before, replaced),
  };
}
