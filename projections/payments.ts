import type { Deposit } from '../libs/domain/accounts/account.events.ts';
import { incomingPaymentEventTypes } from '../libs/domain/incoming-payments/incoming-payment.events.ts';
import type { IncomingPaymentState } from '../libs/domain/incoming-payments/incoming-payment.state.ts';
import { incomingPayment } from '../libs/domain/incoming-payments/incoming-payment.ts';
import { type PaymentEnd, paymentEventTypes, plainTerms } from '../libs/domain/payments/payment.events.ts';
import { type PaymentState, payment } from '../libs/domain/payments/payment.ts';
import { publicId } from '../libs/kernel/ids.ts';
import type { RecordedEvent } from '../libs/kernel/messages.ts';
import {
  type Projection,
  type Rows,
  type StateRow,
  stateProjection,
  tenantColumns,
} from '../libs/kernel/projection.ts';

const shape = {
  table: 'payments',
  version: 2,
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
} as const;

const ofStream = stateProjection(payment, { ...shape, handles: paymentEventTypes, filters });

/** Payments to UMA addresses have a life of their own, and the fields that every transaction has. */
const ofIncoming = stateProjection(incomingPayment, {
  ...shape,
  handles: incomingPaymentEventTypes,
  filters: (state) => filters(asTransaction(state)),
});

/** What a row of the table holds. */
export type TransactionState = PaymentState & Partial<Pick<IncomingPaymentState, IncomingField>>;
type IncomingField =
  | 'origin'
  | 'senderUmaAddress'
  | 'senderCustomerId'
  | 'receiverUmaAddress'
  | 'receiverCustomerInfo'
  | 'requestedFields';

/** An incoming UMA payment as the transactions see it: they ask of its phase only whether it is open or over. */
export const asTransaction = (state: IncomingPaymentState): TransactionState => state as unknown as TransactionState;

/**
 * Quotes and transactions: one row per payment, since both are made of the same state. A deposit and a payment to a UMA address have no
 * quote.
 */
export const payments: Projection<StateRow<PaymentState>> = {
  ...ofStream,
  handles: [...ofStream.handles, ...ofIncoming.handles, 'DepositReceived'],
  begins: ['PaymentQuoted', 'DepositReceived'],
  keys: (event) => [(event.data as { paymentId: string }).paymentId],
  apply(rows, event) {
    if (ofIncoming.handles.includes(event.type)) return ofIncoming.apply(rows as never, event);
    if (event.type === 'ReceiptDeliveryConfirmed' && confirmIncoming(rows, event)) return;
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

/** A receipt is confirmed beside the stream of an incoming payment; said again, the later time holds. */
function confirmIncoming(rows: Rows<StateRow<PaymentState>>, event: RecordedEvent): boolean {
  const { paymentId, receiptDeliveryConfirmedAt } = event.data as {
    paymentId: string;
    receiptDeliveryConfirmedAt: string;
  };
  const row = rows.get(paymentId);
  if (!row || !(row.state as TransactionState).origin) return false;
  if (row.position < BigInt(event.position)) {
    const state = { ...row.state, receiptDeliveryConfirmedAt, updatedAt: event.at };
    rows.set({ ...row, state, position: BigInt(event.position), updated_at: event.at });
  }
  return true;
}

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
    terms: plainTerms(currency, amountMinor),
    reference,
    createdAt: event.at,
    updatedAt: event.at,
    settledAt: event.at,
  };
}

function filters(state: PaymentState): Record<string, unknown> {
  const { source, destination, customerId = '' } = state;
  const receiver = destination.kind === 'INTERNAL' ? (destination.customerId ?? '') : undefined;
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
