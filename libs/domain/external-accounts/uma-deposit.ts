import type { Decider } from '../../kernel/decider.ts';
import type { Rejection } from '../../kernel/errors.ts';
import { command } from '../../kernel/messages.ts';
import { transitions } from '../../kernel/transitions.ts';
import type { UmaDepositEvent } from './uma-deposit.events.ts';

/** Replaces the default there may be, unless that is an account that was added later (`addedAt`, RFC 3339 UTC). */
export class ChooseUmaDepositAccount extends command('ChooseUmaDepositAccount')<{
  customerId: string;
  tenantId: string;
  externalAccountId: string;
  addedAt: string;
}>() {}
/** Another account's default stays. */
export class ClearUmaDepositAccount extends command('ClearUmaDepositAccount')<{
  customerId: string;
  externalAccountId: string;
}>() {}

export type UmaDepositCommand = ChooseUmaDepositAccount | ClearUmaDepositAccount;
export type UmaDepositStatus = 'NONE' | 'CHOSEN';

export interface UmaDepositState {
  status: UmaDepositStatus;
  /** The default; an account that was deleted meanwhile is none. */
  externalAccountId?: string;
  addedAt?: string;
}

/** Of two rows for one cell the second one holds for what its comment says. */
export const umaDepositTransitions = transitions<UmaDepositStatus, UmaDepositCommand['type']>([
  ['NONE', 'ChooseUmaDepositAccount', 'CHOSEN', 'UmaDepositAccountChosen'],
  ['NONE', 'ClearUmaDepositAccount', 'NONE', 'nothing'],
  ['CHOSEN', 'ChooseUmaDepositAccount', 'CHOSEN', 'UmaDepositAccountChosen'],
  // It is the default already, or the default was added later.
  ['CHOSEN', 'ChooseUmaDepositAccount', 'CHOSEN', 'nothing'],
  ['CHOSEN', 'ClearUmaDepositAccount', 'NONE', 'UmaDepositAccountCleared'],
]);

function decide(state: UmaDepositState, { type, data }: UmaDepositCommand): UmaDepositEvent[] | Rejection {
  const isChosen = state.externalAccountId === data.externalAccountId;
  switch (type) {
    case 'ChooseUmaDepositAccount': {
      if (isChosen || (state.addedAt !== undefined && state.addedAt > data.addedAt)) return [];
      const replacedAccountId = state.externalAccountId;
      return [{ type: 'UmaDepositAccountChosen', data: { ...data, ...(replacedAccountId && { replacedAccountId }) } }];
    }
    case 'ClearUmaDepositAccount':
      return isChosen ? [{ type: 'UmaDepositAccountCleared', data }] : [];
  }
}

function evolve(_: UmaDepositState, event: UmaDepositEvent): UmaDepositState {
  return event.type === 'UmaDepositAccountChosen'
    ? { status: 'CHOSEN', externalAccountId: event.data.externalAccountId, addedAt: event.data.addedAt }
    : { status: 'NONE' };
}

/**
 * The default UMA deposit account of a customer (spec, Limits: at most one). A stream per customer holds it, so that there are
 * never two and never none while it moves.
 */
export const umaDeposit: Decider<UmaDepositState, UmaDepositCommand, UmaDepositEvent> = {
  name: 'umaDeposit',
  id: 'customerId',
  commands: [ChooseUmaDepositAccount, ClearUmaDepositAccount],
  initial: { status: 'NONE' },
  decide,
  evolve,
  version: 1,
};
