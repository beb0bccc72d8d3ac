import {
  type IncomingPaymentEvent,
  incomingPaymentEventTypes,
} from '../../../libs/domain/incoming-payments/incoming-payment.events.ts';
import type { IncomingPaymentState } from '../../../libs/domain/incoming-payments/incoming-payment.state.ts';
import { incomingPayment } from '../../../libs/domain/incoming-payments/incoming-payment.ts';
import type { PaymentEvent } from '../../../libs/domain/payments/payment.events.ts';
import { paymentEventTypes } from '../../../libs/domain/payments/payment.events.ts';
import { isForPlatform } from '../../../libs/domain/payments/payment.legs.ts';
import { isBroughtIn, isOver, type PaymentState } from '../../../libs/domain/payments/payment.state.ts';
import { payment } from '../../../libs/domain/payments/payment.ts';
import type { RecordedEvent } from '../../../libs/kernel/messages.ts';
import { movements } from '../../../projections/journal.ts';

const isPaymentEvent = new Set<string>(paymentEventTypes);
const isIncomingEvent = new Set<string>(incomingPaymentEventTypes);

interface Tracked {
  state: PaymentState;
  /** Set for a payment to a UMA address here, which has a life of its own. */
  incoming?: IncomingPaymentState;
  /** What it moved so far, per account. */
  net: Map<string, bigint>;
  /** Position of its last event or movement. */
  position: number;
  /** The platform could not give its fee back; the service advanced it. */
  isFeeCovered: boolean;
}

/** A transaction whose ledger entries are not what its terms and its outcome say. */
export interface Unexplained {
  paymentId: string;
  position: number;
  message: string;
}

/**
 * Holds every transaction against its ledger entries: when it has come to rest, the accounts must have moved by exactly what it was quoted
 * at and how it ended; and no entry may belong to none. In memory are only those that are under way, or wrong.
 */
export class Transactions {
  count = 0;
  private readonly tracked = new Map<string, Tracked>();

  take(event: RecordedEvent): void {
    if (begins.has(event.type)) this.count += 1;
    if (event.type === 'DepositReceived') return; // it is the transaction and its entry
    const moved = movements(event);
    const isOwn = isPaymentEvent.has(event.type);
    const isIncoming = isIncomingEvent.has(event.type);
    if (!isOwn && !isIncoming && moved.length === 0) return;
    const { paymentId } = event.data as { paymentId: string };
    const one: Tracked = this.tracked.get(paymentId) ?? {
      state: payment.initial,
      net: new Map(),
      position: 0,
      isFeeCovered: false,
    };
    this.tracked.set(paymentId, one);
    one.position = event.position;
    for (const { from, to, amountMinor } of moved) {
      add(one.net, from, -amountMinor);
      add(one.net, to, amountMinor);
    }
    if (isOwn) one.state = payment.evolve(one.state, event as unknown as PaymentEvent & { at: string });
    if (isIncoming) one.incoming = evolved(one.incoming, event);
    if (event.type === 'PlatformFeeReversed' && moved.length > 0) one.isFeeCovered = true;
    const { phase } = one.incoming ?? one.state;
    const isDone = isOver(phase) && difference(one) === undefined;
    // The receipt of a deposit, which has no stream of its own otherwise, may be confirmed.
    const isOnlyConfirmed = phase === 'NONE' && one.net.size === 0;
    if (isDone || isOnlyConfirmed) this.tracked.delete(paymentId);
  }

  /** True while a payment may have money reserved or on its way. */
  isUnderWay(paymentId: string): boolean {
    const one = this.tracked.get(paymentId);
    return one !== undefined && one.state.phase !== 'NONE' && !isOver(one.state.phase);
  }

  /** Those that are wrong, once all events were taken. */
  *unexplained(): Generator<Unexplained> {
    for (const [paymentId, one] of this.tracked) {
      const { position } = one;
      const state = one.incoming ?? one.state;
      if (state.phase === 'NONE') {
        yield { paymentId, position, message: 'moves money, but there is no such transaction under way' };
      } else if (isOver(state.phase)) {
        yield { paymentId, position, message: `${state.status}, but ${difference(one)}` };
      }
    }
  }
}

const begins = new Set(['PaymentQuoted', 'DepositReceived', 'IncomingPaymentAnnounced']);

const evolved = (state: IncomingPaymentState = incomingPayment.initial, event: RecordedEvent): IncomingPaymentState =>
  incomingPayment.evolve(state, event as unknown as IncomingPaymentEvent & { at: string });

function add(net: Map<string, bigint>, account: string, minor: bigint): void {
  const sum = (net.get(account) ?? 0n) + minor;
  if (sum === 0n) net.delete(account);
  else net.set(account, sum);
}

/** The first account that did not move as it should have; undefined when all did. */
function difference(one: Tracked): string | undefined {
  const expected = one.incoming ? expectedOfIncoming(one.incoming) : expectedOf(one);
  for (const account of new Set([...expected.keys(), ...one.net.keys()])) {
    const [should, did] = [expected.get(account) ?? 0n, one.net.get(account) ?? 0n];
    if (should !== did) return `${account} moved by ${did}, its terms and outcome say ${should}`;
  }
  return undefined;
}

/** How accounts must have moved in sum, by the terms and the outcome of a transaction at rest. */
function expectedOf({ state, isFeeCovered }: Tracked): Map<string, bigint> {
  const { status, phase, refund, terms } = state;
  const net = new Map<string, bigint>();
  if (status === 'EXPIRED' || phase === 'REFUSED') return net;
  if (!refund) {
    if (status === 'COMPLETED') carryOut(net, state, destinationOf(state), true);
    return net;
  }
  if (refund.status === 'COMPLETED') giveBack(net, state);
  else setAside(net, state);
  if (isFeeCovered) {
    add(net, feeAccountOf(state, true), terms.platformFeeMinor);
    add(net, `receivable:${terms.sendingCurrency}`, -terms.platformFeeMinor);
  }
  return net;
}

/** What came in for a UMA address is where it was deposited, back with its sender, or in suspense. */
function expectedOfIncoming({ status, refund, origin, destination, terms }: IncomingPaymentState): Map<string, bigint> {
  const { receivingCurrency: currency, receivingMinor: minor } = terms;
  const net = new Map<string, bigint>();
  if (status !== 'COMPLETED' && refund?.status !== 'FAILED') return net;
  const deposit = destination.kind === 'INTERNAL' ? `account:${destination.accountId}` : `rail:${currency}`;
  add(net, `${origin.kind === 'CLEARING' ? 'clearing' : 'rail'}:${currency}`, -minor);
  add(net, status === 'COMPLETED' ? deposit : `suspense:${currency}`, minor);
  return net;
}

const sourceOf = ({ source, terms }: PaymentState): string =>
  source.kind === 'INTERNAL' ? `account:${source.accountId}` : `rail:${terms.sendingCurrency}`;

function destinationOf(state: PaymentState): string {
  const { destination, terms } = state;
  if (destination.kind === 'INTERNAL') return `account:${destination.accountId}`;
  return `${isForPlatform(state) ? 'clearing' : 'rail'}:${terms.receivingCurrency}`;
}

const feeAccountOf = ({ platformFeeAccountId, terms }: PaymentState, isCredited: boolean): string =>
  isCredited ? `account:${platformFeeAccountId}` : `suspense:${terms.sendingCurrency}`;

/** The whole way from the source, through fees and conversion, to an account. */
function carryOut(net: Map<string, bigint>, state: PaymentState, to: string, isFeeCredited: boolean): void {
  const { sendingCurrency: sending, receivingCurrency: receiving, ...terms } = state.terms;
  add(net, sourceOf(state), -terms.sendingMinor);
  add(net, `fees:${sending}`, terms.serviceFeeMinor);
  add(net, feeAccountOf(state, isFeeCredited), terms.platformFeeMinor);
  if (sending !== receiving) {
    add(net, `fx:${sending}`, terms.convertedMinor);
    add(net, `fx:${receiving}`, -terms.receivingMinor);
  }
  add(net, to, terms.receivingMinor);
}

/** Nothing is left, unless what came from outside went to an account instead of back. */
function giveBack(net: Map<string, bigint>, state: PaymentState): void {
  const account = state.funding?.refundAccountId;
  if (account === undefined || state.receivedMinor === undefined) return;
  add(net, sourceOf(state), -state.receivedMinor);
  add(net, `account:${account}`, state.receivedMinor);
}

/** What could not be returned is in suspense: what came, what was reserved, or what was on its way. */
function setAside(net: Map<string, bigint>, state: PaymentState): void {
  const { terms, source, destination, receivedMinor, isSettled, isFeeCredited } = state;
  const isPayout = destination.kind !== 'INTERNAL';
  const isForeign = receivedMinor !== undefined && !isBroughtIn(state);
  if (isForeign || (isPayout && source.kind === 'INTERNAL' && !isSettled)) {
    const minor = isForeign ? receivedMinor : terms.sendingMinor;
    add(net, sourceOf(state), -minor);
    add(net, `suspense:${terms.sendingCurrency}`, minor);
    return;
  }
  carryOut(net, state, `suspense:${terms.receivingCurrency}`, isFeeCredited);
}
