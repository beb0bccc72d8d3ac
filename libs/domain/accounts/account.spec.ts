import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { AT, given, testEveryCell } from '../../../test/transition-cells.ts';
import { Rejection } from '../../kernel/errors.ts';
import { fromJson, toJson } from '../../kernel/json.ts';
import type { Event } from '../../kernel/messages.ts';
import type { AccountEvent, Leg } from './account.events.ts';
import {
  closed,
  commands,
  examples,
  leg,
  opened,
  opening,
  pended,
  posted,
  received,
  requested,
  ruleSetWith,
} from './account.examples.ts';
import {
  type AccountState,
  accountTransitions,
  availableMinor,
  DebitAccount,
  account as decider,
  PendFunds,
} from './account.ts';

/** The state after the events that lead to a status, such that the command of that name fits. */
function stateFor(status: string, command: keyof typeof commands): AccountState {
  const held = command === 'PostFunds' || command === 'VoidFunds' ? [pended(50n)] : [];
  const arrived = command === 'ConfirmSweepsStarted' ? [requested(100n)] : [];
  const funded = command === 'CloseAccount' ? [] : [received(100n), ...held];
  const history = {
    NONE: [],
    ACTIVE: [opened, ...funded, ...arrived],
    CLOSED: [opened, ...arrived, closed],
  }[status];
  return given(decider, ...(history ?? [])).state;
}

describe('a snapshot of an internal account', () => {
  const { personal, holdsPersonal } = decider;
  const busy = [opened, received(100n), pended(50n), requested(100n)];

  test('is made of what holds no text that a person wrote', () => {
    const [fields, ...others] = Object.values(personal!).map((one) => one.fields);
    expect(others).toEqual([]);
    const holds = (...events: AccountEvent[]) => holdsPersonal!(given(decider, ...busy, ...events).state);
    expect([holds(), holds(ruleSetWith({}))]).toEqual([false, false]);
    expect(fields!.map((field) => holds(ruleSetWith({ [field]: 'Rent' })))).toEqual([true, true, true]);
  });

  test('is read back as what it was made of', () => {
    const { state } = given(decider, ...busy, ruleSetWith({}));
    expect(fromJson(toJson(state))).toEqual(state);
  });
});

describe('an internal account', () => {
  testEveryCell(decider, accountTransitions, { given: stateFor, when: commands });

  test.each(examples)('%s', (_, before, when, then) => {
    const [first, reason] = then;
    const outcome = given(decider, ...before).when(when);
    if (typeof first === 'string') outcome.rejects(first, reason as string | undefined);
    else outcome.leadsTo(...(then as AccountEvent[]));
  });

  test('shows whose it is, what is posted, what is held and by whom', () => {
    const { state } = given(decider, opened, received(100n), pended(30n, 'P1'), pended(20n, 'P2'), posted(30n, 'P1'));
    expect(state).toEqual({
      ...opening,
      status: 'ACTIVE',
      postedMinor: 70n,
      pendingMinor: 20n,
      reservations: { P2: { heldMinor: 20n } },
      createdAt: AT,
      updatedAt: AT,
    });
    expect(availableMinor(state)).toBe(50n);
  });

  describe('the limit of a day', () => {
    const data = (amountMinor: bigint, paymentId: string, day = '2026-01-01') => ({
      ...leg(amountMinor, paymentId),
      daily: { day, limitMinor: 100n },
    });
    const debited = (...of: Parameters<typeof data>) => ({ type: 'AccountDebited' as const, data: data(...of) });
    const held = (...of: Parameters<typeof data>) => ({ type: 'FundsPended' as const, data: data(...of) });
    const rich = [opened, received(1_000n)];

    test('counts what is debited and what is reserved, together, and may be reached', () => {
      const sixty = given(decider, ...rich, debited(30n, 'P1'), held(30n, 'P2'));
      sixty.when(new DebitAccount(data(41n, 'P3'))).rejects('DAILY_VOLUME_LIMIT_EXCEEDED');
      sixty.when(new PendFunds(data(41n, 'P3'))).rejects('DAILY_VOLUME_LIMIT_EXCEEDED');
      sixty.when(new DebitAccount(data(40n, 'P3'))).leadsTo(debited(40n, 'P3'));
    });

    test('is free again for what was released or came back on the day, and on the next day', () => {
      const spent = [...rich, debited(60n, 'P1'), held(40n, 'P2')];
      const again = new DebitAccount(data(40n, 'P3'));
      const released = { type: 'FundsVoided' as const, data: data(40n, 'P2') };
      given(decider, ...spent)
        .when(again)
        .rejects('DAILY_VOLUME_LIMIT_EXCEEDED');
      given(decider, ...spent, released)
        .when(again)
        .leadsTo(debited(40n, 'P3'));
      const back = { type: 'AccountCredited' as const, data: { ...data(60n, 'P1'), isRefund: true as const } };
      given(decider, ...spent, back)
        .when(again)
        .leadsTo(debited(40n, 'P3'));
      const tomorrow = data(100n, 'P3', '2026-01-02');
      given(decider, ...spent)
        .when(new DebitAccount(tomorrow))
        .leadsTo({ type: 'AccountDebited', data: tomorrow });
    });

    test('does not change for what comes back from an earlier day, nor grow by an order that arrives late', () => {
      const nextDay = [...rich, debited(60n, 'P1'), debited(100n, 'P2', '2026-01-02')];
      const back = { type: 'AccountCredited' as const, data: { ...data(60n, 'P1'), isRefund: true as const } };
      given(decider, ...nextDay, back)
        .when(new DebitAccount(data(1n, 'P3', '2026-01-02')))
        .rejects('DAILY_VOLUME_LIMIT_EXCEEDED');
      given(decider, ...nextDay)
        .when(new DebitAccount(data(1n, 'P3', '2026-01-01')))
        .rejects('DAILY_VOLUME_LIMIT_EXCEEDED');
    });
  });
});

const currencies = ['USD', 'USD', 'USD', 'EUR', 'EUR'];
const payments = ['P1', 'P2', 'P3', 'P4'];

/** Several accounts under random commands, and what the counterparts' side of each leg comes to. */
class Ledger {
  readonly accounts = new Map<string, AccountState>();
  readonly counterparts = new Map<string, bigint>();
  accepted = 0;

  constructor() {
    for (const [i, currency] of currencies.entries()) {
      this.send('OpenAccount', { ...opening, accountId: `A${i}`, currency });
      this.send('ReceiveDeposit', { ...leg(5n, 'D'), accountId: `A${i}`, currency });
    }
  }

  send(type: string, data: { accountId: string; currency?: string }): void {
    const before = this.accounts.get(data.accountId) ?? decider.initial;
    const decision = decider.decide(before, { type, data } as never);
    if (decision instanceof Rejection) return;
    this.accepted += 1;
    let state = before;
    for (const event of decision) {
      state = decider.evolve(state, { ...event, at: AT });
      this.book(event);
    }
    this.accounts.set(data.accountId, state);
  }

  private book({ type, data }: Event): void {
    const { currency, amountMinor } = data as Leg;
    const incoming = type === 'DepositReceived' || type === 'AccountCredited';
    const outgoing = type === 'AccountDebited' || type === 'FundsPosted';
    const change = incoming ? -amountMinor : outgoing ? amountMinor : 0n;
    this.counterparts.set(currency, (this.counterparts.get(currency) ?? 0n) + change);
  }

  check(): void {
    const sums = new Map(this.counterparts);
    for (const state of this.accounts.values()) {
      const held = Object.values(state.reservations).reduce((sum, { heldMinor }) => sum + heldMinor, 0n);
      expect(state.pendingMinor).toBe(held);
      expect(state.pendingMinor >= 0n && state.postedMinor >= 0n && availableMinor(state) >= 0n).toBe(true);
      if (state.status === 'CLOSED') expect([state.postedMinor, state.pendingMinor]).toEqual([0n, 0n]);
      sums.set(state.currency, (sums.get(state.currency) ?? 0n) + state.postedMinor);
    }
    for (const [, sum] of sums) expect(sum).toBe(0n);
  }
}

const movements = ['ReceiveDeposit', 'CreditAccount', 'DebitAccount', 'PendFunds', 'PostFunds', 'VoidFunds'] as const;

/** One command to one account. Most name the account's own currency and small amounts, so that many are accepted. */
const anyCommand = fc
  .record({
    account: fc.nat(currencies.length - 1),
    type: fc.oneof(
      { weight: 12, arbitrary: fc.constantFrom<string>(...movements) },
      { weight: 1, arbitrary: fc.constantFrom('OpenAccount', 'CloseAccount', 'ReopenAccount') },
    ),
    currency: fc.option(fc.constantFrom('USD', 'EUR', 'JPY'), { freq: 10 }),
    amountMinor: fc.oneof(
      { weight: 8, arbitrary: fc.bigInt(1n, 3n) },
      { weight: 1, arbitrary: fc.bigInt(-5n, 0n) },
      { weight: 1, arbitrary: fc.bigInt(1n, 9_007_199_254_740_991n) },
    ),
    paymentId: fc.constantFrom(...payments),
  })
  .map(({ account, type, currency, amountMinor, paymentId }) => {
    const one = { ...leg(amountMinor, paymentId), currency: currency ?? currencies[account]! };
    return { type, data: { ...opening, ...one, accountId: `A${account}` } };
  });

test('whatever is sent: nothing below zero, what is held is the sum of the reservations, every currency balances', () => {
  let accepted = 0;
  fc.assert(
    fc.property(fc.array(anyCommand, { minLength: 20, maxLength: 120, size: 'max' }), (sent) => {
      const ledger = new Ledger();
      for (const { type, data } of sent) ledger.send(type, data);
      ledger.check();
      accepted += ledger.accepted - 2 * currencies.length;
    }),
    { numRuns: 500 },
  );
  expect(accepted).toBeGreaterThan(5_000);
});

test('a state that went through JSON goes on as the one that did not', () => {
  fc.assert(
    fc.property(fc.array(anyCommand, { maxLength: 60 }), (sent) => {
      const [kept, stored] = [new Ledger(), new Ledger()];
      for (const { type, data } of sent) {
        kept.send(type, data);
        stored.send(type, data);
        for (const [id, state] of stored.accounts) stored.accounts.set(id, fromJson(toJson(state)));
      }
      expect(stored.accounts).toEqual(kept.accounts);
    }),
    { numRuns: 200 },
  );
});
