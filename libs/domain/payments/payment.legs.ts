import type { Entry, Leg } from '../accounts/account.events.ts';
import type { PaymentTerms } from './payment.events.ts';
import { isBroughtIn, type PaymentState } from './payment.state.ts';

/**
 * How a payment's money moves (architecture §9). System accounts, one per currency: `transit` (left its source, not yet arrived),
 * `fees` (the service's), `fx` (both sides of a conversion), `rail` (outside), `clearing`
 * (other platforms of this deployment), `suspense` (could neither arrive nor return),
 * `receivable` (advanced to a platform). In transit is never below zero: money comes in before it goes on.
 */
type Ends = Pick<
  PaymentState,
  'paymentId' | 'source' | 'destination' | 'terms' | 'platformFeeAccountId' | 'day' | 'dailyLimitMinor'
>;

/** What happens to the sending amount once it is in transit: the service's fee, and the conversion. */
function onTheWay(terms: PaymentTerms): Entry[] {
  const {
    sendingCurrency: sending,
    receivingCurrency: receiving,
    serviceFeeMinor,
    convertedMinor,
    receivingMinor,
  } = terms;
  const entries: Entry[] = [];
  if (serviceFeeMinor > 0n) {
    entries.push({
      from: `transit:${sending}`,
      to: `fees:${sending}`,
      currency: sending,
      amountMinor: serviceFeeMinor,
    });
  }
  if (sending !== receiving) {
    entries.push({ from: `transit:${sending}`, to: `fx:${sending}`, currency: sending, amountMinor: convertedMinor });
    entries.push({
      from: `fx:${receiving}`,
      to: `transit:${receiving}`,
      currency: receiving,
      amountMinor: receivingMinor,
    });
  }
  return entries;
}

/** The same movements back, last one first. */
export const reversed = (entries: readonly Entry[]): Entry[] =>
  entries.map((entry) => ({ ...entry, from: entry.to, to: entry.from })).reverse();

/** Its destination is the customer of a platform of this deployment, whose own books say the opposite. */
export const isForPlatform = ({ destination }: Pick<Ends, 'destination'>): boolean => destination.uma?.kind === 'HERE';

/** Money leaves over a rail, or for another platform. */
function outward(payment: Pick<Ends, 'terms' | 'destination'>): Entry {
  const { receivingCurrency: currency, receivingMinor: amountMinor } = payment.terms;
  const outside = isForPlatform(payment) ? 'clearing' : 'rail';
  return { from: `transit:${currency}`, to: `${outside}:${currency}`, currency, amountMinor };
}

/** The whole sending amount leaves the source for transit; towards an external destination it goes on to the rail at once. */
export function sourceLeg(payment: Ends): Leg {
  const { terms, source, destination, paymentId, day, dailyLimitMinor } = payment;
  const entries = destination.kind === 'INTERNAL' ? onTheWay(terms) : [...onTheWay(terms), outward(payment)];
  return {
    accountId: source.accountId,
    currency: terms.sendingCurrency,
    amountMinor: terms.sendingMinor,
    counterpart: `transit:${terms.sendingCurrency}`,
    paymentId,
    ...(entries.length > 0 && { entries }),
    ...(day !== undefined && dailyLimitMinor !== undefined && { daily: { day, limitMinor: dailyLimitMinor } }),
  };
}

/** The receiving amount arrives at an internal destination. */
export function destinationLeg({ terms, destination, paymentId }: Ends): Leg {
  return {
    accountId: destination.accountId,
    currency: terms.receivingCurrency,
    amountMinor: terms.receivingMinor,
    counterpart: `transit:${terms.receivingCurrency}`,
    paymentId,
  };
}

/** The platform's fee, between transit and the platform's account, either way; undefined when there is none. */
export function platformFeeLeg({ terms, platformFeeAccountId, paymentId }: Ends): Leg | undefined {
  if (terms.platformFeeMinor === 0n || platformFeeAccountId === undefined) return undefined;
  return {
    accountId: platformFeeAccountId,
    currency: terms.sendingCurrency,
    amountMinor: terms.platformFeeMinor,
    counterpart: `transit:${terms.sendingCurrency}`,
    paymentId,
  };
}

/** The whole sending amount comes back to the source, by the way it went. */
export function refundLeg(payment: Ends): Leg {
  const { terms, destination } = payment;
  const { entries: _, ...leg } = sourceLeg(payment);
  const entries = reversed(destination.kind === 'INTERNAL' ? onTheWay(terms) : [...onTheWay(terms), outward(payment)]);
  return { ...leg, isRefund: true, ...(entries.length > 0 && { entries }) };
}

/** A reservation that is only released or set aside, without any of the payment's other movements. */
export function reservationLeg(payment: Ends): Leg {
  const { entries: _, ...leg } = sourceLeg(payment);
  return leg;
}

/** Money that can neither arrive nor return is set aside where an operator finds it. */
export function suspenseLeg(payment: Ends): Leg {
  return { ...reservationLeg(payment), counterpart: `suspense:${payment.terms.sendingCurrency}` };
}

/** Money in transit that can neither arrive nor return is set aside there. */
export function strandedEntries(payment: PaymentState): Entry[] {
  const { terms, source, destination, receivedMinor, isSettled, isFeeCredited } = payment;
  const { sendingCurrency, receivingCurrency, receivingMinor, platformFeeMinor } = terms;
  const aside = (currency: string, amountMinor: bigint): Entry => ({
    from: `transit:${currency}`,
    to: `suspense:${currency}`,
    currency,
    amountMinor,
  });
  if (receivedMinor !== undefined && !isBroughtIn(payment)) return [aside(sendingCurrency, receivedMinor)];
  const isPayout = destination.kind !== 'INTERNAL';
  if (isPayout && source.kind === 'INTERNAL' && !isSettled) return []; // it was only reserved
  const cameBack = isPayout && isSettled ? reversed([outward(payment)]) : []; // from the rail, or from the other platform
  return [
    ...cameBack,
    aside(receivingCurrency, receivingMinor),
    ...(platformFeeMinor > 0n && !isFeeCredited ? [aside(sendingCurrency, platformFeeMinor)] : []),
  ];
}

const fromRail = (currency: string, amountMinor: bigint): Entry => ({
  from: `rail:${currency}`,
  to: `transit:${currency}`,
  currency,
  amountMinor,
});

/** Money that a pull or a sender brought: it comes in from outside and is ready for the destination. */
export function settlementOfPull({ terms }: Pick<Ends, 'terms'>): Entry[] {
  return [fromRail(terms.sendingCurrency, terms.sendingMinor), ...onTheWay(terms)];
}

/** Money of which not the exact amount came waits in transit, to be sent back. */
export const receivedEntries = (currency: string, amountMinor: bigint): Entry[] => [fromRail(currency, amountMinor)];

/** Money in transit leaves over the rail. */
export const payoutEntries = (payment: Pick<Ends, 'terms' | 'destination'>): Entry[] => [outward(payment)];

/** What was brought in is in transit again, in the sending currency and whole: back from where it had come to. */
function broughtBack(payment: PaymentState): Entry[] {
  const { terms, destination, isSettled } = payment;
  if (!isBroughtIn(payment)) return [];
  const back = reversed(onTheWay(terms));
  return destination.kind !== 'INTERNAL' && isSettled ? [...reversed([outward(payment)]), ...back] : back;
}

/** What a pull or a sender brought goes back to where it came from; undefined when nothing came. */
export function returnEntries(payment: PaymentState): Entry[] | undefined {
  const { receivedMinor, terms } = payment;
  if (receivedMinor === undefined) return undefined;
  return [...broughtBack(payment), ...reversed([fromRail(terms.sendingCurrency, receivedMinor)])];
}

/** The same to the customer's own account of a crypto asset (facts §3: refunds of crypto). */
export function returnLeg(payment: PaymentState, accountId: string): Leg {
  const { receivedMinor, terms, paymentId } = payment;
  const entries = broughtBack(payment);
  return {
    accountId,
    currency: terms.sendingCurrency,
    amountMinor: receivedMinor!,
    counterpart: `transit:${terms.sendingCurrency}`,
    paymentId,
    isRefund: true,
    ...(entries.length > 0 && { entries }),
  };
}
