import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Transactions } from '../../../apps/ops/src/transactions.ts';
import { movements } from '../../../projections/journal.ts';
import { type AnyDecider, fold } from '../../kernel/decider.ts';
import { Rejection } from '../../kernel/errors.ts';
import type { Command, Event, RecordedEvent } from '../../kernel/messages.ts';
import type { AnyProcess, Refused, Step } from '../../kernel/process.ts';
import {
  type AccountState,
  account,
  CloseAccount,
  CreditAccount,
  DebitAccount,
  OpenAccount,
  ReceiveDeposit,
} from '../accounts/account.ts';
import type { RailAnswer } from '../payments/payment.events.ts';
import { completePayment } from '../payments/payment.process.ts';
import { type PaymentState, payment } from '../payments/payment.ts';
import type { SweepFailureReason } from './sweep.events.ts';
import { completeSweep, type SweepQuoteRequest, startSweeps } from './sweep.process.ts';
import { type SweepPaymentAnswer, type SweepQuoteAnswer, type SweepState, sweep } from './sweep.ts';

const AT = '2026-01-01T00:00:00.000Z';
const LATER = '2026-01-02T00:00:00.000Z';
const deciders: readonly AnyDecider[] = [account, payment, sweep];
const RULE = 'rule';

interface Script {
  toBank: boolean;
  refusal: SweepFailureReason | undefined;
  rail: readonly RailAnswer[];
  isRefundAccepted: boolean;
  /** After so many steps of processes each, the process dies between a step's sends and its record. */
  crashes: readonly number[];
  destinationClosesAt: number | undefined;
}

/** Streams as a log keeps them: a command that is sent again under its id changes nothing. */
class World {
  readonly states = new Map<string, unknown>();
  readonly revisions = new Map<string, number>();
  readonly done = new Map<string, Rejection | undefined>();
  readonly sums = new Map<string, bigint>();
  readonly audited = new Transactions();
  private readonly said = new Map<string, unknown>();
  private steps = 0;
  private asked = 0;
  private readonly script: Script;

  constructor(script: Script) {
    this.script = script;
  }

  state<S>(decider: AnyDecider, id: string): S {
    return (this.states.get(`${decider.name}-${id}`) ?? decider.initial) as S;
  }

  send(command: Command, commandId: string): Rejection | undefined {
    const decider = deciders.find(({ commands }) => commands.some(({ type }) => type === command.type))!;
    const stream = `${decider.name}-${(command.data as Record<string, string>)[decider.id]}`;
    const known = `${stream} ${commandId}`;
    if (this.done.has(known)) return this.done.get(known);
    const state = this.states.get(stream) ?? decider.initial;
    const decision = decider.decide(state, command);
    if (decision instanceof Rejection) return decision;
    const events = (decision as Event[]).map((event) => ({ ...event, at: AT }));
    this.states.set(stream, fold({ initial: state, evolve: decider.evolve }, events as never));
    this.revisions.set(stream, (this.revisions.get(stream) ?? 0) + events.length);
    this.done.set(known, undefined);
    for (const event of events) this.book(event as unknown as RecordedEvent);
    return undefined;
  }

  private book(event: RecordedEvent): void {
    this.audited.take(event);
    for (const { from, to, amountMinor } of movements(event)) {
      this.sums.set(from, (this.sums.get(from) ?? 0n) - amountMinor);
      this.sums.set(to, (this.sums.get(to) ?? 0n) + amountMinor);
    }
    expect(this.sums.get('transit:USD') ?? 0n).toBeGreaterThanOrEqual(0n);
  }

  /** One step of a process, as the driver takes it; false when there was none. May die before the step is recorded. */
  step(process: AnyProcess, id: string): boolean {
    const stream = `${process.decider.name}-${id}`;
    const revision = this.revisions.get(stream) ?? 0;
    const step = process.next(this.state(process.decider, id)) as Step | undefined;
    if (!step) return false;
    this.steps += 1;
    if (this.steps === this.script.destinationClosesAt) this.close('destination');
    if ('call' in step) {
      const asked = `${stream} ${revision}`;
      const answer = this.said.get(asked) ?? this.answer(step.call, step.request as never);
      if (step.call === 'rail') this.said.set(asked, answer); // asked again after a crash, a rail says the same
      if (!this.script.crashes.includes(this.steps)) this.record(step.after(answer as never), stream, revision);
      return true;
    }
    let refused: Refused | undefined;
    for (const [at, command] of step.sends.entries()) {
      const rejection = this.send(command, `${stream} ${revision} ${at}`);
      if (!rejection) continue;
      refused = { at, rejection };
      break;
    }
    if (!this.script.crashes.includes(this.steps)) this.record(step.after(refused), stream, revision);
    return true;
  }

  private record(command: Command, stream: string, revision: number): void {
    const refusal = this.send(command, `${stream} ${revision} after`);
    if (refusal) throw refusal;
  }

  private answer(call: string, request: SweepQuoteRequest & { paymentId: string }): unknown {
    switch (call) {
      case 'sweepQuote':
        return this.quote(request);
      case 'sweepPayment':
        this.run(completePayment, request.paymentId);
        return standingOf(this.state<PaymentState>(payment, request.paymentId));
      case 'refund':
        return this.script.isRefundAccepted;
      default:
        return this.railAnswer();
    }
  }

  private railAnswer(): RailAnswer {
    this.asked += 1;
    return this.script.rail[this.asked - 1] ?? { outcome: 'SETTLED' };
  }

  private quote({ paymentId, amountMinor }: SweepQuoteRequest): SweepQuoteAnswer {
    const { refusal, toBank } = this.script;
    if (refusal) return { outcome: 'REFUSED', reason: refusal };
    const end = { currency: 'USD' };
    const terms = {
      sendingCurrency: 'USD',
      receivingCurrency: 'USD',
      sendingMinor: amountMinor,
      receivingMinor: amountMinor,
      serviceFeeMinor: 0n,
      platformFeeMinor: 0n,
      convertedMinor: amountMinor,
      exchangeRate: '1',
      rateAsOf: AT,
    };
    const quote = {
      paymentId,
      tenantId: 'p.sandbox',
      type: 'OUTGOING' as const,
      customerId: 'c',
      platformCustomerId: 'c',
      source: { kind: 'INTERNAL' as const, accountId: RULE, ...end },
      destination: toBank
        ? { kind: 'EXTERNAL' as const, accountId: 'bank', paymentRail: 'ACH' as const, ...end }
        : { kind: 'INTERNAL' as const, accountId: 'destination', ...end },
      terms,
      dailyLimitMinor: 900n,
      immediatelyExecute: true,
      day: '2026-01-01',
      reference: 'SWEEP',
      expiresAt: AT,
    };
    return { outcome: 'QUOTED', quote };
  }

  /** Until nothing is left to do and nothing is waited for. */
  run(process: AnyProcess, id: string): void {
    for (let i = 0; i < 60; i++) {
      if (this.step(process, id)) continue;
      const wake = process.wake(this.state(process.decider, id), LATER);
      if (!wake) return;
      this.record(wake, `${process.decider.name}-${id}`, -1 - i);
    }
    throw new Error('the process does not come to an end');
  }

  open(accountId: string, type: 'INTERNAL_FIAT' | 'RULE_BASED' = 'INTERNAL_FIAT'): void {
    const rule = {
      canonicalAccountId: 'canonical',
      destination: { kind: 'INTERNAL' as const, accountId: 'destination' },
      minimumMinor: 1n,
      maximumMinor: 1_000_000n,
    };
    const data = { accountId, tenantId: 'p.sandbox', customerId: 'c', platformCustomerId: 'c', currency: 'USD', type };
    this.send(new OpenAccount({ ...data, ...(type === 'RULE_BASED' && { rule }) }), `open ${accountId}`);
  }

  private close(accountId: string): void {
    this.send(new CloseAccount({ accountId }), `close ${accountId}`);
  }
}

/** As the worker says it; the sandbox's clock is past every time that is waited for. */
function standingOf({ phase, status, refund }: PaymentState): SweepPaymentAnswer {
  if (phase !== 'DONE' && phase !== 'REFUSED') return { outcome: 'PENDING', checkAt: LATER };
  if (refund && refund.status !== 'COMPLETED') return { outcome: 'LOST' };
  if (!refund && status === 'COMPLETED') return { outcome: 'SETTLED' };
  return { outcome: 'RETURNED', checkAt: LATER };
}

const railAnswers = fc.constantFrom<readonly RailAnswer[]>(
  [{ outcome: 'SETTLED' }],
  [{ outcome: 'PENDING', checkAt: AT }, { outcome: 'SETTLED' }],
  [{ outcome: 'REJECTED', failureReason: 'ACCOUNT_INVALID' }],
  [{ outcome: 'SETTLED', watchUntil: AT }, { outcome: 'RETURNED' }],
  [{ outcome: 'SETTLED', watchUntil: AT }, { outcome: 'SETTLED' }],
  [{ outcome: 'CANCELLED' }],
);

const scenario = fc.record({
  toBank: fc.boolean(),
  refusal: fc.option(fc.constantFrom<SweepFailureReason>('BELOW_MINIMUM', 'NO_ELIGIBLE_RAIL', 'QUOTE_FAILED'), {
    nil: undefined,
    freq: 3,
  }),
  rail: fc.tuple(railAnswers, railAnswers).map(([first, second]) => [...first, ...second]),
  isRefundAccepted: fc.boolean(),
  crashes: fc.uniqueArray(fc.integer({ min: 1, max: 25 }), { maxLength: 6 }),
  destinationClosesAt: fc.option(fc.integer({ min: 1, max: 12 }), { nil: undefined }),
  arrivals: fc.array(fc.tuple(fc.boolean(), fc.bigInt({ min: 1n, max: 600n })), { minLength: 1, maxLength: 3 }),
});

/** Brings money to the rule-based account: from outside, or from another account here. */
function arrive(world: World, index: number, isDeposit: boolean, amountMinor: bigint): void {
  const leg = { currency: 'USD', amountMinor, paymentId: `D${index}` };
  const deposit = {
    ...leg,
    counterpart: 'mint:USD',
    tenantId: 'p.sandbox',
    platformCustomerId: 'c',
    reference: 'FUND',
  };
  if (isDeposit) {
    world.send(new ReceiveDeposit({ ...deposit, accountId: RULE }), `deposit ${index}`);
    return;
  }
  world.send(new ReceiveDeposit({ ...deposit, accountId: 'payer' }), `deposit ${index}`);
  const through = { ...leg, paymentId: `P${index}`, counterpart: 'transit:USD' };
  world.send(new DebitAccount({ ...through, accountId: 'payer' }), `debit ${index}`);
  world.send(new CreditAccount({ ...through, accountId: RULE }), `credit ${index}`);
}

test('whatever happens to a sweep, and wherever it dies, a rule-based account holds nothing at rest and nothing is lost', () => {
  fc.assert(
    fc.property(scenario, ({ arrivals, ...script }) => {
      const world = new World(script);
      for (const id of ['payer', 'canonical', 'destination']) world.open(id);
      world.open(RULE, 'RULE_BASED');
      const total = arrivals.reduce((sum, [, amountMinor]) => sum + amountMinor, 0n);
      for (const [index, [isDeposit, amountMinor]] of arrivals.entries()) arrive(world, index, isDeposit, amountMinor);
      expect(world.state<AccountState>(account, RULE).postedMinor).toBe(total);
      world.run(startSweeps, RULE);
      const ids = [...world.states.keys()].filter((name) => name.startsWith('sweep-'));
      expect(ids).toHaveLength(arrivals.length);
      for (const name of ids) world.run(completeSweep, name.slice('sweep-'.length));

      const rule = world.state<AccountState>(account, RULE);
      expect([rule.postedMinor, rule.pendingMinor, rule.arrivals]).toEqual([0n, 0n, []]);
      const sweeps = ids.map((name) => world.states.get(name) as SweepState);
      expect(sweeps.map(({ phase }) => phase)).toEqual(sweeps.map(() => 'DONE'));
      expect(world.sums.get('transit:USD') ?? 0n).toBe(0n);
      const ends = ['account:canonical', 'account:destination', 'rail:USD', 'suspense:USD'];
      expect(ends.reduce((sum, name) => sum + (world.sums.get(name) ?? 0n), 0n)).toBe(total);
      const failed = sweeps.filter(({ reason }) => reason !== undefined);
      const inCanonical = failed.reduce((sum, { amountMinor }) => sum + amountMinor, 0n);
      expect(world.sums.get('account:canonical') ?? 0n).toBe(inCanonical);
      const untold = [...world.audited.unexplained()].filter(({ paymentId }) => !paymentId.startsWith('P'));
      expect(untold).toEqual([]);
    }),
    { numRuns: 800 },
  );
});
