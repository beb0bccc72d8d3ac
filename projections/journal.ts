import type { Deposit, Entry, Leg } from '../libs/domain/accounts/account.events.ts';
import type { RecordedEvent } from '../libs/kernel/messages.ts';
import { type Projection, type Row, tenantColumns } from '../libs/kernel/projection.ts';

/** One movement of money: it leaves `from_account` and arrives at `to_account`, so every row is balanced in itself. */
export interface JournalRow extends Row {
  platform: string;
  environment: string;
  position: bigint;
  from_account: string;
  to_account: string;
  currency: string;
  amount: bigint;
  payment: string;
  at: string;
}

/** The double-entry journal. Accounts go by `account:<uuid>`, system accounts by their name, such as `transit:USD`. */
export const journal: Projection<JournalRow> = {
  name: 'journal',
  version: 1,
  insertOnly: true,
  columns: {
    platform: 'text',
    environment: 'text',
    position: 'bigint',
    from_account: 'text',
    to_account: 'text',
    currency: 'text',
    amount: 'bigint',
    payment: 'text',
    at: 'timestamptz',
  },
  indexes: ['(from_account)', '(to_account)', '(payment)'],
  handles: [
    'DepositReceived',
    'AccountCredited',
    'AccountDebited',
    'FundsPosted',
    'FundingReceived',
    'RailAccepted',
    'PlatformFeeReversed',
    'RefundCompleted',
    'RefundFailed',
    'IncomingPaymentCollected',
    'DepositPaidOut',
    'IncomingPaymentFailed',
    'IncomingRefundCompleted',
    'IncomingRefundFailed',
  ],
  keys: () => [],
  apply(rows, event) {
    movements(event).forEach((entry, line) => {
      rows.set({
        id: `${event.position}.${line + 1}`,
        ...tenantColumns(event.meta.tenant),
        position: BigInt(event.position),
        from_account: entry.from,
        to_account: entry.to,
        currency: entry.currency,
        amount: entry.amountMinor,
        payment: (event.data as { paymentId: string }).paymentId,
        at: event.at,
      });
    });
  },
};

/** What an event moves, in order: for the journal, the trial balance and the auditors' replay. Empty when it moves nothing. */
export function movements(event: Pick<RecordedEvent, 'type' | 'data'>): readonly Entry[] {
  switch (event.type) {
    case 'DepositReceived':
    case 'AccountCredited':
      return incoming(event.data as Deposit);
    case 'AccountDebited':
    case 'FundsPosted':
      return outgoing(event.data as Leg);
    case 'FundingReceived':
    case 'RailAccepted':
    case 'PlatformFeeReversed':
    case 'RefundCompleted':
    case 'RefundFailed':
    case 'IncomingPaymentCollected':
    case 'DepositPaidOut':
    case 'IncomingPaymentFailed':
    case 'IncomingRefundCompleted':
    case 'IncomingRefundFailed':
      return (event.data as { entries?: readonly Entry[] }).entries ?? [];
    default:
      return [];
  }
}

/** Before money arrives on an account, what it rests on has moved; after it left, what follows moves. */
function incoming({ accountId, counterpart, currency, amountMinor, entries = [] }: Leg): Entry[] {
  return [...entries, { from: counterpart, to: `account:${accountId}`, currency, amountMinor }];
}

function outgoing({ accountId, counterpart, currency, amountMinor, entries = [] }: Leg): Entry[] {
  return [{ from: `account:${accountId}`, to: counterpart, currency, amountMinor }, ...entries];
}
