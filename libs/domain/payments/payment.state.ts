import type { ErrorCode } from '../../kernel/errors.ts';
import type { FundingSender } from '../../kernel/funding.ts';
import {
  type FailureReason,
  type PaymentQuotedData,
  type PaymentTexts,
  paymentTexts,
  type Refund,
} from './payment.events.ts';

/** Where a payment stands in its own process. `OPEN` and `EXECUTING` are `PENDING` to the public. */
export type PaymentPhase =
  | 'NONE'
  | 'OPEN'
  | 'EXECUTING'
  | 'SUBMITTING'
  | 'WAITING'
  | 'CANCELLING'
  | 'SETTLING'
  | 'WATCHING'
  | 'CHECKING_RETURN'
  | 'REFUNDING'
  | 'RETURNING_FEE'
  | 'RETURNING'
  | 'SETTING_ASIDE'
  | 'DONE'
  | 'EXPIRED'
  | 'REFUSED';

const over: ReadonlySet<string> = new Set<PaymentPhase>(['DONE', 'EXPIRED', 'REFUSED']);

/** A payment in that phase goes on no more, also an incoming one: it has nothing on its way. */
export const isOver = (phase: string): boolean => over.has(phase);

/** Public status of the transaction; the quote shows the same (spec, quotes; facts §3). */
export type PaymentStatus = 'PENDING' | 'PROCESSING' | 'COMPLETED' | 'FAILED' | 'EXPIRED';

export interface PaymentState extends PaymentQuotedData, PaymentTexts {
  phase: PaymentPhase;
  status: PaymentStatus;
  /** What the source gave is final, not only reserved. */
  isSettled: boolean;
  /** The platform's account holds its fee. */
  isFeeCredited: boolean;
  /** What came in from outside, by a pull or as funding. The exact amount has been converted and waits in transit. */
  receivedMinor?: bigint;
  /** What came in goes back: money might not move for this customer, or to this destination, any more. */
  isBarred?: true;
  /** Who sent the money that was waited for. */
  fundingSender?: FundingSender;
  /** The day of the tenant on which the execution was asked for: what it sends counts towards that day's limit. */
  day?: string;
  startedAt?: string;
  /** When the rail was given the order under way, where that is later than `startedAt`. */
  orderedAt?: string;
  /** When the platform asked to cancel. */
  cancelRequestedAt?: string;
  /** When the process wants to be woken. */
  waitUntil?: string;
  settledAt?: string;
  failureReason?: FailureReason;
  /** Why the last execution was refused. */
  refusal?: { code: ErrorCode; reason?: string };
  refund?: Refund;
  receiptDeliveryConfirmedAt?: string;
  /** The receiver, a customer of the same platform, was erased: nothing is known of it, and nothing is learnt. */
  isReceiverErased?: true;
  createdAt: string;
  updatedAt: string;
}

/** The quote waits for money to be sent: it cannot be executed (facts §2, Realtime-funding specifics). */
export const isFunded = ({ funding }: Pick<PaymentState, 'funding'>): boolean => funding !== undefined;

/** The money is collected from an external account. */
export const isPull = ({ source, funding }: Pick<PaymentState, 'source' | 'funding'>): boolean =>
  source.kind === 'EXTERNAL' && funding === undefined;

/** Its platform fee has no account to go to, so that the payment fails (facts §2). */
export const lacksFeeAccount = ({
  terms,
  platformFeeAccountId,
}: Pick<PaymentState, 'terms' | 'platformFeeAccountId'>): boolean =>
  terms.platformFeeMinor > 0n && platformFeeAccountId === undefined;

/** What is to be delivered came in from outside, has been converted, and is in transit. */
export const isBroughtIn = (
  state: Pick<PaymentState, 'receivedMinor' | 'terms' | 'platformFeeAccountId' | 'isBarred'>,
): boolean => state.receivedMinor === state.terms.sendingMinor && !lacksFeeAccount(state) && !state.isBarred;

/** What people wrote or are known by, apart from the rest: it is encrypted in an event of its own. */
export function withoutTexts<T extends PaymentTexts>(
  quote: T,
): { texts: PaymentTexts; data: Omit<T, keyof PaymentTexts> } {
  const data = { ...quote } as Record<string, unknown>;
  const texts: Record<string, unknown> = {};
  for (const name of paymentTexts) {
    if (data[name] !== undefined) texts[name] = data[name];
    delete data[name];
  }
  return { texts, data: data as Omit<T, keyof PaymentTexts> };
}

/** There is a quote of it; money that came without being asked for has none. */
export const hasQuote = ({ source }: Pick<PaymentState, 'source'>): boolean =>
  source.kind !== 'UMA' && (source.kind === 'REALTIME' || source.accountId !== '');
