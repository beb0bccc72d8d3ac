import { expect, test } from '@jest/globals';
import type { RecordedEvent } from '../libs/kernel/messages.ts';
import type { Rows, StateRow } from '../libs/kernel/projection.ts';
import type { ExternalAccountRowState } from './external-account.view.ts';
import { externalAccounts } from './external-accounts.ts';
import { externalAccountAnnouncer } from './webhooks/external-accounts.ts';

const ID = '0195a000-0000-7000-8000-000000000001';
const stream = `externalAccount-${ID}`;
const meta = { tenant: { platform: 'p', environment: 'sandbox' } };
const added = {
  externalAccountId: ID,
  customerId: 'c',
  status: 'ACTIVE',
  currency: 'EUR',
  accountType: 'EUR_ACCOUNT',
  accountInfo: { iban: 'DE89370400440532013000' },
};

test.each([
  ['OwnershipChallengeStarted', { method: 'LIVENESS' }],
  ['OwnershipVerified', {}],
  ['OwnershipVerificationFailed', {}],
])('%s of an account whose person was erased meanwhile does not bring it back, and is not announced', (type, more) => {
  const table = new Map<string, StateRow<ExternalAccountRowState>>();
  const rows = {
    get: (id: string) => table.get(id),
    set: (row: StateRow<ExternalAccountRowState>) => void table.set(row.id, row),
  } as unknown as Rows<StateRow<ExternalAccountRowState>>;
  let position = 0;
  const apply = (of: string, revision: number, name: string, data: object) => {
    position += 1;
    const at = '2026-01-01T00:00:00.000Z';
    const event = {
      stream: of,
      revision,
      type: name,
      data,
      position,
      at,
      meta,
    } as unknown as RecordedEvent;
    externalAccounts.apply(rows, event);
    return event;
  };
  apply(stream, 0, 'ExternalAccountAdded', added);
  expect(table.get(ID)).toMatchObject({ status: 'ACTIVE', state: { accountInfo: added.accountInfo } });
  apply('customer-c', 9, 'PersonErased', { customerId: 'c', externalAccountIds: [ID] });
  expect(table.get(ID)).toMatchObject({ status: 'DELETED', state: { status: 'DELETED' } });
  const late = apply(stream, 1, type, { externalAccountId: ID, previousStatus: 'ACTIVE', ...more });
  expect(table.get(ID)).toMatchObject({ status: 'DELETED', revision: 1n, state: { status: 'DELETED' } });
  expect(externalAccountAnnouncer.announce(late, (_, id) => table.get(id) as never)).toEqual([]);
});
