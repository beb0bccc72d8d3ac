import type { Decider } from '../../kernel/decider.ts';
import { type Rejection, reject } from '../../kernel/errors.ts';
import { command, type Stamped } from '../../kernel/messages.ts';
import { MAX_PAYMENT_AMOUNT, MAX_WIRE } from '../../kernel/money.ts';
import { transitions } from '../../kernel/transitions.ts';
import {
  type AccountEvent,
  type AccountOpenedData,
  type Arrival,
  type Deposit,
  type Leg,
  type SweepRule,
  type SweepTexts,
  sweepTexts,
} from './account.events.ts';

/** With a `rule` for accounts of the type `RULE_BASED`, and for those only. */
export class OpenAccount extends command('OpenAccount')<AccountOpenedData & { rule?: SweepRule } & SweepTexts>() {}
/** Money from outside arrives on the account. */
export class ReceiveDeposit extends command('ReceiveDeposit')<Deposit>() {}
/** Final at once. */
export class CreditAccount extends command('CreditAccount')<Leg>() {}
/** Final at once; refused when it is not available. */
export class DebitAccount extends command('DebitAccount')<Leg>() {}
/** Reserves: available shrinks, posted stays. */
export class PendFunds extends command('PendFunds')<Leg>() {}
/** Makes a reservation final. */
export class PostFunds extends command('PostFunds')<Leg>() {}
/** Releases a reservation. */
export class VoidFunds extends command('VoidFunds')<Leg>() {}
/** Refused while anything is posted or pending. */
export class CloseAccount extends command('CloseAccount')<{ accountId: string }>() {}
/** Takes a closing back: the deletion that it was part of was refused. */
export class ReopenAccount extends command('ReopenAccount')<{ accountId: string }>() {}
/** The sweeps of what these payments brought have begun. */
export class ConfirmSweepsStarted extends command('ConfirmSweepsStarted')<{
  accountId: string;
  paymentIds: readonly string[];
}>() {}

export type AccountCommand =
  | OpenAccount
  | ReceiveDeposit
  | CreditAccount
  | DebitAccount
  | PendFunds
  | PostFunds
  | VoidFunds
  | CloseAccount
  | ReopenAccount
  | ConfirmSweepsStarted;

export type AccountStatus = 'NONE' | 'ACTIVE' | 'CLOSED';

export interface AccountState extends Omit<AccountOpenedData, 'accountId'>, SweepTexts {
  accountId: string;
  status: AccountStatus;
  postedMinor: bigint;
  /** Reserved by payments under way. */
  pendingMinor: bigint;
  /** What each payment under way has reserved. */
  reservations: Readonly<Record<string, { heldMinor: bigint }>>;
  /** What was sent on the latest day on which something was. */
  sent?: { day: string; sentMinor: bigint };
  /** Of `RULE_BASED` accounts. */
  rule?: SweepRule;
  /** What arrived and whose sweep has not begun yet. */
  arrivals?: readonly Arrival[];
  createdAt: string;
  updatedAt: string;
}

/** What the account can spend. */
export const availableMinor = (account: AccountState): bigint => account.postedMinor - account.pendingMinor;

const closed = reject('CONFLICT', { reason: 'ACCOUNT_CLOSED' }, 'The internal account is closed.');
const missing = reject('REFERENCE_NOT_FOUND', undefined, 'There is no such internal account.');

const table = transitions<AccountStatus, AccountCommand['type']>(
  [
    ['NONE', 'OpenAccount', 'ACTIVE', 'AccountOpened'],
    ['ACTIVE', 'OpenAccount', reject('CONFLICT', { reason: 'ACCOUNT_EXISTS' })],
    ['ACTIVE', 'ReceiveDeposit', 'ACTIVE', 'DepositReceived'],
    ['ACTIVE', 'CreditAccount', 'ACTIVE', 'AccountCredited'],
    ['ACTIVE', 'DebitAccount', 'ACTIVE', 'AccountDebited'],
    ['ACTIVE', 'PendFunds', 'ACTIVE', 'FundsPended'],
    ['ACTIVE', 'PostFunds', 'ACTIVE', 'FundsPosted'],
    ['ACTIVE', 'VoidFunds', 'ACTIVE', 'FundsVoided'],
    ['ACTIVE', 'CloseAccount', 'CLOSED', 'AccountClosed'],
    ['CLOSED', 'ReopenAccount', 'ACTIVE', 'AccountReopened'],
    ['ACTIVE', 'ReopenAccount', 'ACTIVE', 'nothing'],
    ['ACTIVE', 'ConfirmSweepsStarted', 'ACTIVE', 'SweepsStarted'],
    ['CLOSED', 'ConfirmSweepsStarted', 'CLOSED', 'SweepsStarted'],
    ...(
      [
        'ReceiveDeposit',
        'CreditAccount',
        'DebitAccount',
        'PendFunds',
        'PostFunds',
        'VoidFunds',
        'CloseAccount',
        'ReopenAccount',
        'ConfirmSweepsStarted',
      ] as const
    ).map((name) => ['NONE', name, missing] as const),
    ...(
      [
        'OpenAccount',
        'ReceiveDeposit',
        'CreditAccount',
        'DebitAccount',
        'PendFunds',
        'PostFunds',
        'VoidFunds',
        'CloseAccount',
      ] as const
    ).map((name) => ['CLOSED', name, closed] as const),
  ],
  reject('CONFLICT'),
);

/** The state machine of an internal account; `reservation` and balance conditions are in `decide`. */
export const accountTransitions = table;

/** The refusal of a debit or reservation that the account cannot cover (decision 6). */
export const insufficientFunds = (): Rejection =>
  reject('INVALID_INPUT', { reason: 'INSUFFICIENT_FUNDS' }, 'The account does not hold enough available funds.');

function decide(state: AccountState, { type, data }: AccountCommand): AccountEvent[] | Rejection {
  const refusal = table.guard(state.status, type);
  if (refusal) return refusal;
  switch (type) {
    case 'OpenAccount':
      return opened(data);
    case 'CloseAccount':
      if (state.postedMinor !== 0n || state.pendingMinor !== 0n) return notEmpty();
      return [{ type: 'AccountClosed', data }];
    case 'ReopenAccount':
      return state.status === 'ACTIVE' ? [] : [{ type: 'AccountReopened', data }];
    case 'ConfirmSweepsStarted': {
      const paymentIds = data.paymentIds.filter((id) => state.arrivals?.some(({ paymentId }) => paymentId === id));
      return paymentIds.length > 0 ? [{ type: 'SweepsStarted', data: { ...data, paymentIds } }] : [];
    }
    default: {
      const decision = decideLeg(state, type, data);
      return Array.isArray(decision) ? [...decision, ...sweepOf(state, type, data)] : decision;
    }
  }
}

type LegCommand = Exclude<AccountCommand, OpenAccount | CloseAccount | ReopenAccount | ConfirmSweepsStarted>;

function opened({ rule, ...given }: OpenAccount['data']): AccountEvent[] {
  const texts: SweepTexts = {};
  const data: AccountOpenedData & SweepTexts = { ...given };
  for (const name of sweepTexts) {
    if (data[name] !== undefined) texts[name] = data[name];
    delete data[name];
  }
  const { accountId, customerId, tenantId } = data;
  const set = rule && { accountId, subject: customerId ?? tenantId, rule, ...texts };
  return [{ type: 'AccountOpened', data }, ...(set ? [{ type: 'SweepRuleSet' as const, data: set }] : [])];
}

/** What arrives on a rule-based account is swept; what its own sweep gets back is that sweep's to move on. */
function sweepOf({ rule }: AccountState, type: LegCommand['type'], leg: Leg): AccountEvent[] {
  if (!rule || leg.isRefund || (type !== 'ReceiveDeposit' && type !== 'CreditAccount')) return [];
  const { accountId, paymentId, amountMinor } = leg;
  return [{ type: 'SweepRequested', data: { accountId, paymentId, amountMinor } }];
}

function decideLeg(state: AccountState, type: LegCommand['type'], leg: Leg): AccountEvent[] | Rejection {
  if (leg.amountMinor <= 0n) return reject('INVALID_AMOUNT');
  if (leg.currency !== state.currency) return reject('INVALID_CURRENCY', { expected: state.currency });
  const held = state.reservations[leg.paymentId]?.heldMinor;
  switch (type) {
    case 'ReceiveDeposit':
      if (isTooMuch(state, leg)) return tooMuch();
      return [{ type: 'DepositReceived', data: leg as Deposit }];
    case 'CreditAccount':
      if (isTooMuch(state, leg)) return tooMuch();
      return [{ type: 'AccountCredited', data: leg }];
    case 'DebitAccount':
      if (availableMinor(state) < leg.amountMinor) return insufficientFunds();
      if (isOverDailyLimit(state, leg)) return reject('DAILY_VOLUME_LIMIT_EXCEEDED');
      return [{ type: 'AccountDebited', data: leg }];
    case 'PendFunds':
      if (held !== undefined) return reject('CONFLICT', { reason: 'ALREADY_PENDED' });
      if (availableMinor(state) < leg.amountMinor) return insufficientFunds();
      if (isOverDailyLimit(state, leg)) return reject('DAILY_VOLUME_LIMIT_EXCEEDED');
      return [{ type: 'FundsPended', data: leg }];
    case 'PostFunds':
      if (held !== leg.amountMinor) return reject('CONFLICT', { reason: 'NOT_PENDED' });
      return [{ type: 'FundsPosted', data: leg }];
    case 'VoidFunds':
      if (held !== leg.amountMinor) return reject('CONFLICT', { reason: 'NOT_PENDED' });
      return [{ type: 'FundsVoided', data: leg }];
  }
}

/** A day that is over does not come back: what comes late for it counts on the latest one. */
const sentMinor = ({ sent }: AccountState, day: string): bigint => (sent && sent.day >= day ? sent.sentMinor : 0n);

const isOverDailyLimit = (state: AccountState, { daily, amountMinor }: Leg): boolean =>
  daily !== undefined && sentMinor(state, daily.day) + amountMinor > daily.limitMinor;

/** What comes back is refused only where the balance could not be told in JSON any more: nobody could read the account. */
const isTooMuch = (state: AccountState, { amountMinor, isRefund }: Leg): boolean =>
  state.postedMinor + amountMinor > (isRefund ? MAX_WIRE : MAX_PAYMENT_AMOUNT);

const tooMuch = () =>
  reject('AMOUNT_OUT_OF_RANGE', { maximum: Number(MAX_PAYMENT_AMOUNT) }, 'The account would hold more than it can.');

const notEmpty = () => reject('CONFLICT', { reason: 'ACCOUNT_NOT_EMPTY' }, 'The internal account still holds funds.');

function evolve(state: AccountState, event: AccountEvent & Stamped): AccountState {
  const next = { ...state, updatedAt: event.at };
  switch (event.type) {
    case 'AccountOpened':
      return { ...next, ...event.data, status: 'ACTIVE', createdAt: event.at };
    case 'DepositReceived':
    case 'AccountCredited':
      return { ...notSent(next, event.data), postedMinor: state.postedMinor + event.data.amountMinor };
    case 'AccountDebited':
      return { ...sent(next, event.data), postedMinor: state.postedMinor - event.data.amountMinor };
    case 'FundsPended': {
      const { paymentId, amountMinor } = event.data;
      const reservations = { ...state.reservations, [paymentId]: { heldMinor: amountMinor } };
      return { ...sent(next, event.data), reservations, pendingMinor: state.pendingMinor + amountMinor };
    }
    case 'FundsPosted':
      return { ...released(next, event.data), postedMinor: state.postedMinor - event.data.amountMinor };
    case 'FundsVoided':
      return notSent(released(next, event.data), event.data);
    case 'AccountClosed':
      return { ...next, status: 'CLOSED' };
    case 'AccountReopened':
      return { ...next, status: 'ACTIVE' };
    case 'SweepRuleSet': {
      const { subject: _, ...set } = event.data;
      return { ...next, ...set };
    }
    case 'SweepRequested': {
      const { accountId: _, ...arrival } = event.data;
      return { ...state, arrivals: [...(state.arrivals ?? []), arrival] };
    }
    case 'SweepsStarted': {
      const { paymentIds } = event.data;
      return { ...state, arrivals: state.arrivals?.filter(({ paymentId }) => !paymentIds.includes(paymentId)) ?? [] };
    }
  }
}

function sent(state: AccountState, { daily, amountMinor }: Leg): AccountState {
  if (!daily) return state;
  const day = state.sent && state.sent.day > daily.day ? state.sent.day : daily.day;
  return { ...state, sent: { day, sentMinor: sentMinor(state, daily.day) + amountMinor } };
}

function notSent(state: AccountState, { daily, amountMinor }: Leg): AccountState {
  if (!daily || state.sent?.day !== daily.day) return state;
  return { ...state, sent: { day: daily.day, sentMinor: state.sent.sentMinor - amountMinor } };
}

function released(state: AccountState, { paymentId, amountMinor }: Leg): AccountState {
  const { [paymentId]: _, ...reservations } = state.reservations;
  return { ...state, reservations, pendingMinor: state.pendingMinor - amountMinor };
}

/** An internal account: its own ledger (architecture §9). Balances of customers and platforms never go below zero. */
export const account: Decider<AccountState, AccountCommand, AccountEvent> = {
  name: 'account',
  id: 'accountId',
  commands: [
    OpenAccount,
    ReceiveDeposit,
    CreditAccount,
    DebitAccount,
    PendFunds,
    PostFunds,
    VoidFunds,
    CloseAccount,
    ReopenAccount,
    ConfirmSweepsStarted,
  ],
  creates: ['OpenAccount'],
  initial: {
    accountId: '',
    tenantId: '',
    platformCustomerId: '',
    currency: '',
    type: 'INTERNAL_FIAT',
    status: 'NONE',
    postedMinor: 0n,
    pendingMinor: 0n,
    reservations: {},
    createdAt: '',
    updatedAt: '',
  },
  decide,
  evolve,
  version: 1,
  personal: { SweepRuleSet: { subject: 'subject', fields: sweepTexts } },
  holdsPersonal: (state) => sweepTexts.some((name) => state[name] !== undefined),
};
