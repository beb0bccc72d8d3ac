import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { BEGINNING, DIES, World } from '../../../test/world.ts';
import type { AnyProcess } from '../../kernel/process.ts';
import { type AccountState, account, CloseAccount, CreditAccount, DebitAccount } from '../accounts/account.ts';
import { plainTerms, type RailAnswer } from '../payments/payment.events.ts';
import { completePayment } from '../payments/payment.process.ts';
import { type PaymentState, payment } from '../payments/payment.ts';
import type { SweepFailureReason } from './sweep.events.ts';
import { completeSweep, type SweepQuoteRequest, startSweeps } from './sweep.process.ts';
import { type SweepPaymentAnswer, type SweepQuoteAnswer, type SweepState, sweep } from './sweep.ts';

const RULE = 'rule';

interface Script {
  toBank: boolean;
  refusal: SweepFailureReason | undefined;
  rail: readonly RailAnswer[];
  isRefundAccepted: boolean;
  /** Before which of all moves of processes one dies. */
  deaths: readonly number[];
  destinationClosesAt: number | undefined;
}

/** The processes of the sweeps, and of the payments that they make, to the end of each. */
class Processes {
  private readonly world: World;
  private readonly script: Script;
  private moves = 0;
  private asked = 0;

  constructor(world: World, script: Script) {
    this.world = world;
    this.script = script;
  }

  run(process: AnyProcess, id: string): void {
    this.world.run(process, id, (move) => {
      this.moves += 1;
      if (this.moves === this.script.destinationClosesAt)
        this.world.send(new CloseAccount({ accountId: 'destination' }));
      if (this.script.deaths.includes(this.moves)) return DIES;
      return 'call' in move ? this.answer(move.call, move.request as never) : undefined;
    });
  }

  private answer(call: string, request: SweepQuoteRequest & { paymentId: string }): unknown {
    switch (call) {
      case 'sweepQuote':
        return this.quote(request);
      case 'sweepPayment':
        this.run(completePayment, request.paymentId);
        return standingOf(this.world.state<PaymentState>(payment, request.paymentId), this.world.now);
      case 'refund':
        return this.script.isRefundAccepted;
      default:
        this.asked += 1;
        return this.script.rail[this.asked - 1] ?? { outcome: 'SETTLED' };
    }
  }

  private quote({ paymentId, amountMinor }: SweepQuoteRequest): SweepQuoteAnswer {
    const { refusal, toBank } = this.script;
    if (refusal) return { outcome: 'REFUSED', reason: refusal };
    const end = { currency: 'USD' };
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
      terms: plainTerms('USD', amountMinor, BEGINNING),
      dailyLimitMinor: 900n,
      immediatelyExecute: true,
      day: '2026-01-01',
      reference: 'SWEEP',
      expiresAt: BEGINNING,
    };
    return { outcome: 'QUOTED', quote };
  }
}

/** As the worker says it. */
function standingOf({ phase, status, refund }: PaymentState, now: string): SweepPaymentAnswer {
  if (phase !== 'DONE' && phase !== 'REFUSED') return { outcome: 'PENDING', checkAt: now };
  if (refund && refund.status !== 'COMPLETED') return { outcome: 'LOST' };
  if (!refund && status === 'COMPLETED') return { outcome: 'SETTLED' };
  return { outcome: 'RETURNED', checkAt: now };
}

const railAnswers = fc.constantFrom<readonly RailAnswer[]>(
  [{ outcome: 'SETTLED' }],
  [{ outcome: 'PENDING', checkAt: BEGINNING }, { outcome: 'SETTLED' }],
  [{ outcome: 'REJECTED', failureReason: 'ACCOUNT_INVALID' }],
  [{ outcome: 'SETTLED', watchUntil: BEGINNING }, { outcome: 'RETURNED' }],
  [{ outcome: 'SETTLED', watchUntil: BEGINNING }, { outcome: 'SETTLED' }],
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
  deaths: fc.uniqueArray(fc.integer({ min: 1, max: 60 }), { maxLength: 8 }),
  destinationClosesAt: fc.option(fc.integer({ min: 1, max: 30 }), { nil: undefined }),
  arrivals: fc.array(fc.tuple(fc.boolean(), fc.bigInt({ min: 1n, max: 600n })), { minLength: 1, maxLength: 3 }),
});

/** Opens the account whose arrivals are swept. */
function openRule(world: World): void {
  const rule = {
    canonicalAccountId: 'canonical',
    destination: { kind: 'INTERNAL' as const, accountId: 'destination' },
    minimumMinor: 1n,
    maximumMinor: 1_000_000n,
  };
  world.open(RULE, { type: 'RULE_BASED', customerId: 'c', rule });
}

/** Brings money to it: from outside, or from another account here. */
function arrive(world: World, index: number, isDeposit: boolean, amountMinor: bigint): void {
  world.deposit(isDeposit ? RULE : 'payer', amountMinor, `D${index}`);
  if (isDeposit) return;
  const leg = { currency: 'USD', amountMinor, paymentId: `P${index}`, counterpart: 'transit:USD' };
  world.must(new DebitAccount({ ...leg, accountId: 'payer' }));
  world.must(new CreditAccount({ ...leg, accountId: RULE }));
}

test('whatever happens to a sweep, and wherever it dies, a rule-based account holds nothing at rest and nothing is lost', () => {
  fc.assert(
    fc.property(scenario, ({ arrivals, ...script }) => {
      const world = new World();
      for (const id of ['payer', 'canonical', 'destination']) world.open(id, { customerId: 'c' });
      openRule(world);
      const total = arrivals.reduce((sum, [, amountMinor]) => sum + amountMinor, 0n);
      for (const [index, [isDeposit, amountMinor]] of arrivals.entries()) arrive(world, index, isDeposit, amountMinor);
      expect(world.state<AccountState>(account, RULE).postedMinor).toBe(total);
      const processes = new Processes(world, script);
      processes.run(startSweeps, RULE);
      const ids = world.ids(sweep);
      expect(ids).toHaveLength(arrivals.length);
      for (const id of ids) processes.run(completeSweep, id);

      world.expectAtRest();
      const rule = world.state<AccountState>(account, RULE);
      expect([rule.postedMinor, rule.arrivals]).toEqual([0n, []]);
      const sweeps = ids.map((id) => world.state<SweepState>(sweep, id));
      expect(sweeps.map(({ phase }) => phase)).toEqual(sweeps.map(() => 'DONE'));
      const held = (name: string) => world.sum('p.sandbox', name);
      const ends = ['account:canonical:USD', 'account:destination:USD', 'rail:USD', 'suspense:USD'];
      expect(ends.reduce((sum, name) => sum + held(name), 0n)).toBe(total);
      const failed = sweeps.filter(({ reason }) => reason !== undefined);
      const inCanonical = failed.reduce((sum, { amountMinor }) => sum + amountMinor, 0n);
      expect(held('account:canonical:USD')).toBe(inCanonical);
      const untold = [...world.audited.unexplained()].filter(({ paymentId }) => !paymentId.startsWith('P'));
      expect(untold).toEqual([]);
    }),
    { numRuns: 800 },
  );
});
