import type { CustomerEvent } from '../libs/domain/customers/customer.events.ts';
import { externalAccountEventTypes } from '../libs/domain/external-accounts/external-account.events.ts';
import { externalAccount } from '../libs/domain/external-accounts/external-account.ts';
import { type UmaDepositEvent, umaDepositEventTypes } from '../libs/domain/external-accounts/uma-deposit.events.ts';
import type { RecordedEvent } from '../libs/kernel/messages.ts';
import { type Projection, type Rows, type StateRow, stateProjection } from '../libs/kernel/projection.ts';
import type { ExternalAccountRowState } from './external-account.view.ts';

const accounts = stateProjection(externalAccount, {
  table: 'external_accounts',
  version: 2,
  handles: externalAccountEventTypes.filter((type) => type !== 'ExternalAccountAbandoned'),
  columns: { customer: 'text', currency: 'text', status: 'text' },
  filters: ({ customerId, currency, status }) => ({ customer: customerId ?? '', currency, status }),
  indexes: ['(customer)'],
  omit: ['challenge'],
}) as Projection<StateRow<ExternalAccountRowState>>;

type UmaEvent = RecordedEvent<UmaDepositEvent>;
type AccountRow = StateRow<ExternalAccountRowState>;
type AccountRows = Rows<AccountRow>;

const isUmaEvent = (event: RecordedEvent): event is UmaEvent =>
  (umaDepositEventTypes as readonly string[]).includes(event.type);

/** The account that the event makes the default, if any, and the one that it makes ordinary. */
function movedDefault(event: UmaEvent): { chosen?: string | undefined; ordinary?: string | undefined } {
  const { type, data } = event as UmaDepositEvent;
  return type === 'UmaDepositAccountChosen'
    ? { chosen: data.externalAccountId, ordinary: data.replacedAccountId }
    : { ordinary: data.externalAccountId };
}

function markDefault(rows: AccountRows, id: string | undefined, isDefaultUmaDeposit: boolean, event: UmaEvent): void {
  const row = id === undefined ? undefined : rows.get(id);
  if (!row || row.position >= BigInt(event.position)) return;
  rows.set({ ...row, state: { ...row.state, isDefaultUmaDeposit }, position: BigInt(event.position) });
}

const deleted = (row: AccountRow): AccountRow => ({
  ...row,
  status: 'DELETED',
  state: { ...row.state, status: 'DELETED' },
});

/** With the person the personal data of its accounts go, which a row built anew would lack too: nothing is left to be shown. */
function blank(rows: AccountRows, { externalAccountIds }: { externalAccountIds: string[] }): void {
  for (const id of externalAccountIds) {
    const row = rows.get(id);
    if (!row) continue;
    const { accountInfo: _, verifiedFullName: __, ...state } = row.state;
    rows.set(deleted({ ...row, state }));
  }
}

/** What is still said of an account whose person was erased, by a request that was under way, does not bring it back. */
function applyToAccount(rows: AccountRows, event: RecordedEvent): void {
  const gone = accounts.keys(event).filter((id) => rows.get(id)?.state.status === 'DELETED');
  accounts.apply(rows, event);
  for (const id of gone) rows.set(deleted(rows.get(id)!));
}

type PersonErased = Extract<CustomerEvent, { type: 'PersonErased' }>['data'];

/**
 * External accounts of customers and platforms. `customer` is empty for the platform's own. The default UMA deposit account moves
 * in one event, so no reader ever sees two.
 */
export const externalAccounts: Projection<StateRow<ExternalAccountRowState>> = {
  ...accounts,
  handles: [...accounts.handles, ...umaDepositEventTypes, 'PersonErased'],
  keys(event) {
    if (event.type === 'PersonErased') return (event.data as PersonErased).externalAccountIds;
    if (!isUmaEvent(event)) return accounts.keys(event);
    const { chosen, ordinary } = movedDefault(event);
    return [chosen, ordinary].filter((id) => id !== undefined);
  },
  apply(rows, event) {
    if (event.type === 'PersonErased') return blank(rows, event.data as PersonErased);
    if (!isUmaEvent(event)) return applyToAccount(rows, event);
    const { chosen, ordinary } = movedDefault(event);
    markDefault(rows, ordinary, false, event);
    markDefault(rows, chosen, true, event);
  },
};
