import type { PaymentEvent, PaymentQuotedData, PaymentTexts } from './payment.events.ts';
import { type PaymentState, withoutTexts } from './payment.state.ts';

type Parties = Pick<PaymentState, 'customerId' | 'tenantId' | 'destination'>;

/** Whose key encrypts what people wrote. */
export const subjectOf = ({ customerId, tenantId }: Pick<Parties, 'customerId' | 'tenantId'>): string =>
  customerId ?? tenantId;

/** Whose key encrypts what is known of the receiver: a customer of the same platform has its own; of anybody else it is the payer's. */
const receiverOf = (payment: Parties): string => {
  const { uma } = payment.destination;
  return uma?.kind === 'HERE' && uma.tenantId === payment.tenantId ? uma.customerId : subjectOf(payment);
};

/** A quote, followed by what people wrote or are known by, each under the key of the one whom it is about. */
export function described(quote: Omit<PaymentQuotedData, 'descriptions'> & PaymentTexts): PaymentEvent[] {
  const { texts, data } = withoutTexts(quote);
  const parts = descriptionsOf(data, texts);
  return [{ type: 'PaymentQuoted', data: parts.length > 0 ? { ...data, descriptions: parts.length } : data }, ...parts];
}

function descriptionsOf(payment: Parties & { paymentId: string }, texts: PaymentTexts): PaymentEvent[] {
  const { destinationUmaAddress, ...ofPayer } = texts;
  const [payer, receiver] = [subjectOf(payment), receiverOf(payment)];
  const parts: [string, PaymentTexts][] =
    payer === receiver || destinationUmaAddress === undefined
      ? [[payer, texts]]
      : [
          [payer, ofPayer],
          [receiver, { destinationUmaAddress }],
        ];
  return parts
    .filter(([, part]) => Object.keys(part).length > 0)
    .map(([subject, part]) => ({ type: 'PaymentDescribed', data: { paymentId: payment.paymentId, subject, ...part } }));
}

/** What the receiver's platform told of the receiver, when it told anything. */
export function counterpartyTold(
  state: PaymentState,
  counterpartyInformation: PaymentTexts['counterpartyInformation'],
): PaymentEvent[] {
  if (!counterpartyInformation) return [];
  const { paymentId } = state;
  return [{ type: 'CounterpartyTold', data: { paymentId, subject: receiverOf(state), counterpartyInformation } }];
}

/** A payment without what is known of its receiver. */
export function withoutReceiver(state: PaymentState): PaymentState {
  const { destinationUmaAddress: _, counterpartyInformation: __, ...rest } = state;
  return { ...rest, isReceiverErased: true };
}
