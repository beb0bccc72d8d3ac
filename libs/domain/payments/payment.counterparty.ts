import type { PaymentEvent, PaymentTexts } from './payment.events.ts';
import type { PaymentState } from './payment.state.ts';

/** Whose key encrypts what people wrote. */
export const subjectOf = ({ customerId, tenantId }: Pick<PaymentState, 'customerId' | 'tenantId'>): string =>
  customerId ?? tenantId;

/** What the receiver's platform told of the receiver, when it told anything. */
export function counterpartyTold(
  state: PaymentState,
  counterpartyInformation: PaymentTexts['counterpartyInformation'],
): PaymentEvent[] {
  if (!counterpartyInformation) return [];
  const { paymentId } = state;
  return [{ type: 'CounterpartyTold', data: { paymentId, subject: subjectOf(state), counterpartyInformation } }];
}
