import { accountEventTypes } from '../../libs/domain/accounts/account.events.ts';
import type { AccountState } from '../../libs/domain/accounts/account.ts';
import { webhookEventType } from '../../libs/domain/webhooks/event-types.ts';
import { publicId } from '../../libs/kernel/ids.ts';
import type { Announcer, StateRow } from '../../libs/kernel/projection.ts';
import { internalAccountView } from '../internal-account.view.ts';
import { internalAccounts } from '../internal-accounts.ts';

/** Neither money nor status changes by these. */
const silent: readonly string[] = ['AccountOpened', 'SweepRuleSet', 'SweepRequested', 'SweepsStarted'];

/** Every movement of money on an internal account, and its end. An account that is opened is not announced: nothing changed. */
export const internalAccountAnnouncer: Announcer = {
  handles: accountEventTypes.filter((type) => !silent.includes(type)),
  announce(event, read) {
    const { accountId } = event.data as { accountId: string };
    const row = read(internalAccounts, accountId) as StateRow<AccountState> | undefined;
    if (!row) return [];
    const isStatus = event.type === 'AccountClosed' || event.type === 'AccountReopened';
    const change = isStatus ? 'STATUS_UPDATED' : 'BALANCE_UPDATED';
    const { type } = webhookEventType(`INTERNAL_ACCOUNT.${change}`);
    const resource = publicId('InternalAccount', accountId);
    return [{ type, resource, sequence: event.revision + 1, data: internalAccountView(row.state) }];
  },
};
