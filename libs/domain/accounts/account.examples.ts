import type { AccountEvent, AccountOpenedData, Deposit, Leg, SweepRule, SweepTexts } from './account.events.ts';
import {
  type AccountCommand,
  CloseAccount,
  ConfirmSweepsStarted,
  CreditAccount,
  DebitAccount,
  OpenAccount,
  PendFunds,
  PostFunds,
  ReceiveDeposit,
  ReopenAccount,
  VoidFunds,
} from './account.ts';

const accountId = '0199d8a0-0000-7000-8000-00000000000a';

export const opening: AccountOpenedData = {
  accountId,
  tenantId: '0199d8a0-0000-7000-8000-000000000001.sandbox',
  customerId: '0199d8a0-0000-7000-8000-0000000000c1',
  platformCustomerId: 'user-1',
  currency: 'USD',
  type: 'INTERNAL_FIAT',
};

/** A leg of payment `payment`, by default P1. */
export const leg = (amountMinor: bigint, payment = 'P1'): Leg => ({
  accountId,
  currency: 'USD',
  amountMinor,
  counterpart: `transit:${payment}`,
  paymentId: payment,
});

export const deposit = (amountMinor: bigint, payment = 'D1'): Deposit => ({
  ...leg(amountMinor, payment),
  counterpart: 'mint:USD',
  tenantId: opening.tenantId,
  customerId: opening.customerId!,
  platformCustomerId: opening.platformCustomerId,
  reference: `FUND-${payment}`,
});

export const opened: AccountEvent = { type: 'AccountOpened', data: opening };
export const received = (amountMinor: bigint, payment?: string): AccountEvent => ({
  type: 'DepositReceived',
  data: deposit(amountMinor, payment),
});
const moved = (type: 'AccountCredited' | 'AccountDebited' | 'FundsPended' | 'FundsPosted' | 'FundsVoided') => {
  return (amountMinor: bigint, payment?: string): AccountEvent => ({ type, data: leg(amountMinor, payment) });
};
export const credited = moved('AccountCredited');
export const debited = moved('AccountDebited');
export const pended = moved('FundsPended');
export const posted = moved('FundsPosted');
export const voided = moved('FundsVoided');
export const closed: AccountEvent = { type: 'AccountClosed', data: { accountId } };

/** What arrives goes on to an account of somebody else. */
export const rule: SweepRule = {
  canonicalAccountId: '0199d8a0-0000-7000-8000-00000000000b',
  destination: { kind: 'INTERNAL', accountId: '0199d8a0-0000-7000-8000-00000000000c' },
  minimumMinor: 1n,
  maximumMinor: 1_000_000n,
};
export const ruleSetWith = (texts: SweepTexts): AccountEvent => ({
  type: 'SweepRuleSet',
  data: { accountId, subject: opening.customerId!, rule, ...texts },
});
export const ruleSet = ruleSetWith({ label: 'Rent' });
export const requested = (amountMinor: bigint, paymentId = 'D1'): AccountEvent => ({
  type: 'SweepRequested',
  data: { accountId, paymentId, amountMinor },
});

/** A command of each name, fit for an account with 100 of which payment P1 holds what it moves. */
export const commands = {
  OpenAccount: new OpenAccount(opening),
  ReceiveDeposit: new ReceiveDeposit(deposit(100n)),
  CreditAccount: new CreditAccount(leg(50n)),
  DebitAccount: new DebitAccount(leg(50n)),
  PendFunds: new PendFunds(leg(50n)),
  PostFunds: new PostFunds(leg(50n)),
  VoidFunds: new VoidFunds(leg(50n)),
  CloseAccount: new CloseAccount({ accountId }),
  ReopenAccount: new ReopenAccount({ accountId }),
  ConfirmSweepsStarted: new ConfirmSweepsStarted({ accountId, paymentIds: ['D1'] }),
} satisfies Record<AccountCommand['type'], AccountCommand>;

/** What an example ends with: the events, exactly and in order, or a refusal's code and reason. */
type Outcome = readonly AccountEvent[] | readonly [code: string, reason?: string];

const poor: Outcome = ['INVALID_INPUT', 'INSUFFICIENT_FUNDS'];
const notPended: Outcome = ['CONFLICT', 'NOT_PENDED'];
const other = { ...leg(10n), currency: 'EUR' };

/** Given, when, then: what the transition table cannot say. */
export const examples: readonly [title: string, given: readonly AccountEvent[], when: AccountCommand, then: Outcome][] =
  [
    ['all of the available is debited', [opened, received(100n)], new DebitAccount(leg(100n)), [debited(100n)]],
    ['one more than the available is not', [opened, received(100n)], new DebitAccount(leg(101n)), poor],
    ['nor anything of an empty account', [opened], new DebitAccount(leg(1n)), poor],
    ['what is held cannot be debited', [opened, received(100n), pended(60n, 'P2')], new DebitAccount(leg(41n)), poor],
    ['the rest can', [opened, received(100n), pended(60n, 'P2')], new DebitAccount(leg(40n)), [debited(40n)]],
    ['what is held cannot be held again', [opened, received(100n), pended(60n, 'P2')], new PendFunds(leg(41n)), poor],
    [
      'a payment holds once',
      [opened, received(100n), pended(10n)],
      new PendFunds(leg(10n)),
      ['CONFLICT', 'ALREADY_PENDED'],
    ],
    [
      'what was voided is available',
      [opened, received(9n), pended(9n), voided(9n)],
      new PendFunds(leg(9n)),
      [pended(9n)],
    ],
    ['what was posted is gone', [opened, received(9n), pended(9n), posted(9n)], new PendFunds(leg(1n)), poor],
    ['what was credited back is available', [opened, credited(7n)], new DebitAccount(leg(7n)), [debited(7n)]],
    ['exactly what is held is posted', [opened, received(100n), pended(10n)], new PostFunds(leg(9n)), notPended],
    ['and not more', [opened, received(100n), pended(10n)], new PostFunds(leg(11n)), notPended],
    ['by the payment that holds it', [opened, received(100n), pended(10n, 'P2')], new PostFunds(leg(10n)), notPended],
    ['once', [opened, received(100n), pended(10n), posted(10n)], new PostFunds(leg(10n)), notPended],
    ['not after it was voided', [opened, received(100n), pended(10n), voided(10n)], new PostFunds(leg(10n)), notPended],
    ['exactly what is held is voided', [opened, received(100n), pended(10n)], new VoidFunds(leg(9n)), notPended],
    ['not after it was posted', [opened, received(100n), pended(10n), posted(10n)], new VoidFunds(leg(10n)), notPended],
    ['an amount is positive', [opened, received(100n)], new DebitAccount(leg(0n)), ['INVALID_AMOUNT']],
    ['also what comes in', [opened], new ReceiveDeposit(deposit(-1n)), ['INVALID_AMOUNT']],
    ['also what is credited', [opened], new CreditAccount(leg(0n)), ['INVALID_AMOUNT']],
    [
      'a debit is in the currency of the account',
      [opened, received(100n)],
      new DebitAccount(other),
      ['INVALID_CURRENCY'],
    ],
    ['so is a credit', [opened], new CreditAccount(other), ['INVALID_CURRENCY']],
    [
      'a deposit up to the largest balance',
      [opened, received(1n)],
      new ReceiveDeposit(deposit(8_999_999_999_999_999n)),
      [received(8_999_999_999_999_999n)],
    ],
    [
      'and not beyond',
      [opened, received(1n)],
      new ReceiveDeposit(deposit(9_000_000_000_000_000n)),
      ['AMOUNT_OUT_OF_RANGE'],
    ],
    [
      'what comes back is taken beyond it',
      [opened, received(9_000_000_000_000_000n)],
      new CreditAccount({ ...leg(7_199_254_740_991n), isRefund: true }),
      [{ type: 'AccountCredited', data: { ...leg(7_199_254_740_991n), isRefund: true } }],
    ],
    [
      'but not beyond what JSON can tell',
      [opened, received(9_000_000_000_000_000n)],
      new CreditAccount({ ...leg(7_199_254_740_992n), isRefund: true }),
      ['AMOUNT_OUT_OF_RANGE'],
    ],
    [
      'an account with funds is not closed',
      [opened, received(1n)],
      commands.CloseAccount,
      ['CONFLICT', 'ACCOUNT_NOT_EMPTY'],
    ],
    ['an emptied one is', [opened, received(1n), debited(1n)], commands.CloseAccount, [closed]],
    [
      'a closed one takes nothing any more',
      [opened, closed],
      new ReceiveDeposit(deposit(1n)),
      ['CONFLICT', 'ACCOUNT_CLOSED'],
    ],
    [
      'a rule-based account opens with its rule',
      [],
      new OpenAccount({ ...opening, type: 'RULE_BASED', rule, label: 'Rent' }),
      [{ type: 'AccountOpened', data: { ...opening, type: 'RULE_BASED' } }, ruleSet],
    ],
    [
      'a deposit on it asks for its sweep',
      [opened, ruleSet],
      new ReceiveDeposit(deposit(5n)),
      [received(5n), requested(5n)],
    ],
    ['so does a payment to it', [opened, ruleSet], new CreditAccount(leg(5n)), [credited(5n), requested(5n, 'P1')]],
    [
      'what its own sweep gets back does not',
      [opened, ruleSet],
      new CreditAccount({ ...leg(5n), isRefund: true }),
      [{ type: 'AccountCredited', data: { ...leg(5n), isRefund: true } }],
    ],
    [
      'a sweep that began is not asked for any more',
      [
        opened,
        ruleSet,
        received(5n),
        requested(5n),
        { type: 'SweepsStarted', data: { accountId, paymentIds: ['D1'] } },
      ],
      new ConfirmSweepsStarted({ accountId, paymentIds: ['D1'] }),
      [],
    ],
  ];
