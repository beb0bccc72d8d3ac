import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { fold } from '../../kernel/decider.ts';
import { Rejection } from '../../kernel/errors.ts';
import type { Command, Event } from '../../kernel/messages.ts';
import type { Refused } from '../../kernel/process.ts';
import type { Entry, Leg } from '../accounts/account.events.ts';
import {
  type AccountState,
  account,
  availableMinor,
  CloseAccount,
  OpenAccount,
  ReceiveDeposit,
} from '../accounts/account.ts';
import type { PaymentQuotedData, RailAnswer } from './payment.events.ts';
import { internalQuote, payoutQuote, pullQuote } from './payment.examples.ts';
import { completePayment } from './payment.process.ts';
import { ExecutePayment, type PaymentState, payment, QuotePayment } from './payment.ts';

const AT = '2026-01-01T00:00:01.000Z';
const LATER = '2026-01-02T00:00:00.000Z';

/** A ledger of pure deciders: accounts as folded states, system accounts as sums of what their events moved. */
class World {
  readonly accounts = new Map<string, AccountState>();
  readonly sums = new Map<string, bigint>();
  payments = new Map<string, PaymentState>();

  account(command: { data: { accountId: string } } & Command): Rejection | undefined {
    const id = command.data.accountId;
    const state = this.accounts.get(id) ?? account.initial;
    const decision = account.decide(state, command as never);
    if (decision instanceof Rejection) return decision;
    this.accounts.set(id, fold({ initial: state, evolve: account.evolve }, stamped(decision as Event[]) as never));
    for (const event of decision as Event[]) this.book(event);
    return undefined;
  }

  payment(command: { data: { paymentId: string } } & Command): PaymentState {
    const id = command.data.paymentId;
    const state = this.payments.get(id) ?? payment.initial;
    const decision = payment.decide(state, command as never);
    if (decision instanceof Rejection) throw decision;
    const next = fold(
      { initial: state, evolve: payment.evolve },
      stamped(decision as Event[]) as never,
    ) as PaymentState;
    for (const event of decision as Event[]) this.book(event);
    this.payments.set(id, next);
    return next;
  }

  private book({ type, data }: Event): void {
    const { entries = [], ...leg } = data as Leg;
    if (type === 'DepositReceived' || type === 'AccountCredited')
      this.move({ ...leg, from: leg.counterpart, to: leg.accountId });
    if (type === 'AccountDebited' || type === 'FundsPosted')
      this.move({ ...leg, from: leg.accountId, to: leg.counterpart });
    for (const entry of entries) this.move(entry);
    for (const [name, sum] of this.sums) if (name.startsWith('transit')) expect(sum).toBeGreaterThanOrEqual(0n);
  }

  private move({ from, to, currency, amountMinor }: Entry): void {
    for (const [name, change] of [
      [from, -amountMinor],
      [to, amountMinor],
    ] as const) {
      const key = name.includes(':') ? name : `account:${name}:${currency}`;
      this.sums.set(key, (this.sums.get(key) ?? 0n) + change);
    }
  }

  /** Sum of everything in one currency, which is zero at any time. */
  trialBalance(currency: string): bigint {
    return [...this.sums]
      .filter(([name]) => name.endsWith(`:${currency}`))
      .reduce((sum, [, amount]) => sum + amount, 0n);
  }
}

const stamped = (events: readonly Event[]) => events.map((event) => ({ ...event, at: AT }));

/** Answers of rails in the order asked; when they run out, everything succeeds. */
interface Script {
  answers: RailAnswer[];
  refund: boolean;
  closeDestinationAfter?: number;
}

/** Drives a payment to where it waits for nothing any more; says whether its first step was refused. */
function drive(world: World, id: string, script: Script): { refused: boolean } {
  let refused = false;
  for (let step = 0; step < 30; step++) {
    const state = world.payments.get(id)!;
    const next = completePayment.next(state);
    if (!next) {
      const wake = completePayment.wake(state, LATER);
      if (state.phase === 'OPEN' || !wake) return { refused };
      world.payment(wake as never);
      continue;
    }
    if ('call' in next) {
      const answer = next.call === 'refund' ? script.refund : (script.answers.shift() ?? { outcome: 'SETTLED' });
      world.payment(next.after(answer as never) as never);
      continue;
    }
    let refusal: Refused | undefined;
    for (const [at, command] of next.sends.entries()) {
      if (script.closeDestinationAfter === at) forceClose(world, 'destination');
      const rejection = world.account(command as never);
      if (rejection) {
        refusal = { at, rejection };
        break;
      }
    }
    refused ||= state.phase === 'EXECUTING' && refusal?.at === 0;
    world.payment(next.after(refusal) as never);
  }
  throw new Error('the process does not come to an end');
}

function forceClose(world: World, id: string): void {
  const state = world.accounts.get(id)!;
  if (state.postedMinor === 0n && state.status === 'ACTIVE') world.account(new CloseAccount({ accountId: id }));
}

function open(world: World, accountId: string, currency: string, deposit = 0n): void {
  const base = { accountId, tenantId: 'p.sandbox', platformCustomerId: 'c', currency };
  world.account(new OpenAccount({ ...base, type: 'INTERNAL_FIAT' }));
  if (deposit === 0n) return;
  const leg = {
    ...base,
    amountMinor: deposit,
    counterpart: `mint:${currency}`,
    paymentId: 'deposit',
    reference: 'FUND',
  };
  world.account(new ReceiveDeposit(leg));
}

const railAnswer: fc.Arbitrary<RailAnswer> = fc.constantFrom<RailAnswer>(
  { outcome: 'PENDING', checkAt: AT },
  { outcome: 'SETTLED' },
  { outcome: 'SETTLED', watchUntil: AT },
  { outcome: 'REJECTED', failureReason: 'QUOTE_EXECUTION_FAILED' },
  { outcome: 'CANCELLED' },
);

const returnAnswer = fc.constantFrom<RailAnswer>({ outcome: 'RETURNED' }, { outcome: 'SETTLED' });

const scenario = fc.record({
  quote: fc.constantFrom<PaymentQuotedData>(internalQuote, payoutQuote, pullQuote),
  platformFee: fc.constantFrom(0n, 77n),
  funds: fc.constantFrom(0n, 5_000n, 1_000_000n),
  platformFunds: fc.constantFrom(0n, 10_000n),
  answers: fc.tuple(fc.array(railAnswer, { maxLength: 3 }), returnAnswer).map(([first, last]) => [...first, last]),
  refund: fc.boolean(),
  closeDestinationAfter: fc.option(fc.integer({ min: 0, max: 2 }), { nil: undefined }),
});

/** Answers that a rail can give to what it is asked: a return only of what it settled, a cancellation only of a payout. */
function plausible(answers: RailAnswer[], isPull: boolean): RailAnswer[] {
  const kept: RailAnswer[] = [];
  for (const answer of answers) {
    const last = kept.at(-1);
    const isSettled = last?.outcome === 'SETTLED';
    if (last && last.outcome !== 'PENDING' && !(isSettled && last.watchUntil)) break;
    if (isSettled ? answer.outcome !== 'RETURNED' && answer.outcome !== 'SETTLED' : answer.outcome === 'RETURNED')
      continue;
    if (isPull && (answer.outcome === 'CANCELLED' || (answer.outcome === 'SETTLED' && answer.watchUntil))) continue;
    kept.push(answer);
  }
  return kept;
}

test('whatever happens to a payment, money is neither lost nor invented, and nothing stays in transit', () => {
  fc.assert(
    fc.property(scenario, ({ quote, platformFee, funds, platformFunds, answers, refund, closeDestinationAfter }) => {
      const world = new World();
      open(world, 'source', 'USD', funds);
      open(world, 'destination', quote.terms.receivingCurrency);
      open(world, 'fees-of-platform', 'USD', platformFunds);
      const terms = {
        ...quote.terms,
        platformFeeMinor: platformFee,
        convertedMinor: quote.terms.convertedMinor - platformFee,
      };
      if (terms.sendingCurrency === terms.receivingCurrency) terms.receivingMinor = terms.convertedMinor;
      world.payment(new QuotePayment({ ...quote, terms, platformFeeAccountId: 'fees-of-platform' }));
      world.payment(new ExecutePayment({ paymentId: quote.paymentId, now: AT }));
      const script = { answers: plausible(answers, quote.source.kind === 'EXTERNAL'), refund };
      const { refused } = drive(
        world,
        quote.paymentId,
        closeDestinationAfter === undefined ? script : { ...script, closeDestinationAfter },
      );

      const state = world.payments.get(quote.paymentId)!;
      for (const currency of ['USD', 'EUR']) {
        expect(world.trialBalance(currency)).toBe(0n);
        expect(world.sums.get(`transit:${currency}`) ?? 0n).toBe(0n);
      }
      for (const [id, one] of world.accounts) {
        expect(one.postedMinor).toBeGreaterThanOrEqual(0n);
        expect(availableMinor(one)).toBeGreaterThanOrEqual(0n);
        expect(one.postedMinor).toBe(world.sums.get(`account:${id}:${one.currency}`) ?? 0n);
        expect(one.pendingMinor).toBe(0n);
      }
      if (refused) {
        expect(state.status).toBe('PENDING');
        expect(world.accounts.get('source')!.postedMinor).toBe(funds);
      }
      if (state.refund?.status === 'COMPLETED' && quote.source.kind === 'INTERNAL') {
        expect(world.accounts.get('source')!.postedMinor).toBe(funds);
      }
      if (state.status === 'COMPLETED' && !state.refund && quote.destination.kind === 'INTERNAL') {
        expect(world.accounts.get('destination')!.postedMinor).toBe(terms.receivingMinor);
      }
    }),
    { numRuns: 2_000 },
  );
});
