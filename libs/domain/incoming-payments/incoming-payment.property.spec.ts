import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { counterpartId, umaCalls } from '../../../apps/worker/src/uma-calls.ts';
import { comesBack, railAnswers, railSays } from '../../../test/rail-answers.ts';
import { BEGINNING, type Move, World } from '../../../test/world.ts';
import type { AnyDecider } from '../../kernel/decider.ts';
import type { Command } from '../../kernel/messages.ts';
import type { AnyProcess } from '../../kernel/process.ts';
import type { WritePath } from '../../runtime/execute.ts';
import { CloseAccount } from '../accounts/account.ts';
import { createExample } from '../customers/customer.examples.ts';
import { customerAccountId } from '../customers/customer.process.ts';
import { addExample } from '../external-accounts/external-account.examples.ts';
import { ChooseUmaDepositAccount } from '../external-accounts/uma-deposit.ts';
import {
  type PaymentDestination,
  type PaymentEnd,
  type PaymentQuotedData,
  type PaymentTerms,
  plainTerms,
  type RailAnswer,
} from '../payments/payment.events.ts';
import { fundedQuote, internalQuote, pullQuote } from '../payments/payment.examples.ts';
import { completePayment, type RailRequest, type RefundRequest } from '../payments/payment.process.ts';
import {
  CancelPayment,
  ExecutePayment,
  isFunded,
  type PaymentState,
  payment,
  QuotePayment,
  ReceiveFunding,
} from '../payments/payment.ts';
import {
  type ApprovalAnswer,
  ApprovePayment,
  type CollectionAnswer,
  ReceivePayment,
  RejectPayment,
} from './incoming-payment.commands.ts';
import { fromElsewhere, toBank } from './incoming-payment.examples.ts';
import { receiveUmaPayment } from './incoming-payment.process.ts';
import type { IncomingPaymentState } from './incoming-payment.state.ts';
import { incomingPayment } from './incoming-payment.ts';

const SOON = '2026-01-01T00:00:02.000Z';
const TENANTS = ['p.sandbox', 'q.sandbox'] as const;
const FUNDS = 1_000n;

const senderOf = (tenantId: string) => `sender at ${tenantId}`;
const receiverOf = (tenantId: string) => `receiver at ${tenantId}`;
/** The account that a platform's sender pays from. */
const purseOf = (tenantId: string) => customerAccountId(senderOf(tenantId), 'USD');
const feesOf = (tenantId: string) => `fees of ${tenantId}`;

const approvals = fc.constantFrom<ApprovalAnswer>(
  ...Array<ApprovalAnswer>(8).fill({ outcome: 'APPROVED' }),
  { outcome: 'ACKNOWLEDGED', until: SOON },
  { outcome: 'REJECTED' },
  { outcome: 'INSUFFICIENT', requiredFields: ['FULL_NAME'] },
  { outcome: 'TIMED_OUT' },
  { outcome: 'ERROR' },
);

const collections = fc.constantFrom<CollectionAnswer[]>(
  [],
  [],
  [{ outcome: 'PENDING', checkAt: SOON }],
  [
    { outcome: 'PENDING', checkAt: SOON },
    { outcome: 'REJECTED', failureReason: 'COLLECTION_FAILED' },
  ],
  [{ outcome: 'REJECTED', failureReason: 'LNURLP_FAILED' }],
);

type Generated<A> = A extends fc.Arbitrary<infer V> ? V : never;

/** Money that moves in some way, and what the outside world says to it. */
const operation = fc.record({
  source: fc.constantFrom('ACCOUNT', 'ACCOUNT', 'ACCOUNT', 'BANK', 'SENT', 'UMA'),
  destination: fc.constantFrom('ACCOUNT', 'BANK', 'UMA_ELSEWHERE', 'UMA_HERE', 'UMA_HERE'),
  from: fc.constantFrom(...TENANTS),
  to: fc.constantFrom(...TENANTS),
  /** With the fees. */
  amountMinor: fc.constantFrom(20n, 200n, 600n, FUNDS),
  isConverted: fc.constantFrom(false, false, true),
  feeMinor: fc.constantFrom(0n, 3n),
  platformFeeMinor: fc.constantFrom(0n, 0n, 7n),
  hasFeeAccount: fc.constantFrom(true, true, true, false),
  fundedBy: fc.constantFrom(0n, 0n, -1n, 1n),
  answers: railAnswers,
  receiverAnswers: fc.oneof(railAnswers, fc.constant(comesBack)),
  approval: approvals,
  collections,
  isRefundAccepted: fc.boolean(),
  isCancelAccepted: fc.boolean(),
});
type Operation = Generated<typeof operation>;

/** What happens meanwhile, to the n-th of what there is. */
const happening = fc.record({
  turn: fc.nat(80),
  what: fc.constantFrom('DEATH', 'CANCEL', 'APPROVE', 'REJECT', 'CLOSE'),
  nth: fc.nat(20),
});
type Happening = Generated<typeof happening>;

const scenario = fc.record({
  operations: fc.array(operation, { minLength: 1, maxLength: 5 }),
  /** Whose turn it is. */
  turns: fc.array(fc.nat(9), { minLength: 1, maxLength: 30 }),
  events: fc.array(happening, { maxLength: 10 }),
  /** Platforms whose receiver takes UMA payments at a bank. */
  banked: fc.subarray([...TENANTS]),
  /** Platforms whose sender leaves as soon as there is nothing left. */
  leaving: fc.subarray([...TENANTS]),
});
type Scenario = Generated<typeof scenario>;

type Life = readonly [process: AnyProcess, id: string];

/** Two platforms with everything that is under way on them, in any order. */
class Traffic {
  readonly world = new World();
  private readonly scripts = new Map<string, Operation>();
  /** The steps that were begun, each with the move that it is about to make. */
  private readonly underWay = new Map<string, { step: Generator<Move, boolean, unknown>; move: Move }>();
  private readonly accounts: string[] = [];
  private readonly uma = umaCalls({
    writePath: this.writePath(),
    umaOf: () => {
      throw new Error('the world elsewhere answers by script');
    },
    clock: { nowMs: () => this.world.nowMs },
  });

  constructor(banked: readonly string[]) {
    for (const tenantId of TENANTS) {
      this.open(tenantId);
      if (!banked.includes(tenantId)) continue;
      const bank = { externalAccountId: `bank at ${tenantId}`, tenantId, customerId: receiverOf(tenantId) };
      this.world.must(addExample('USD_ACCOUNT', bank));
      this.world.must(new ChooseUmaDepositAccount({ ...bank, addedAt: BEGINNING }));
    }
  }

  private open(tenantId: string): void {
    for (const customerId of [senderOf(tenantId), receiverOf(tenantId)]) {
      this.world.must(createExample({ customerId, tenantId }));
      for (const currency of ['USD', 'EUR']) {
        const accountId = customerAccountId(customerId, currency);
        this.world.open(accountId, { tenantId, customerId, currency });
        this.accounts.push(accountId);
      }
    }
    this.world.open(feesOf(tenantId), { tenantId });
    this.world.deposit(purseOf(tenantId), FUNDS);
  }

  /** What of the write path the worker's calls between platforms need. */
  private writePath(): WritePath {
    const state = async (decider: AnyDecider, id: string) => ({ state: this.world.state(decider, id) });
    return {
      state,
      execute: async (decider: AnyDecider, command: Command, { commandId }: { commandId: string }) => {
        this.world.must(command, commandId);
        return state(decider, (command.data as Record<string, string>)[decider.id]!);
      },
    } as unknown as WritePath;
  }

  begin(one: Operation, index: number): void {
    const id = `payment ${index}`;
    this.scripts.set(id, { ...one, answers: [...one.answers], collections: [...one.collections] });
    this.scripts.set(counterpartId(id), { ...one, answers: [...one.receiverAnswers] });
    if (one.source === 'UMA') {
      this.world.must(received(one, id));
      return;
    }
    const quote = quoted(one, id);
    this.world.must(new QuotePayment(quote));
    const amountMinor = quote.terms.sendingMinor + one.fundedBy;
    const at = { paymentId: id, now: BEGINNING };
    this.world.must(
      isFunded(quote) ? new ReceiveFunding({ ...at, currency: 'USD', amountMinor }) : new ExecutePayment(at),
    );
  }

  lives(): Life[] {
    return [
      ...this.world.ids(payment).map((id) => [completePayment, id] as const),
      ...this.world.ids(incomingPayment).map((id) => [receiveUmaPayment, id] as const),
    ];
  }

  private happen(what: Happening['what'], nth: number): void {
    const pick = <T>(all: readonly T[]): T | undefined => all[nth % all.length];
    const { now } = this.world;
    const sent = pick(this.world.ids(payment));
    const got = pick(this.world.ids(incomingPayment));
    if (what === 'DEATH') this.underWay.delete(String(pick(this.lives())?.[1]));
    if (what === 'CANCEL' && sent) this.world.send(new CancelPayment({ paymentId: sent, now }));
    if (what === 'APPROVE' && got) this.world.send(new ApprovePayment({ paymentId: got }));
    if (what === 'REJECT' && got) this.world.send(new RejectPayment({ paymentId: got }));
    if (what === 'CLOSE') this.world.send(new CloseAccount({ accountId: pick(this.accounts)! }));
  }

  /** Everything to its end: while something can move, whoever's turn it is; else time passes to what comes first. */
  async run({ turns, events, leaving }: Scenario): Promise<void> {
    for (let turn = 0; turn < 3_000; turn++) {
      for (const tenantId of leaving) this.world.send(new CloseAccount({ accountId: purseOf(tenantId) }));
      for (const { what, nth } of events.filter((one) => one.turn === turn)) this.happen(what, nth);
      const moving = this.lives().filter((life) => this.isMoving(life));
      // With the turns counted, everybody's comes.
      if (moving.length > 0) await this.move(moving[(turns[turn % turns.length]! + turn) % moving.length]!);
      else if (!this.wakeFirst()) return;
    }
    throw new Error('it does not come to an end');
  }

  private isMoving([process, id]: Life): boolean {
    return this.underWay.has(id) || process.next(this.world.state(process.decider, id)) !== undefined;
  }

  private wakeFirst(): boolean {
    const due = this.lives().flatMap(([process, id]) => {
      const dueAt = process.dueAt(this.world.state(process.decider, id));
      return dueAt === undefined ? [] : [{ process, id, dueAt }];
    });
    if (due.length === 0) return false;
    const { process, id } = due.reduce((first, one) => (one.dueAt < first.dueAt ? one : first));
    return this.world.wake(process, id);
  }

  /** A step of a process begins, or does what it was about to do and goes on to its next move. */
  private async move([process, id]: Life): Promise<void> {
    const at = this.underWay.get(id);
    const step = at?.step ?? this.world.step(process, id);
    const said = at && 'call' in at.move ? await this.answer(id, at.move.call, at.move.request) : undefined;
    const { value, done } = step.next(said);
    if (done) this.underWay.delete(id);
    else this.underWay.set(id, { step, move: value });
  }

  private async answer(id: string, call: string, request: object): Promise<unknown> {
    const script = this.scripts.get(id)!;
    switch (call) {
      case 'rail':
        return this.railAnswer(id, request as RailRequest);
      case 'refund': {
        const { uma } = request as RefundRequest;
        return uma?.kind === 'HERE' ? this.uma.refund(request as RefundRequest, uma) : script.isRefundAccepted;
      }
      case 'cancelRail':
        return script.isCancelAccepted;
      case 'approval':
        return script.approval;
      case 'collect':
        return script.collections.shift() ?? { outcome: 'SETTLED' };
      case 'giveBack':
        return script.isRefundAccepted;
      default:
        throw new Error(`nobody answers ${call}`);
    }
  }

  private async railAnswer(id: string, request: RailRequest): Promise<RailAnswer> {
    if (request.uma?.kind !== 'HERE') return railSays(this.scripts.get(id)!.answers, request);
    return this.uma.pay(request, request.uma);
  }
}

/** A sender elsewhere pays a platform's receiver, on an account or at a bank. */
function received({ to, destination, amountMinor }: Operation, paymentId: string): ReceivePayment {
  const customerId = receiverOf(to);
  const inside = { ...fromElsewhere.destination, accountId: customerAccountId(customerId, 'USD'), customerId };
  return new ReceivePayment({
    ...fromElsewhere,
    paymentId,
    tenantId: to,
    customerId,
    destination: destination === 'BANK' ? toBank.destination : inside,
    terms: plainTerms('USD', amountMinor),
  });
}

function quoted(one: Operation, paymentId: string): PaymentQuotedData {
  const { from: tenantId } = one;
  return {
    ...internalQuote,
    paymentId,
    tenantId,
    customerId: senderOf(tenantId),
    source: sourceOf(one),
    destination: destinationOf(one),
    terms: termsOf(one),
    ...(one.source === 'SENT' && { funding: fundedQuote.funding! }),
    ...(one.hasFeeAccount && { platformFeeAccountId: feesOf(tenantId) }),
  };
}

function sourceOf({ source, from }: Operation): PaymentEnd {
  if (source === 'ACCOUNT') return { ...internalQuote.source, accountId: purseOf(from) };
  return source === 'BANK' ? pullQuote.source : fundedQuote.source;
}

function destinationOf({ destination, from, to, isConverted }: Operation): PaymentDestination {
  const currency = isConverted ? 'EUR' : 'USD';
  const uma = { kind: 'UMA' as const, accountId: '', currency };
  switch (destination) {
    case 'ACCOUNT':
      return { kind: 'INTERNAL', accountId: customerAccountId(receiverOf(from), currency), currency };
    case 'BANK':
      return { kind: 'EXTERNAL', accountId: 'bank', currency, paymentRail: 'WIRE' };
    case 'UMA_ELSEWHERE':
      return { ...uma, uma: { kind: 'ELSEWHERE', agreement: 'somebody' } };
    case 'UMA_HERE':
      return { ...uma, uma: { kind: 'HERE', tenantId: to, customerId: receiverOf(to) } };
  }
}

function termsOf({ amountMinor, isConverted, feeMinor, platformFeeMinor }: Operation): PaymentTerms {
  const terms = plainTerms('USD', amountMinor - feeMinor - platformFeeMinor, BEGINNING);
  const converted = isConverted && { receivingCurrency: 'EUR', receivingMinor: terms.convertedMinor * 2n };
  return { ...terms, sendingMinor: amountMinor, serviceFeeMinor: feeMinor, platformFeeMinor, ...converted };
}

/** What a platform's clearing account must show: what arrived elsewhere of what it sent, less what arrived here. */
function clearingOf(world: World, tenantId: string, currency: string): bigint {
  const pairs = world.ids(payment).map((id) => ({
    sent: world.state<PaymentState>(payment, id),
    got: world.state<IncomingPaymentState>(incomingPayment, counterpartId(id)),
  }));
  return pairs
    .filter(({ got }) => got.status === 'COMPLETED' && got.terms.receivingCurrency === currency)
    .reduce((sum, { sent, got }) => {
      const left = sent.tenantId === tenantId ? sent.terms.receivingMinor : 0n;
      return sum + left - (got.tenantId === tenantId ? got.terms.receivingMinor : 0n);
    }, 0n);
}

/** A payment to an address here that says it arrived did, and one that says it did not is nowhere. */
function expectAgreed(world: World): void {
  for (const id of world.ids(payment)) {
    const { status, destination } = world.state<PaymentState>(payment, id);
    if (destination.uma?.kind !== 'HERE') continue;
    const got = world.state<IncomingPaymentState>(incomingPayment, counterpartId(id)).status;
    expect([id, got === 'COMPLETED']).toEqual([id, status === 'COMPLETED']);
  }
}

test('however payments within, between and beyond two platforms mix, each ledger is balanced by itself, and what left one arrived', async () => {
  await fc.assert(
    fc.asyncProperty(scenario, async (one) => {
      const traffic = new Traffic(one.banked);
      const { world } = traffic;
      for (const [index, begun] of one.operations.entries()) traffic.begin(begun, index);
      await traffic.run(one);

      world.expectAtRest();
      expect([...world.audited.unexplained()]).toEqual([]);
      const phases = traffic.lives().map(([{ decider }, id]) => world.state<{ phase: string }>(decider, id).phase);
      expect(phases.filter((phase) => phase !== 'DONE' && phase !== 'EXPIRED')).toEqual([]);
      expectAgreed(world);
      for (const currency of ['USD', 'EUR']) {
        const clearing = TENANTS.map((tenantId) => world.sum(tenantId, `clearing:${currency}`));
        expect(clearing).toEqual(TENANTS.map((tenantId) => clearingOf(world, tenantId, currency)));
        expect(clearing[0]! + clearing[1]!).toBe(0n);
      }
    }),
    { numRuns: 1_000 },
  );
});
