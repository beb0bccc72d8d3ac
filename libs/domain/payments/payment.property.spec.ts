import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { railAnswers, railSays } from '../../../test/rail-answers.ts';
import { BEGINNING, DIES, World } from '../../../test/world.ts';
import { type AccountState, account, CloseAccount } from '../accounts/account.ts';
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
import { completePayment, type RailRequest } from './payment.process.ts';
import {
  CancelPayment,
  ConfirmReceipt,
  ExecutePayment,
  isFunded,
  type PaymentState,
  payment,
  QuotePayment,
  ReceiveFunding,
} from './payment.ts';

const AT = BEGINNING;

interface Script {
  answers: RailAnswer[];
  refund: boolean;
  /** Before which of its moves the payment's destination is closed, if it is empty. */
  closeDestinationAt: number | undefined;
  /** Before which of its moves the platform asks to cancel, and what the rail says to that. */
  cancelAt: number | undefined;
  isCancelAccepted: boolean;
  /** Before which of its moves the platform says that the receiver was told. */
  confirmAt: readonly number[];
  /** Before which of its moves the process dies. */
  deaths: readonly number[];
}

const confirmed = (paymentId: string) => ({ paymentId, receiptDeliveryConfirmedAt: AT, isDeposit: false });

/** Drives a payment to its end; says whether its first step was refused. */
function drive(world: World, paymentId: string, script: Script): { refused: boolean } {
  const { answers, refund, isCancelAccepted } = script;
  let moves = 0;
  let refused = false;
  world.run(completePayment, paymentId, (move) => {
    moves += 1;
    // The platform may ask at any time; what cannot be cancelled is refused and changes nothing.
    if (moves === script.cancelAt) world.send(new CancelPayment({ paymentId, now: world.now }));
    if (script.confirmAt.includes(moves)) world.must(new ConfirmReceipt(confirmed(paymentId)));
    if (moves === script.closeDestinationAt) world.send(new CloseAccount({ accountId: 'destination' }));
    if (script.deaths.includes(moves)) return DIES;
    if ('sends' in move) {
      refused ||= move.sends.type === 'RefuseExecution';
      return undefined;
    }
    if (move.call === 'rail') return railSays(answers, move.request as RailRequest);
    return move.call === 'refund' ? refund : isCancelAccepted;
  });
  return { refused };
}

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
  cancelAt: fc.option(fc.integer({ min: 1, max: 12 }), { nil: undefined }),
  isCancelAccepted: fc.boolean(),
  platformFee: fc.constantFrom(0n, 77n),
  funds: fc.constantFrom(0n, 5_000n, 1_000_000n),
  platformFunds: fc.constantFrom(0n, 10_000n),
  answers: railAnswers,
  refund: fc.boolean(),
  closeDestinationAt: fc.option(fc.integer({ min: 1, max: 12 }), { nil: undefined }),
  confirmAt: fc.uniqueArray(fc.integer({ min: 1, max: 20 }), { maxLength: 3 }),
  deaths: fc.uniqueArray(fc.integer({ min: 1, max: 20 }), { maxLength: 4 }),
});

/** Quotes the payment and sets it going; `fundedBy`: how much more or less than asked for is sent. */
function begin(world: World, quote: PaymentQuotedData, fundedBy: bigint): void {
  const { paymentId, terms } = quote;
  world.must(new QuotePayment(quote));
  if (isFunded(quote)) {
    const amountMinor = terms.sendingMinor + fundedBy;
    world.must(new ReceiveFunding({ paymentId, currency: 'USD', amountMinor, now: AT }));
  } else world.must(new ExecutePayment({ paymentId, now: AT }));
}

function priced(quote: PaymentQuotedData, platformFeeMinor: bigint): PaymentQuotedData['terms'] {
  const terms = { ...quote.terms, platformFeeMinor, convertedMinor: quote.terms.convertedMinor - platformFeeMinor };
  if (terms.sendingCurrency === terms.receivingCurrency) terms.receivingMinor = terms.convertedMinor;
  return terms;
}

test('whatever happens to a payment, money is neither lost nor invented, and nothing stays in transit', () => {
  fc.assert(
    fc.property(scenario, (one) => {
      const { quote, funds } = one;
      const world = new World();
      const { receivingCurrency } = quote.terms;
      for (const id of ['source', 'refunds', 'fees-of-platform']) world.open(id);
      world.open('destination', { currency: receivingCurrency });
      if (funds > 0n) world.deposit('source', funds);
      if (one.platformFunds > 0n) world.deposit('fees-of-platform', one.platformFunds);
      const terms = priced(quote, one.platformFee);
      const fee = one.hasFeeAccount ? { platformFeeAccountId: 'fees-of-platform' } : {};
      begin(world, { ...quote, terms, ...fee, dailyLimitMinor: 1_000_000n }, one.fundedBy);
      const { refused } = drive(world, quote.paymentId, one);

      world.expectAtRest();
      expect([...world.audited.unexplained()]).toEqual([]);
      const state = world.state<PaymentState>(payment, quote.paymentId);
      const balance = (id: string) => world.state<AccountState>(account, id).postedMinor;
      if (refused) expect([state.status, balance('source')]).toEqual(['EXPIRED', funds]);
      if (state.refund?.status === 'COMPLETED') {
        expect(balance('source')).toBe(funds);
        expect(world.state<AccountState>(account, 'source').sent?.sentMinor ?? 0n).toBe(0n);
        const isCrypto = state.funding?.refundAccountId !== undefined;
        expect(balance('refunds')).toBe(isCrypto ? state.receivedMinor! : 0n);
        if (!isCrypto) expect(world.sum('p.sandbox', 'rail:USD')).toBe(0n);
      }
      if (state.status === 'COMPLETED' && !state.refund && quote.destination.kind === 'INTERNAL')
        expect(balance('destination')).toBe(terms.receivingMinor);
    }),
    { numRuns: 4_000 },
  );
});
