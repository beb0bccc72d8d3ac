import type { Deposit } from '../libs/domain/accounts/account.events.ts';
import { type PaymentEnd, paymentEventTypes } from '../libs/domain/payments/payment.events.ts';
import { type PaymentState, payment } from '../libs/domain/payments/payment.ts';
import { publicId } from '../libs/kernel/ids.ts';
import type { RecordedEvent } from '../libs/kernel/messages.ts';
import { type Projection, type StateRow, stateProjection, tenantColumns } from '../libs/kernel/projection.ts';

const ofStream = stateProjection(payment, {
  table: 'payments',
  handles: paymentEventTypes,
  columns: {
    type: 'text',
    status: 'text',
    open_until: 'timestamptz',
    is_listed: 'boolean',
    customer: 'text',
    receiver: 'text',
    platform_customer: 'text',
    source_account: 'text',
    destination_account: 'text',
    reference: 'text',
  },
  indexes: ['(customer)', '(receiver)', '(source_account)', '(destination_account)', '(reference)'],
  filters,
});

/** Quotes and transactions: one row per payment, since both are made of the same state. A deposit is a payment without a quote. */
export const payments: Projection<StateRow<PaymentState>> = {
  ...ofStream,
  handles: [...ofStream.handles, 'DepositReceived'],
  keys: (event) => (event.type === 'DepositReceived' ? [(event.data as Deposit).paymentId] : ofStream.keys(event)),
  apply(rows, event) {
    if (event.type !== 'DepositReceived') return ofStream.apply(rows, event);
    const { paymentId } = event.data as Deposit;
    if (rows.get(paymentId)) return;
    const state = depositState(event);
    const row = {
      id: paymentId,
      ...tenantColumns(event.meta.tenant),
      state,
      revision: -1n, // the payment has no stream of its own yet
      position: BigInt(event.position),
      created_at: event.at,
      updated_at: event.at,
    };
    rows.set(Object.assign(row, filters(state)));
  },
};

/** The state of the payment that a deposit is: complete from the start. */
export function depositState(event: RecordedEvent): PaymentState {
  const deposit = event.data as Deposit;
  const { accountId, currency, amountMinor, customerId, platformCustomerId, paymentId, tenantId, reference } = deposit;
  const end = { kind: 'INTERNAL' as const, accountId, currency, ...(customerId && { customerId }) };
  return {
    ...payment.initial,
    paymentId,
    tenantId,
    type: 'INCOMING',
    phase: 'DONE',
    status: 'COMPLETED',
    isSettled: true,
    ...(customerId && { customerId }),
    platformCustomerId,
    source: { kind: 'EXTERNAL', accountId: '', currency },
    destination: end,
    terms: {
      ...payment.initial.terms,
      sendingCurrency: currency,
      receivingCurrency: currency,
      sendingMinor: amountMinor,
      receivingMinor: amountMinor,
      convertedMinor: amountMinor,
    },
    reference,
    createdAt: event.at,
    updatedAt: event.at,
    settledAt: event.at,
  };
}

function filters(state: PaymentState): Record<string, unknown> {
  const { source, destination, customerId = '' } = state;
  const receiver = destination.kind === 'INTERNAL' ? (destination.customerId ?? '') : '';
  return {
    type: state.type,
    status: state.status,
    open_until: state.phase === 'OPEN' ? state.expiresAt : undefined,
    is_listed: state.phase !== 'REFUSED' && !(state.immediatelyExecute && state.phase === 'EXECUTING'),
    customer: customerId,
    receiver: receiver === customerId ? undefined : receiver,
    platform_customer: state.platformCustomerId,
    source_account: accountPublicId(source),
    destination_account: accountPublicId(destination),
    reference: state.reference,
  };
}

/** The public id of one end of a payment; undefined for money from outside that no account here stands for. */
export function accountPublicId({ kind, accountId }: Pick<PaymentEnd, 'kind' | 'accountId'>): string | undefined {
  if (accountId === '') return undefined;
  return publicId(kind === 'INTERNAL' ? 'InternalAccount' : 'ExternalAccount', accountId);
}
