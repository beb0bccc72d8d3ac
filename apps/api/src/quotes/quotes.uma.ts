import type { CustomerState } from '../../../../libs/domain/customers/customer.ts';
import type { PaymentDestination, PaymentTerms, UmaRoute } from '../../../../libs/domain/payments/payment.events.ts';
import { reject } from '../../../../libs/kernel/errors.ts';
import type { Tenant } from '../../../../libs/kernel/messages.ts';
import type { Receiver, Receivers, TakenCurrency } from '../receivers/receivers.ts';
import type { UmaDestinationBody } from './quotes.bodies.ts';

/** A UMA address as the destination of a quote, in the currency that is to arrive. */
export interface UmaEnd {
  kind: 'UMA';
  /** No account stands for it. */
  id: '';
  customerId?: never;
  currency: string;
  receiver: Receiver;
  taken: TakenCurrency;
}

/** Looks the receiver up. Without a currency it gets the source's where it takes it, else what it names first. */
export async function umaEnd(
  receivers: Receivers,
  tenant: Tenant,
  { umaAddress, currency }: UmaDestinationBody,
  lookupId: string | undefined,
  sourceCurrency: string | undefined,
): Promise<UmaEnd> {
  const receiver = await receivers.byAddress(tenant, umaAddress, 'destination.umaAddress');
  receivers.checkLookup(tenant, lookupId, receiver.address);
  const taking = (code: string | undefined) => receiver.currencies.find((one) => one.code === code);
  const taken = currency === undefined ? (taking(sourceCurrency) ?? receiver.currencies[0]) : taking(currency);
  if (!taken) {
    const allowed = receiver.currencies.map(({ code }) => code);
    throw reject('INVALID_CURRENCY', { field: 'destination.currency', currency, allowed });
  }
  return { kind: 'UMA', id: '', currency: taken.code, receiver, taken };
}

/** Agrees on the payment with the receiver's side. Refuses amounts that it does not take, and a payer of whom it is told too little. */
export async function umaDestination(
  receivers: Receivers,
  { environment }: Tenant,
  { receiver, taken, currency }: UmaEnd,
  { receivingMinor }: PaymentTerms,
  payer: CustomerState | undefined,
  payerInfo: Readonly<Record<string, unknown>>,
): Promise<PaymentDestination> {
  const { local, address } = receiver;
  if (local && local.customer.customerId === payer?.customerId) throw reject('SELF_PAYMENT');
  const missing = taken.requiredPayerFields.filter(({ name, mandatory }) => mandatory && !isTold(payerInfo[name]));
  if (missing.length > 0) {
    const fields = missing.map(({ name }) => name);
    throw reject('MISSING_MANDATORY_USER_INFO', { fields }, `senderCustomerInfo lacks ${fields.join(', ')}.`);
  }
  if (receivingMinor < taken.minMinor || receivingMinor > taken.maxMinor) {
    const range = { minimum: Number(taken.minMinor), maximum: Number(taken.maxMinor) };
    throw reject('AMOUNT_OUT_OF_RANGE', { ...range, currency });
  }
  const request = { receiver: address, currency, amountMinor: receivingMinor, payerInfo };
  const uma: UmaRoute = local
    ? { kind: 'HERE', tenantId: local.customer.tenantId, customerId: local.customer.customerId }
    : { kind: 'ELSEWHERE', agreement: await receivers.uma(environment).agree(request) };
  return { kind: 'UMA', accountId: '', currency, uma };
}

const isTold = (value: unknown): boolean => (value ?? '') !== '';
