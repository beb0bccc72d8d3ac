import { describe, expect, test } from '@jest/globals';
import type { Command } from '../../kernel/messages.ts';
import { addExample, stateAfter } from './external-account.examples.ts';
import { serveExternalAccount } from './external-account.process.ts';
import {
  AbandonExternalAccount,
  ConfirmDefaultChosen,
  ConfirmReleased,
  DeleteExternalAccount,
  type ExternalAccountState,
} from './external-account.ts';

const wanted = addExample('USD_ACCOUNT', { isDefaultWanted: true });
const { externalAccountId, customerId, tenantId } = wanted.data;
const plain = (command: Command) => ({ type: command.type, data: command.data });

/** The commands of the next step and what follows them. */
function step(state: ExternalAccountState) {
  const next = serveExternalAccount.next(state);
  if (!next || !('sends' in next)) return next;
  return { sends: next.sends.map(plain), after: plain(next.after()) };
}

describe('what is left to be done for an account', () => {
  test('one that is to be the default is made it, once', () => {
    const state = stateAfter(wanted);
    expect(step(state)).toEqual({
      sends: [
        {
          type: 'ChooseUmaDepositAccount',
          data: { customerId, tenantId, externalAccountId, addedAt: state.createdAt },
        },
      ],
      after: { type: 'ConfirmDefaultChosen', data: { externalAccountId } },
    });
    expect(step(stateAfter(wanted, new ConfirmDefaultChosen({ externalAccountId })))).toBeUndefined();
  });

  test('any other one needs nothing', () => {
    expect(step(stateAfter(addExample('USD_ACCOUNT')))).toBeUndefined();
    expect(step(stateAfter(new AbandonExternalAccount({ externalAccountId })))).toBeUndefined();
  });

  test.each([['the default'], ['an ordinary one']])('a deleted account gives back what it had: %s', (kind) => {
    const add = kind === 'the default' ? wanted : addExample('USD_ACCOUNT');
    expect(step(stateAfter(add, new DeleteExternalAccount({ externalAccountId })))).toEqual({
      sends: [
        { type: 'ReleaseValue', data: { claimId: 'claim', rule: 'EXTERNAL_ACCOUNT_EXISTS', owner: externalAccountId } },
        { type: 'ClearUmaDepositAccount', data: { customerId, externalAccountId } },
      ],
      after: { type: 'ConfirmReleased', data: { externalAccountId } },
    });
    const released = [new DeleteExternalAccount({ externalAccountId }), new ConfirmReleased({ externalAccountId })];
    expect(step(stateAfter(add, ...released))).toBeUndefined();
  });

  test("a deleted account of the platform's gives its claim back", () => {
    const { customerId: _, ...data } = addExample('USD_ACCOUNT').data;
    const deleted = stateAfter(
      { ...addExample('USD_ACCOUNT'), data },
      new DeleteExternalAccount({ externalAccountId }),
    );
    expect(step(deleted)).toMatchObject({ sends: [{ type: 'ReleaseValue' }] });
  });
});
