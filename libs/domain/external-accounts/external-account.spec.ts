import { describe, expect, test } from '@jest/globals';
import { testEveryCell } from '../../../test/transition-cells.ts';
import { Rejection } from '../../kernel/errors.ts';
import { accountExamples, withSuffix } from './account.examples.ts';
import { accountTypeNames } from './account-types.ts';
import { addExample, exampleChallengeId, startExample, stateAfter } from './external-account.examples.ts';
import {
  AbandonExternalAccount,
  ConfirmDefaultChosen,
  ConfirmReleased,
  challengeMessage,
  DeleteExternalAccount,
  type ExternalAccountCommand,
  type ExternalAccountState,
  externalAccount,
  externalAccountTransitions,
  type LivenessOutcome,
  ProveOwnership,
  RecordLivenessOutcome,
} from './external-account.ts';
import type { OwnershipVerdict } from './ownership.ts';

const IN_TIME = '2025-10-13T11:59:59.999Z';
const TOO_LATE = '2025-10-13T12:00:00.000Z';
const ownWallet = addExample('BASE_WALLET', { currency: 'USDC', ownershipType: 'FIRST_PARTY' });
const { externalAccountId } = ownWallet.data;
const prove = (verdict: OwnershipVerdict, now = IN_TIME, challengeId = exampleChallengeId) =>
  new ProveOwnership({ externalAccountId, challengeId, verdict, now });
const liveness = (outcome: LivenessOutcome, now = IN_TIME, challengeId = exampleChallengeId) =>
  new RecordLivenessOutcome({ externalAccountId, challengeId, outcome, now });

/** What a command leads to: its events, or its refusal as code and reason. */
function decided(state: ExternalAccountState, command: ExternalAccountCommand) {
  const decision = externalAccount.decide(state, command);
  return decision instanceof Rejection ? `${decision.code} ${decision.details?.reason ?? ''}`.trim() : decision;
}

describe('the state machine, with a challenge of the method that the command answers', () => {
  testEveryCell(externalAccount, externalAccountTransitions, {
    given(status, command) {
      const method = command === 'RecordLivenessOutcome' ? 'LIVENESS' : 'WALLET_SIGNATURE';
      const state = stateAfter(ownWallet, startExample(method));
      return { ...state, status, isDefaultWanted: true, isReleasePending: true };
    },
    when: {
      AddExternalAccount: addExample('USD_ACCOUNT'),
      StartOwnershipChallenge: startExample('LIVENESS'),
      ProveOwnership: prove({ valid: true }),
      RecordLivenessOutcome: liveness('COMPLETED'),
      ConfirmDefaultChosen: new ConfirmDefaultChosen({ externalAccountId }),
      DeleteExternalAccount: new DeleteExternalAccount({ externalAccountId }),
      ConfirmReleased: new ConfirmReleased({ externalAccountId }),
      AbandonExternalAccount: new AbandonExternalAccount({ externalAccountId }),
    },
  });
});

describe('a new account', () => {
  test('keeps what its identifiers say, in the event, where it can be read without them', () => {
    const add = addExample('USD_ACCOUNT', { platformAccountId: 'mine', verifiedFullName: 'Amina Diallo' });
    expect(decided(externalAccount.initial, add)).toEqual([
      {
        type: 'ExternalAccountAdded',
        data: {
          ...add.data,
          subjectId: add.data.customerId,
          status: 'ACTIVE',
          accountType: 'USD_ACCOUNT',
          identifierSuffix: '789',
          paymentRails: ['ACH', 'WIRE', 'RTP', 'FEDNOW'],
          isSelfCustody: false,
          isPullable: true,
        },
      },
    ]);
  });

  test("belongs to the customer's personal data, or to its own when it is the platform's", () => {
    const { customerId: _, ...data } = addExample('USD_ACCOUNT').data;
    const state = stateAfter({ ...addExample('USD_ACCOUNT'), data });
    expect(state.subjectId).toBe(externalAccountId);
    expect(state).not.toHaveProperty('customerId');
    expect(stateAfter(addExample('USD_ACCOUNT')).subjectId).toBe(addExample('USD_ACCOUNT').data.customerId);
  });

  test.each([
    ['FIRST_PARTY', undefined, 'PENDING_OWNERSHIP_VERIFICATION', true],
    ['FIRST_PARTY', 'Coin House', 'ACTIVE', false],
    ['THIRD_PARTY', undefined, 'ACTIVE', true],
    [undefined, undefined, 'ACTIVE', true],
  ] as const)('a wallet, %s with vaspName %s, is %s', (ownershipType, vaspName, status, isSelfCustody) => {
    const accountInfo = { ...accountExamples.BASE_WALLET, ...(vaspName && { vaspName }) };
    const state = stateAfter(addExample('BASE_WALLET', { accountInfo, ...(ownershipType && { ownershipType }) }));
    expect(state).toMatchObject({ status, isSelfCustody });
  });

  test('Lightning has no key to prove anything with, and money is pulled over ACH only', () => {
    expect(stateAfter(addExample('LIGHTNING', { ownershipType: 'FIRST_PARTY' }))).toMatchObject({ status: 'ACTIVE' });
    const pullable = accountTypeNames.filter((type) => stateAfter(addExample(type)).isPullable);
    expect(pullable).toEqual(['USD_ACCOUNT']);
  });

  test('remembers the suffix that decides sandbox outcomes', () => {
    const accountInfo = withSuffix('MXN_ACCOUNT', '005');
    expect(stateAfter(addExample('MXN_ACCOUNT', { accountInfo })).identifierSuffix).toBe('005');
  });
});

describe('ownership', () => {
  const outcome = { externalAccountId, challengeId: exampleChallengeId };
  const asked = (method: 'WALLET_SIGNATURE' | 'LIVENESS') => stateAfter(ownWallet, startExample(method));

  test('a valid signature in time activates the account and uses the challenge up', () => {
    const state = asked('WALLET_SIGNATURE');
    expect(decided(state, prove({ valid: true }))).toEqual([
      {
        type: 'OwnershipVerified',
        data: { ...outcome, method: 'WALLET_SIGNATURE', previousStatus: 'PENDING_OWNERSHIP_VERIFICATION' },
      },
    ]);
    const verified = stateAfter(ownWallet, startExample('WALLET_SIGNATURE'), prove({ valid: true }));
    expect(verified).not.toHaveProperty('challenge');
    expect(decided(verified, prove({ valid: true }))).toBe('CONFLICT ALREADY_VERIFIED');
    expect(decided(verified, startExample('LIVENESS'))).toBe('CONFLICT ALREADY_VERIFIED');
  });

  test.each([
    [{ valid: false, reason: 'WRONG_SIGNER' }, IN_TIME, 'WRONG_SIGNER'],
    [{ valid: false, reason: 'MALFORMED_SIGNATURE' }, IN_TIME, 'MALFORMED_SIGNATURE'],
    [{ valid: true }, TOO_LATE, 'CHALLENGE_EXPIRED'],
    [{ valid: false, reason: 'WRONG_SIGNER' }, TOO_LATE, 'CHALLENGE_EXPIRED'],
  ] as const)('%j at %s fails with %s, and a new challenge is needed', (verdict, now, reason) => {
    const [event] = decided(asked('WALLET_SIGNATURE'), prove(verdict, now)) as [{ type: string; data: object }];
    expect(event).toMatchObject({ type: 'OwnershipVerificationFailed', data: { ...outcome, reason } });
    const failed = stateAfter(ownWallet, startExample('WALLET_SIGNATURE'), prove(verdict, now));
    expect(failed.status).toBe('UNVERIFIED');
    expect(decided(failed, prove({ valid: true }))).toBe('CONFLICT NO_OUTSTANDING_CHALLENGE');
    const again = stateAfter(
      ownWallet,
      startExample('WALLET_SIGNATURE'),
      prove(verdict, now),
      startExample('LIVENESS'),
    );
    expect(again).toMatchObject({ status: 'PENDING_OWNERSHIP_VERIFICATION', challenge: { method: 'LIVENESS' } });
  });

  test.each([
    ['COMPLETED', 'ACTIVE', 'OwnershipVerified'],
    ['FAILED', 'UNVERIFIED', 'OwnershipVerificationFailed'],
  ] as const)('a liveness check that %s makes it %s', (result, status, type) => {
    expect(decided(asked('LIVENESS'), liveness(result))).toMatchObject([{ type }]);
    expect(stateAfter(ownWallet, startExample('LIVENESS'), liveness(result)).status).toBe(status);
  });

  test('only the outstanding challenge can be answered, by its own method, a liveness check in time', () => {
    const none = 'CONFLICT NO_OUTSTANDING_CHALLENGE';
    expect(decided(stateAfter(ownWallet), prove({ valid: true }))).toBe(none);
    expect(decided(stateAfter(ownWallet), liveness('COMPLETED'))).toBe(none);
    expect(decided(asked('LIVENESS'), prove({ valid: true }))).toBe(none);
    expect(decided(asked('WALLET_SIGNATURE'), liveness('COMPLETED'))).toBe(none);
    expect(decided(asked('WALLET_SIGNATURE'), prove({ valid: true }, IN_TIME, 'another'))).toBe(none);
    expect(decided(asked('LIVENESS'), liveness('COMPLETED', IN_TIME, 'another'))).toBe(none);
    expect(decided(asked('LIVENESS'), liveness('FAILED', TOO_LATE))).toBe('CONFLICT CHALLENGE_EXPIRED');
  });

  test('is asked of wallets in self-custody that belong to the customer, whatever their status', () => {
    const custodial = { ...accountExamples.BASE_WALLET, vaspName: 'Coin House' };
    const refusals = [
      addExample('USD_ACCOUNT', { ownershipType: 'FIRST_PARTY' }),
      addExample('LIGHTNING', { ownershipType: 'FIRST_PARTY' }),
      addExample('BASE_WALLET', { accountInfo: custodial, ownershipType: 'FIRST_PARTY' }),
      addExample('BASE_WALLET', { ownershipType: 'THIRD_PARTY' }),
      addExample('BASE_WALLET'),
    ].map((add) => decided(stateAfter(add), startExample('WALLET_SIGNATURE')));
    const [custody, party] = ['CONFLICT NOT_SELF_CUSTODY', 'CONFLICT NOT_FIRST_PARTY'];
    expect(refusals).toEqual([custody, custody, custody, party, party]);
  });

  test('the message names the wallet, the account, the end and the nonce', () => {
    const message = challengeMessage({
      address: '0xabc',
      accountId: 'ExternalAccount:1',
      expiresAt: TOO_LATE,
      nonce: 'n1',
    });
    expect(message).toBe(
      `I confirm that I control the wallet 0xabc and register it as ExternalAccount:1. Valid until ${TOO_LATE}. Nonce: n1`,
    );
  });
});

test('no decision stands on a personal field: the same events without them lead to the same decisions', () => {
  const { accountInfo: _, verifiedFullName: __, ...erased } = stateAfter(ownWallet);
  const { challenge } = stateAfter(ownWallet, startExample('WALLET_SIGNATURE'));
  const { messageToSign: ___, ...rest } = challenge!;
  const state = { ...erased, challenge: rest };
  expect(decided(state, prove({ valid: true }))).toMatchObject([{ type: 'OwnershipVerified' }]);
  expect(decided(state, new DeleteExternalAccount({ externalAccountId }))).toMatchObject([
    { type: 'ExternalAccountDeleted' },
  ]);
});
