import type { Event } from '../../kernel/messages.ts';
import type { PaymentRail } from '../../kernel/rails.ts';

/** Whose an internal account is: the customer's, or the platform's own when `customerId` is absent. */
export interface AccountOpenedData {
  accountId: string;
  /** `<platform>.<environment>`. */
  tenantId: string;
  customerId?: string;
  /** The platform's own name for the holder; the platform's public id for its own accounts. */
  platformCustomerId: string;
  currency: string;
  type: AccountType;
}

export type AccountType = 'INTERNAL_FIAT' | 'INTERNAL_CRYPTO' | 'EMBEDDED_WALLET' | 'RULE_BASED';

/** Where money that arrives on a `RULE_BASED` account goes on to at once (facts §4). */
export interface SweepRule {
  /** The holder's ordinary account of the same currency: takes what cannot be swept. */
  canonicalAccountId: string;
  destination: { kind: 'INTERNAL' | 'EXTERNAL'; accountId: string; paymentRail?: PaymentRail };
  purposeOfPayment?: string;
  /** Least and most that one payment to the destination may be, in minor units of the account's currency. */
  minimumMinor: bigint;
  maximumMinor: bigint;
}

/** What people wrote about a rule and its payments; encrypted where it is stored. */
export interface SweepTexts {
  label?: string;
  description?: string;
  remittanceInformation?: string;
}

export const sweepTexts = [
  'label',
  'description',
  'remittanceInformation',
] as const satisfies readonly (keyof SweepTexts)[];

/** Money that arrived and is to be swept, under the payment that brought it. */
export interface Arrival {
  paymentId: string;
  amountMinor: bigint;
}

/**
 * One leg of the ledger. `counterpart` is the account or system account on the other side, so that every event is a balanced entry.
 * `paymentId` is the payment that the leg belongs to.
 */
export interface Leg {
  accountId: string;
  currency: string;
  amountMinor: bigint;
  counterpart: string;
  paymentId: string;
  /** It gives back what a payment took, and is refused only by an account that is closed or could not tell its balance any more. */
  isRefund?: true;
  /** What is sent counts towards the day's limit; what comes back on the same day no longer does. */
  daily?: DailyLimit;
  /** What moves between system accounts in the same moment: fees, conversion. */
  entries?: readonly Entry[];
}

/** The most that an account may send on a day of its tenant, `YYYY-MM-DD`. */
export interface DailyLimit {
  day: string;
  limitMinor: bigint;
}

/** Money moving from one account or system account to another. */
export interface Entry {
  from: string;
  to: string;
  currency: string;
  amountMinor: bigint;
}

/** Money that came from outside, with what the `INCOMING` transaction shows of it (decision 27). */
export interface Deposit extends Leg {
  tenantId: string;
  customerId?: string;
  platformCustomerId: string;
  reference: string;
}

/** Facts of an internal account. Amounts are minor units of its currency. */
export type AccountEvent =
  | Event<'AccountOpened', AccountOpenedData>
  | Event<'DepositReceived', Deposit>
  | Event<'AccountCredited', Leg>
  | Event<'AccountDebited', Leg>
  | Event<'FundsPended', Leg>
  | Event<'FundsPosted', Leg>
  | Event<'FundsVoided', Leg>
  | Event<'AccountClosed', { accountId: string }>
  | Event<'AccountReopened', { accountId: string }>
  | Event<'SweepRuleSet', { accountId: string; subject: string; rule: SweepRule } & SweepTexts>
  | Event<'SweepRequested', { accountId: string } & Arrival>
  | Event<'SweepsStarted', { accountId: string; paymentIds: readonly string[] }>;

export const accountEventTypes = [
  'AccountOpened',
  'DepositReceived',
  'AccountCredited',
  'AccountDebited',
  'FundsPended',
  'FundsPosted',
  'FundsVoided',
  'AccountClosed',
  'AccountReopened',
  'SweepRuleSet',
  'SweepRequested',
  'SweepsStarted',
] as const satisfies readonly AccountEvent['type'][];
