import { accountExamples } from './account.examples.ts';
import type { AccountType } from './account-types.ts';
import {
  AddExternalAccount,
  type ExternalAccountState,
  externalAccount,
  StartOwnershipChallenge,
} from './external-account.ts';

const externalAccountId = '019542f5-b3e7-7d02-8000-000000000001';
const tenantId = '019542f5-0000-7000-8000-000000000001.sandbox';
const customerId = '019542f5-0000-7000-8000-000000000002';
export const exampleChallengeId = '019542f5-0000-7000-8000-000000000003';

/** The command that adds the example account of a type for a customer. */
export function addExample(
  accountType: AccountType,
  more: Partial<AddExternalAccount['data']> = {},
): AddExternalAccount {
  return new AddExternalAccount({
    externalAccountId,
    tenantId,
    customerId,
    currency: 'USD',
    accountInfo: accountExamples[accountType],
    beneficiaryVerificationStatus: 'MATCHED',
    claimId: 'claim',
    ...more,
  });
}

/** Starts a challenge of either method that expires at noon. */
export const startExample = (method: 'WALLET_SIGNATURE' | 'LIVENESS'): StartOwnershipChallenge =>
  new StartOwnershipChallenge({
    externalAccountId,
    challengeId: exampleChallengeId,
    method,
    expiresAt: '2025-10-13T12:00:00.000Z',
    ...(method === 'LIVENESS' ? { token: 'token' } : { messageToSign: 'message' }),
  });

/** The state after these commands, one after the other, from nothing. Throws the first refusal. */
export function stateAfter(...commands: Parameters<typeof externalAccount.decide>[1][]): ExternalAccountState {
  return commands.reduce((state, command) => {
    const decision = externalAccount.decide(state, command);
    if (decision instanceof Error) throw decision;
    return decision.reduce(
      (folded, event) => externalAccount.evolve(folded, { ...event, at: '2025-10-13T11:00:00.000Z' }),
      state,
    );
  }, externalAccount.initial);
}
