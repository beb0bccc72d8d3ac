import type { Rejection } from '../kernel/errors.ts';
import type { Tenant } from '../kernel/messages.ts';
import type { CurrencyCode } from '../kernel/money.ts';

/** What must or may be told of the payer (spec, `CustomerInfoFieldName`). */
export interface PayerField {
  name: string;
  mandatory: boolean;
}

/** A receiver elsewhere as its provider describes it. Amounts are minor units of the currency received. */
export interface UmaReceiver {
  currencies: readonly { code: CurrencyCode; minMinor: bigint; maxMinor: bigint }[];
  requiredPayerFields: readonly PayerField[];
}

/** What is agreed upon before money moves. */
export interface UmaPaymentRequest {
  /** Lower case, with the leading `$`. */
  receiver: string;
  currency: CurrencyCode;
  amountMinor: bigint;
  payerInfo: Readonly<Record<string, unknown>>;
}

/**
 * An order under an agreement; `reference` is its idempotency key. `orderedAt` and the answer's times: RFC 3339 UTC, by the clock of the
 * platform whose money moves.
 */
export interface UmaOrder {
  reference: string;
  tenant: Tenant;
  agreement: string;
  currency: CurrencyCode;
  amountMinor: bigint;
  orderedAt: string;
}

export type UmaPayoutFailure = 'COMPLIANCE_REJECTED' | 'COUNTERPARTY_POST_TX_FAILED' | 'ACCOUNT_CANNOT_RECEIVE';

/** How a payment to a receiver elsewhere stands. `PENDING`: ask again at `checkAt`. A timeout is no answer: it throws. */
export type UmaPayAnswer =
  | { outcome: 'PENDING'; checkAt: string }
  | { outcome: 'SETTLED' }
  | { outcome: 'REJECTED'; failureReason: UmaPayoutFailure };

export type UmaCollectFailure =
  | 'LNURLP_FAILED'
  | 'PAY_REQUEST_FAILED'
  | 'COMPLIANCE_REJECTED'
  | 'COLLECTION_FAILED'
  | 'QUOTE_EXPIRED'
  | 'QUOTE_EXECUTION_FAILED';

/** How the money of a sender elsewhere stands. */
export type UmaCollectAnswer =
  | { outcome: 'PENDING'; checkAt: string }
  | { outcome: 'SETTLED' }
  | { outcome: 'REJECTED'; failureReason: UmaCollectFailure };

/** A provider that can be paid (spec, `GET /uma-providers`). */
export interface UmaProviderEntry {
  name: string;
  domain: string;
  /** ISO 3166-1 alpha-2. */
  supportedRegions: readonly string[];
  supportedCurrencies: readonly CurrencyCode[];
  logoUrl: string;
  lei: string;
  /** False: payments to it are blocked. */
  isAllowed: boolean;
}

/** A custodian that external wallets may name (facts §5, `vaspName`). */
export interface VaspEntry {
  name: string;
  url?: string;
}

/**
 * The world of UMA outside this deployment. Versions, keys, certificates, signatures and encrypted messages are an adapter's own affair:
 * what goes wrong with them is thrown as the `Rejection` that the API answers with.
 */
export interface Uma {
  /** Asks the receiver's provider what the receiver takes. Throws `UMA_NOT_FOUND` where nobody knows the address. */
  lookUp(receiver: string): Promise<UmaReceiver>;
  /** The pay request: both sides agree on an amount. Answers the name under which the agreement is carried out. */
  agree(request: UmaPaymentRequest): Promise<string>;
  /** Pays under an agreement. */
  pay(order: UmaOrder): Promise<UmaPayAnswer>;
  /** Names what a sender elsewhere announced, for `collect` and `giveBack`. */
  announcedBy(sender: string): string;
  /** Takes in what a sender elsewhere pays. */
  collect(order: UmaOrder): Promise<UmaCollectAnswer>;
  /** Sends money back to where it came from; false: that is not possible. */
  giveBack(order: Pick<UmaOrder, 'reference' | 'agreement'>): Promise<boolean>;
  providers(): Promise<readonly UmaProviderEntry[]>;
  vasps(): Promise<readonly VaspEntry[]>;
}

/** What an environment without UMA answers: nothing is recorded then (decision 14). */
export type UmaOf = (environment: string) => Uma | Rejection;
