import type { Event } from '../../kernel/messages.ts';

/** Which external account takes a customer's incoming UMA payments. One event moves it from the account before to the new one. */
export type UmaDepositEvent =
  | Event<
      'UmaDepositAccountChosen',
      { customerId: string; tenantId: string; externalAccountId: string; addedAt: string; replacedAccountId?: string }
    >
  | Event<'UmaDepositAccountCleared', { customerId: string; externalAccountId: string }>;

export const umaDepositEventTypes = [
  'UmaDepositAccountChosen',
  'UmaDepositAccountCleared',
] as const satisfies readonly UmaDepositEvent['type'][];
