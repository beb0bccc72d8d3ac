import type { Process, Refused, Step } from '../../kernel/process.ts';
import { ReleaseValue } from '../claims/claim.ts';
import {
  ConfirmDefaultChosen,
  ConfirmReleased,
  type ExternalAccountState,
  externalAccount,
} from './external-account.ts';
import { ChooseUmaDepositAccount, ClearUmaDepositAccount } from './uma-deposit.ts';

/** The rule under which the claim on an external account is held: a holder has an account once per currency. */
export const accountRule = 'EXTERNAL_ACCOUNT_EXISTS';

function next(state: ExternalAccountState): Step | undefined {
  if (state.status === 'DELETED') return state.isReleasePending && releasing(state);
  return state.isDefaultWanted && choosing(state);
}

function choosing({ externalAccountId, customerId, tenantId, createdAt: addedAt }: ExternalAccountState): Step {
  const choose = customerId && [new ChooseUmaDepositAccount({ customerId, tenantId, externalAccountId, addedAt })];
  return { sends: choose || [], after: confirmed(new ConfirmDefaultChosen({ externalAccountId })) };
}

function releasing({ externalAccountId, customerId, claimId }: ExternalAccountState): Step {
  const release = new ReleaseValue({ claimId, rule: accountRule, owner: externalAccountId });
  const clear = customerId && [new ClearUmaDepositAccount({ customerId, externalAccountId })];
  return { sends: [release, ...(clear || [])], after: confirmed(new ConfirmReleased({ externalAccountId })) };
}

/** None of these steps can be refused: a fault must stop the process and be seen. */
const confirmed =
  <C>(command: C) =>
  (refused?: Refused): C => {
    if (refused) throw new Error(`a step that cannot be refused was refused: ${refused.rejection.code}`);
    return command;
  };

/**
 * Makes a new account the customer's default where that was asked, and gives back what a deleted one had alone, also when the
 * request that began it has died.
 */
export const serveExternalAccount: Process<ExternalAccountState> = {
  name: 'serveExternalAccount',
  decider: externalAccount,
  startsOn: ['ExternalAccountAdded', 'ExternalAccountDeleted'],
  next,
  dueAt: () => undefined,
  wake: () => undefined,
};
