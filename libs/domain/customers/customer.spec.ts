import { describe, expect, test } from '@jest/globals';
import { AT, given, testEveryCell } from '../../../test/transition-cells.ts';
import type { HeldClaim } from './customer.events.ts';
import {
  createdExample,
  createExample,
  customerHistories,
  customerId,
  openedExample,
  platformClaim,
  ruleAccountExample,
  umaClaim,
} from './customer.examples.ts';
import {
  AbandonClaim,
  ConfirmAccountsClosed,
  ConfirmAccountsOpened,
  ConfirmClaimsReleased,
  ConfirmRuleAccountsOpened,
  type CustomerState,
  customer,
  customerTransitions,
  DeleteCustomer,
  ErasePerson,
  RefuseDeletion,
  RequestRuleAccount,
  ResolveVerification,
  RestoreCustomer,
  StartDeletion,
  StartVerification,
  UpdateCustomer,
  verificationTransitions,
} from './customer.ts';

const newClaim = { rule: 'UMA_ADDRESS', claimId: 'claim-c', epoch: 4 } as const;
const inStatus = (status: string) => given(customer, ...customerHistories[status]!).state as CustomerState;

describe('the life of a customer', () => {
  testEveryCell(customer, customerTransitions, {
    given(status, command) {
      const state = inStatus(status);
      if (command === 'ConfirmAccountsOpened') return { ...state, accountsToOpen: ['USD'] };
      if (command === 'ConfirmClaimsReleased') return { ...state, claimsToRelease: [umaClaim] };
      if (command === 'ConfirmRuleAccountsOpened') return { ...state, ruleAccountsToOpen: [ruleAccountExample] };
      return command === 'ResolveVerification' ? { ...state, verificationStatus: 'PENDING' as const } : state;
    },
    when: {
      CreateCustomer: createExample(),
      UpdateCustomer: new UpdateCustomer({ customerId, profile: { fullName: 'Amina B. Diallo' } }),
      ConfirmAccountsOpened: new ConfirmAccountsOpened({ customerId, currencies: ['USD'] }),
      ConfirmClaimsReleased: new ConfirmClaimsReleased({ customerId, claims: [umaClaim] }),
      StartDeletion: new StartDeletion({ customerId }),
      ConfirmAccountsClosed: new ConfirmAccountsClosed({ customerId, currencies: ['USD'] }),
      RefuseDeletion: new RefuseDeletion({ customerId, closed: ['USD'] }),
      RestoreCustomer: new RestoreCustomer({ customerId }),
      DeleteCustomer: new DeleteCustomer({ customerId }),
      ErasePerson: new ErasePerson({ customerId, externalAccountIds: [] }),
      AbandonClaim: new AbandonClaim({ customerId, claimId: newClaim.claimId, epoch: 4 }),
      StartVerification: new StartVerification({ customerId }),
      ResolveVerification: new ResolveVerification({ customerId, outcome: 'APPROVED' }),
      RequestRuleAccount: new RequestRuleAccount({ customerId, ...ruleAccountExample }),
      ConfirmRuleAccountsOpened: new ConfirmRuleAccountsOpened({
        customerId,
        accountIds: [ruleAccountExample.accountId],
      }),
    },
  });
});

describe('the life of a verification', () => {
  const resolve = (outcome: 'APPROVED' | 'REJECTED' | 'HOLD' | 'UNVERIFIED') =>
    new ResolveVerification({ customerId, outcome });
  testEveryCell(customer, verificationTransitions, {
    given: (status) => ({ ...inStatus('ACTIVE'), verificationStatus: status as CustomerState['verificationStatus'] }),
    when: {
      StartVerification: new StartVerification({ customerId }),
      'ResolveVerification APPROVED': resolve('APPROVED'),
      'ResolveVerification REJECTED': resolve('REJECTED'),
      'ResolveVerification HOLD': resolve('HOLD'),
      'ResolveVerification UNVERIFIED': resolve('UNVERIFIED'),
    },
    statusOf: ({ verificationStatus }) => verificationStatus,
  });
});

describe('creation', () => {
  test('says which accounts are to be opened', () => {
    given(customer).when(createExample()).leadsTo(createdExample);
  });

  test('is refused for a claim that was given up, and takes place with a later one', () => {
    const forgone = { type: 'ClaimForgone', data: { customerId, claimId: umaClaim.claimId, epoch: 1 } };
    given(customer).when(new AbandonClaim(forgone.data)).leadsTo(forgone);
    given(customer, forgone).when(createExample()).rejects('CONFLICT', 'CLAIM_FORGONE');
    const claims = [platformClaim, { ...umaClaim, epoch: 2 }];
    given(customer, forgone)
      .when(createExample({ claims }))
      .leadsTo({ type: 'CustomerCreated', data: { ...createdExample.data, claims } });
  });

  test('waits for the end-user terms where the platform requires them', () => {
    const { requiresTerms: _, ...data } = createExample().data;
    const awaiting = { type: 'CustomerCreated', data: { ...data, isAwaitingTerms: true, accounts: [] } };
    given(customer)
      .when(createExample({ requiresTerms: true }))
      .leadsTo(awaiting);
    given(customer, awaiting)
      .when(new UpdateCustomer({ customerId, termsVersion: 'V1' }))
      .leadsTo({ type: 'CustomerUpdated', data: { customerId, termsVersion: 'V1', accounts: ['USD', 'EUR'] } });
  });

  test('opens them at once when consent comes with it', () => {
    const { data } = createdExample;
    given(customer)
      .when(createExample({ requiresTerms: true, termsVersion: 'V1' }))
      .leadsTo({ type: 'CustomerCreated', data: { ...data, termsVersion: 'V1' } });
  });
});

describe('change', () => {
  const active = () => given(customer, createdExample, openedExample);

  test('further currencies open further accounts; those taken away leave theirs', () => {
    const command = new UpdateCustomer({ customerId, currencies: ['EUR', 'MXN'] });
    active()
      .when(command)
      .leadsTo({ type: 'CustomerUpdated', data: { customerId, currencies: ['EUR', 'MXN'], accounts: ['MXN'] } });
    expect(active().when(command).state()).toMatchObject({
      currencies: ['EUR', 'MXN'],
      accounts: ['USD', 'EUR', 'MXN'],
      accountsToOpen: ['MXN'],
    });
  });

  test('business information is merged field by field, everything else is replaced', () => {
    const before = { legalName: 'Harbour Ltd', country: 'GB', taxId: '1' };
    const created = { ...createdExample, data: { ...createdExample.data, profile: { businessInfo: before } } };
    const changes = { businessInfo: { taxId: '2' }, address: { line1: 'x', postalCode: '1', country: 'GB' } };
    const after = given(customer, created)
      .when(new UpdateCustomer({ customerId, profile: changes }))
      .state();
    expect(after.profile).toEqual({
      businessInfo: { legalName: 'Harbour Ltd', country: 'GB', taxId: '2' },
      address: { line1: 'x', postalCode: '1', country: 'GB' },
    });
  });

  test('nothing that changes is no event', () => {
    active().when(new UpdateCustomer({ customerId })).leadsTo();
  });

  test('a new UMA address takes the place of the old one, whose claim is given back', () => {
    const state = active()
      .when(new UpdateCustomer({ customerId, umaAddress: '$new@example.com', claim: newClaim }))
      .state();
    expect(state).toMatchObject({
      umaAddress: '$new@example.com',
      claims: [platformClaim, newClaim],
      claimsToRelease: [umaClaim],
    });
  });

  test('the UMA address that the customer has is no change, and its claim stays', () => {
    const same = { umaAddress: '$amina@example.com', claim: umaClaim };
    active()
      .when(new UpdateCustomer({ customerId, ...same }))
      .leadsTo();
    active()
      .when(new UpdateCustomer({ customerId, ...same, profile: { fullName: 'Amina B. Diallo' } }))
      .leadsTo({
        type: 'CustomerUpdated',
        data: { customerId, profile: { fullName: 'Amina B. Diallo' }, accounts: [] },
      });
  });

  test('a later claim of the address that the customer has takes the place of the earlier one, which was lost', () => {
    const later = { ...umaClaim, epoch: 2 };
    const state = active()
      .when(new UpdateCustomer({ customerId, umaAddress: '$amina@example.com', claim: later }))
      .state();
    expect(state).toMatchObject({ claims: [platformClaim, later], claimsToRelease: [], forgone: {} });
  });

  test('logs in which the same address was set twice keep its claim', () => {
    const again = { customerId, umaAddress: '$amina@example.com', claim: umaClaim, accounts: [] };
    const { state } = given(customer, createdExample, openedExample, { type: 'CustomerUpdated', data: again });
    expect(state).toMatchObject({ claims: [platformClaim, umaClaim], claimsToRelease: [], forgone: {} });
  });

  test('a UMA address never comes without its claim', () => {
    active()
      .when(new UpdateCustomer({ customerId, umaAddress: '$new@example.com' }))
      .rejects('CONFLICT', 'UMA_ADDRESS_NOT_CLAIMED');
  });

  describe('back to an earlier UMA address', () => {
    const changed = {
      type: 'CustomerUpdated',
      data: { customerId, umaAddress: '$new@example.com', claim: newClaim, accounts: [] },
    };
    const back = (epoch: number) =>
      new UpdateCustomer({ customerId, umaAddress: '$amina@example.com', claim: { ...umaClaim, epoch } });

    test('needs another claim than the one that is, or was, to be given back', () => {
      const changedOnce = given(customer, createdExample, openedExample, changed);
      changedOnce.when(back(1)).rejects('CONFLICT', 'CLAIM_FORGONE');
      const released = { type: 'CustomerClaimsReleased', data: { customerId, claimIds: [umaClaim.claimId] } };
      given(customer, createdExample, openedExample, changed, released)
        .when(back(1))
        .rejects('CONFLICT', 'CLAIM_FORGONE');
      expect(changedOnce.when(back(2)).state()).toMatchObject({
        umaAddress: '$amina@example.com',
        claims: [platformClaim, { ...umaClaim, epoch: 2 }],
        claimsToRelease: [umaClaim, newClaim],
      });
    });

    test('and away from it again leaves one claim of each value to give back: the later one', () => {
      const again = { ...umaClaim, epoch: 2 };
      const { state } = given(
        customer,
        createdExample,
        openedExample,
        changed,
        { type: 'CustomerUpdated', data: { ...back(2).data, accounts: [] } },
        { type: 'CustomerUpdated', data: { ...changed.data, claim: { ...newClaim, epoch: 5 } } },
      );
      expect(state).toMatchObject({
        claims: [platformClaim, { ...newClaim, epoch: 5 }],
        claimsToRelease: [newClaim, again],
        forgone: { [umaClaim.claimId]: 2, [newClaim.claimId]: 4 },
      });
      const confirm = (...claims: HeldClaim[]) =>
        customer.decide(state, new ConfirmClaimsReleased({ customerId, claims }));
      expect(confirm(umaClaim)).toEqual([]);
      expect(confirm(again)).toEqual([
        { type: 'CustomerClaimsReleased', data: { customerId, claimIds: [again.claimId] } },
      ]);
    });
  });

  test('a claim that was taken away cannot be used any more, a later one can', () => {
    const taken = { type: 'ClaimForgone', data: { customerId, claimId: newClaim.claimId, epoch: 4 } };
    const change = (epoch: number) =>
      new UpdateCustomer({ customerId, umaAddress: '$new@example.com', claim: { ...newClaim, epoch } });
    given(customer, createdExample, openedExample, taken).when(change(4)).rejects('CONFLICT', 'CLAIM_FORGONE');
    expect(given(customer, createdExample, openedExample, taken).when(change(5)).state().umaAddress).toBe(
      '$new@example.com',
    );
  });

  test('a claim in use is not given up', () => {
    active()
      .when(new AbandonClaim({ customerId, claimId: umaClaim.claimId, epoch: 1 }))
      .rejects('CONFLICT', 'CLAIM_IN_USE');
  });

  test('a claim is given up once', () => {
    const forgone = { type: 'ClaimForgone', data: { customerId, claimId: newClaim.claimId, epoch: 4 } };
    const give = (epoch: number) => new AbandonClaim({ customerId, claimId: newClaim.claimId, epoch });
    active().when(give(4)).leadsTo(forgone);
    given(customer, createdExample, openedExample, forgone).when(give(4)).leadsTo();
    given(customer, createdExample, openedExample, forgone).when(give(3)).leadsTo();
  });
});

describe('deletion', () => {
  test('waits for what is under way', () => {
    given(customer, createdExample).when(new StartDeletion({ customerId })).rejects('CONFLICT', 'CHANGE_IN_PROGRESS');
  });

  test('refused before any account was closed leaves the customer as it was', () => {
    const before = inStatus('ACTIVE');
    const after = given(customer, ...customerHistories.DELETING!)
      .when(new RefuseDeletion({ customerId, closed: [] }))
      .state();
    expect(after).toEqual(before);
  });

  test('refused later opens the closed accounts again', () => {
    expect(inStatus('RESTORING')).toMatchObject({ accountsToClose: [], accountsToReopen: ['USD'] });
    const after = given(customer, ...customerHistories.RESTORING!)
      .when(new RestoreCustomer({ customerId }))
      .state();
    expect(after).toEqual(inStatus('ACTIVE'));
  });

  test('gives back what the customer had alone', () => {
    expect(inStatus('DELETED')).toMatchObject({ claims: [], claimsToRelease: [platformClaim, umaClaim], accounts: [] });
  });

  test('an erased person leaves nothing behind', () => {
    const state = inStatus('ERASED');
    const { profile, umaAddress, identifier, endUserTermsConsent } = state;
    expect({ profile, umaAddress, identifier, endUserTermsConsent }).toEqual({ profile: {} });
    expect(JSON.stringify(state)).not.toMatch(/amina@|Diallo|6789/);
  });
});

test('reading a history whose key was destroyed gives the same state but for the person', () => {
  const { umaAddress: _, profile: __, identifier: ___, ...rest } = createdExample.data;
  const erased = { type: 'CustomerCreated', data: rest };
  const after = given(customer, erased, ...customerHistories.ERASED!.slice(1)).state;
  expect(after).toEqual(inStatus('ERASED'));
  expect(after.createdAt).toBe(AT);
});

describe('a rule-based account', () => {
  const requested = { type: 'RuleAccountRequested', data: { customerId, ...ruleAccountExample } };
  const opened = { type: 'RuleAccountsOpened', data: { customerId, accountIds: [ruleAccountExample.accountId] } };

  test('is the customer’s before it is opened, and until then the customer cannot be deleted', () => {
    const asked = given(customer, createdExample, openedExample, requested);
    expect(asked.state).toMatchObject({
      ruleAccounts: [ruleAccountExample.accountId],
      ruleAccountsToOpen: [ruleAccountExample],
    });
    asked.when(new StartDeletion({ customerId })).rejects('CONFLICT', 'CHANGE_IN_PROGRESS');
  });

  test('is closed before the ordinary accounts, which take what it cannot sweep', () => {
    const state = given(customer, createdExample, openedExample, requested, opened)
      .when(new StartDeletion({ customerId }))
      .state();
    expect(state.accountsToClose).toEqual([ruleAccountExample.accountId, 'USD', 'EUR']);
  });
});
