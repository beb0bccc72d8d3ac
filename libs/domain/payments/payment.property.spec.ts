import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Transactions } from '../../../apps/ops/src/transactions.ts';
import { fold } from '../../kernel/decider.ts';
import { Rejection } from '../../kernel/errors.ts';
import type { Command, Event, RecordedEvent } from '../../kernel/messages.ts';
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
import {
  cryptoFundedQuote,
  fundedPayoutQuote,
  fundedQuote,
  internalQuote,
  payoutQuote,
  pullPayoutQuote,
  pullQuote,
} from './payment.examples.ts';
import { completePayment } from './payment.process.ts';
import {
  CancelPayment,
  ExecutePayment,
  isFunded,
  type PaymentState,
  payment,
  QuotePayment,
  ReceiveFunding,
} from './payment.ts';

const AT = '2026-01-01T00:00:01.000Z';
const LATER = '2026-01-02T00:00:00.000Z';

/** A ledger of pure deciders: accounts as folded states, system accounts as sums of what their events moved. */
class World {
  readonly accounts = new Map<string, AccountState>();
  readonly sums = new Map<string, bigint>();
  payments = new Map<string, PaymentState>();
  /** Everything that happened, as an auditor reads it. */
  readonly audited = new Transactions();

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
    this.audited.take({ type, data, at: AT } as RecordedEvent);
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
  /** At which step the platform asks to cancel, and what the rail says to that. */
  cancelAt?: number;
  isCancelAccepted: boolean;
}

/** Drives a payment to where it waits for nothing any more; says whether its first step was refused. */
function drive(world: World, id: string, script: Script): { refused: boolean } {
  let refused = false;
  for (let step = 0; step < 30; step++) {
    const state = world.payments.get(id)!;
    if (script.cancelAt === step) tryCancel(world, id);
    const next = completePayment.next(world.payments.get(id)!);
    if (!next) {
      const wake = completePayment.wake(state, LATER);
      if (state.phase === 'OPEN' || !wake) return { refused };
      world.payment(wake as never);
      continue;
    }
    if ('call' in next) {
      const answers = { refund: script.refund, cancelRail: script.isCancelAccepted };
      const answer =
        next.call === 'rail'
          ? (script.answers.shift() ?? { outcome: 'SETTLED' })
          : answers[next.call as keyof typeof answers];
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
    refused ||= world.payments.get(id)!.phase === 'EXECUTING' && refusal?.at === 0;
    world.payment(next.after(refusal) as never);
  }
  throw new Error('the process does not come to an end');
}

/** The platform may ask at any time; what cannot be cancelled is refused and changes nothing. */
function tryCancel(world: World, id: string): void {
  const command = new CancelPayment({ paymentId: id, now: AT });
  if (payment.decide(world.payments.get(id)!, command) instanceof Rejection) return;
  world.payment(command);
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
  quote: fc
    .constantFrom<PaymentQuotedData>(
      internalQuote,
      payoutQuote,
      pullQuote,
      pullPayoutQuote,
      fundedQuote,
      fundedPayoutQuote,
      cryptoFundedQuote,
    )
    .map((quote) => ({ ...quote, destination: { ...quote.destination, paymentRail: 'WIRE' as const } })),
  hasFeeAccount: fc.boolean(),
  fundedBy: fc.constantFrom(0n, 0n, 0n, -1n, 1n),
  cancelAt: fc.option(fc.integer({ min: 0, max: 6 }), { nil: undefined }),
  isCancelAccepted: fc.boolean(),
  platformFee: fc.constantFrom(0n, 77n),
  funds: fc.constantFrom(0n, 5_000n, 1_000_000n),
  platformFunds: fc.constantFrom(0n, 10_000n),
  answers: fc.tuple(fc.array(railAnswer, { maxLength: 3 }), returnAnswer).map(([first, last]) => [...first, last]),
  refund: fc.boolean(),
  closeDestinationAfter: fc.option(fc.integer({ min: 0, max: 2 }), { nil: undefined }),
});

/** Answers that a rail can give to what it is asked: a return only of what it settled, a cancellation only of a payout. */
function plausible(answers: RailAnswer[], isPull: boolean, isPayout: boolean): RailAnswer[] {
  const kept: RailAnswer[] = [];
  let isCollecting = isPull;
  for (const answer of answers) {
    const last = kept.at(-1);
    const isWatched = !isCollecting && last?.outcome === 'SETTLED' && last.watchUntil !== undefined;
    if (isWatched) {
      if (answer.outcome === 'RETURNED' || answer.outcome === 'SETTLED') kept.push(answer);
      if (answer.outcome === 'RETURNED' || answer.outcome === 'SETTLED') break;
      continue;
    }
    if (answer.outcome === 'RETURNED') continue;
    if (isCollecting && (answer.outcome === 'CANCELLED' || (answer.outcome === 'SETTLED' && answer.watchUntil)))
      continue;
    kept.push(answer);
    if (isCollecting && isPayout && answer.outcome === 'SETTLED') isCollecting = false;
    else if (answer.outcome !== 'PENDING' && !(answer.outcome === 'SETTLED' && answer.watchUntil)) break;
  }
  return kept;
}

/** Quotes the payment and sets it going; `fundedBy`: how much more or less than asked for is sent. */
function begin(world: World, quote: PaymentQuotedData, fundedBy: bigint): void {
  const { paymentId, terms } = quote;
  const quoted = world.payment(new QuotePayment(quote));
  if (isFunded(quoted)) {
    const amountMinor = terms.sendingMinor + fundedBy;
    world.payment(new ReceiveFunding({ paymentId, currency: 'USD', amountMinor, now: AT }));
  } else world.payment(new ExecutePayment({ paymentId, now: AT }));
}

function priced(quote: PaymentQuotedData, platformFeeMinor: bigint): PaymentQuotedData['terms'] {
  const terms = { ...quote.terms, platformFeeMinor, convertedMinor: quote.terms.convertedMinor - platformFeeMinor };
  if (terms.sendingCurrency === terms.receivingCurrency) terms.receivingMinor = terms.convertedMinor;
  return terms;
}

function expectBalanced(world: World): void {
  for (const currency of ['USD', 'EUR']) {
    expect(world.trialBalance(currency)).toBe(0n);
    expect(world.sums.get(`transit:${currency}`) ?? 0n).toBe(0n);
  }
  for (const [id, one] of world.accounts) {
    expect(one.postedMinor).toBeGreaterThanOrEqual(0n);
    expect(availableMinor(one)).toBeGreaterThanOrEqual(0n);
    expect(one.postedMinor).toBe(world.sums.get(`account:${id}:${one.currency}`) ?? 0n);
    expect(one.pendingMinor).toBe(0n);
    expect(one.sent?.sentMinor ?? 0n).toBeGreaterThanOrEqual(0n);
  }
}

test('whatever happens to a payment, money is neither lost nor invented, and nothing stays in transit', () => {
  fc.assert(
    fc.property(scenario, (one) => {
      const { quote, funds } = one;
      const world = new World();
      open(world, 'source', 'USD', funds);
      open(world, 'destination', quote.terms.receivingCurrency);
      open(world, 'refunds', 'USD');
      open(world, 'fees-of-platform', 'USD', one.platformFunds);
      const terms = priced(quote, one.platformFee);
      const fee = one.hasFeeAccount ? { platformFeeAccountId: 'fees-of-platform' } : {};
      begin(world, { ...quote, terms, ...fee, dailyLimitMinor: 1_000_000n }, one.fundedBy);
      const answers = plausible(one.answers, quote.source.kind === 'EXTERNAL', quote.destination.kind === 'EXTERNAL');
      const { refused } = drive(world, quote.paymentId, {
        answers,
        refund: one.refund,
        isCancelAccepted: one.isCancelAccepted,
        ...(one.cancelAt !== undefined && { cancelAt: one.cancelAt }),
        ...(one.closeDestinationAfter !== undefined && { closeDestinationAfter: one.closeDestinationAfter }),
      });

      const state = world.payments.get(quote.paymentId)!;
      expectBalanced(world);
      expect([...world.audited.unexplained()]).toEqual([]);
      if (refused) {
        expect(state.status).toBe('PENDING');
        expect(world.accounts.get('source')!.postedMinor).toBe(funds);
      }
      if (state.refund?.status === 'COMPLETED') {
        expect(world.accounts.get('source')!.postedMinor).toBe(funds);
        expect(world.accounts.get('source')!.sent?.sentMinor ?? 0n).toBe(0n);
        const isCrypto = state.funding?.refundAccountId !== undefined;
        expect(world.accounts.get('refunds')!.postedMinor).toBe(isCrypto ? state.receivedMinor! : 0n);
        if (!isCrypto) expect(world.sums.get('rail:USD') ?? 0n).toBe(0n);
      }
      if (state.status === 'COMPLETED' && !state.refund && quote.destination.kind === 'INTERNAL') {
        expect(world.accounts.get('destination')!.postedMinor).toBe(terms.receivingMinor);
      }
    }),
    { numRuns: 4_000 },
  );
});
