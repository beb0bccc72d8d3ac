import type { Entry, Leg } from '../accounts/account.events.ts';
import type { IncomingPaymentData } from './incoming-payment.events.ts';

/**
 * How the money of an incoming payment moves. It comes from `rail` (a sender elsewhere) or from `clearing` (a platform of this
 * deployment, whose own books say the opposite), waits in `transit`, and goes on to the account or back.
 */
type Ends = Pick<IncomingPaymentData, 'paymentId' | 'destination' | 'terms' | 'origin'>;

const move = ({ terms }: Pick<Ends, 'terms'>, from: string, to: string): Entry[] => {
  const { receivingCurrency: currency, receivingMinor: amountMinor } = terms;
  return [{ from: `${from}:${currency}`, to: `${to}:${currency}`, currency, amountMinor }];
};

const outside = ({ origin }: Pick<Ends, 'origin'>): string => (origin.kind === 'CLEARING' ? 'clearing' : 'rail');

/** The sender's money comes in. */
export const collected = (payment: Ends): Entry[] => move(payment, outside(payment), 'transit');

/** It goes back to the sender. */
export const givenBack = (payment: Ends): Entry[] => move(payment, 'transit', outside(payment));

/** It can neither arrive nor go back: set aside where an operator finds it. */
export const setAside = (payment: Ends): Entry[] => move(payment, 'transit', 'suspense');

/** It leaves for the customer's external account. */
export const paidOut = (payment: Ends): Entry[] => move(payment, 'transit', 'rail');

/** The bank sent it back. */
export const returned = (payment: Ends): Entry[] => move(payment, 'rail', 'transit');

/** It arrives on the customer's internal account. */
export function depositLeg({ paymentId, destination, terms }: Ends): Leg {
  const { receivingCurrency: currency, receivingMinor: amountMinor } = terms;
  return { accountId: destination.accountId, currency, amountMinor, counterpart: `transit:${currency}`, paymentId };
}
