import { type AccountState, account } from '../../../libs/domain/accounts/account.ts';
import { completePayment } from '../../../libs/domain/payments/payment.process.ts';
import type { PaymentState } from '../../../libs/domain/payments/payment.ts';
import type { SweepFailureReason } from '../../../libs/domain/sweeps/sweep.events.ts';
import type { SweepPaymentRequest, SweepQuoteRequest } from '../../../libs/domain/sweeps/sweep.process.ts';
import type { SweepPaymentAnswer, SweepQuoteAnswer } from '../../../libs/domain/sweeps/sweep.ts';
import { type Clock, timestamp } from '../../../libs/kernel/clock.ts';
import { Rejection, reject } from '../../../libs/kernel/errors.ts';
import { publicId } from '../../../libs/kernel/ids.ts';
import type { Tenant } from '../../../libs/kernel/messages.ts';
import type { Calls, Driver } from '../../../libs/runtime/drive.ts';
import type { WritePath } from '../../../libs/runtime/execute.ts';
import { type Providers, providerOf } from '../../shared/providers.ts';
import { platformAccountId } from '../../shared/provision.ts';
import {
  type AccountEnd,
  checkReadiness,
  destinationOf,
  endOf,
  payerOf,
  paymentEnd,
  platformOf,
} from '../../shared/quotes.facts.ts';
import { priceOf } from '../../shared/quotes.pricing.ts';

/** When a payment is looked at again that does not say itself when it goes on. */
const LOOK_AGAIN_MS = 1_000;
/** After the time at which the payment itself is woken. */
const AFTER_WAKING_MS = 250;
/** The canonical account could not take the money: tried again after this. */
const FALL_BACK_AGAIN_MS = 60_000;

export interface SweepCallsOptions {
  writePath: WritePath;
  driver: Driver;
  clock: Clock;
  providers: Providers;
  /** What payments under way call; a sweep drives its own. */
  calls: Calls;
}

/** What sweeps ask for: the payment to the rule's destination as it is priced now, and how a payment of theirs stands. */
export function sweepCalls(options: SweepCallsOptions) {
  const { driver, clock, calls } = options;
  return {
    async sweepQuote(request: SweepQuoteRequest): Promise<SweepQuoteAnswer> {
      try {
        return await quoted(options, request);
      } catch (error) {
        if (!(error instanceof Rejection) || error.status >= 500) throw error;
        return { outcome: 'REFUSED', reason: reasonOf(error, request.amountMinor) };
      }
    },
    async sweepPayment({ tenantId, paymentId }: SweepPaymentRequest): Promise<SweepPaymentAnswer> {
      const tenant = tenantOf(tenantId);
      const drive = { tenant, correlationId: paymentId };
      const state = await driver.drive<PaymentState>(completePayment, paymentId, drive, calls);
      return standingOf(state, clock.nowMs(tenant));
    },
  };
}

async function quoted(
  { writePath, clock, providers }: SweepCallsOptions,
  { paymentId, tenantId, accountId, amountMinor }: SweepQuoteRequest,
): Promise<SweepQuoteAnswer> {
  const tenant = tenantOf(tenantId);
  const { state } = await writePath.state<AccountState>(account, accountId);
  const { customerId, currency, platformCustomerId, rule, description, remittanceInformation } = state;
  if (!rule || !customerId) throw reject('REFERENCE_NOT_FOUND');
  if (amountMinor < rule.minimumMinor || amountMinor > rule.maximumMinor) {
    throw reject('AMOUNT_OUT_OF_RANGE', { minimum: Number(rule.minimumMinor), maximum: Number(rule.maximumMinor) });
  }
  const source: AccountEnd = { kind: 'INTERNAL', id: accountId, currency, customerId, account: state };
  const destination = await destinationEnd(writePath, tenant, rule);
  const platform = await platformOf(writePath, tenant);
  checkReadiness(await payerOf(writePath, tenant, source, destination, undefined), platform);
  const to = destinationOf(destination, rule.destination.paymentRail);
  const nowMs = clock.nowMs(tenant);
  const wanted = { lockedCurrencySide: 'SENDING' as const, lockedCurrencyAmount: Number(amountMinor) };
  const rates = providerOf(providers, 'rates', tenant);
  const priced = await priceOf(wanted, 'OUTGOING', source, destination, platform, rates, new Date(nowMs));
  const feeAccountId = await feeAccount(writePath, tenant, priced.terms);
  return {
    outcome: 'QUOTED',
    quote: {
      paymentId,
      tenantId,
      type: 'OUTGOING',
      customerId,
      platformCustomerId,
      source: paymentEnd(source),
      destination: to,
      terms: priced.terms,
      ...(feeAccountId !== undefined && { platformFeeAccountId: feeAccountId }),
      dailyLimitMinor: priced.dailyLimitMinor,
      immediatelyExecute: true,
      day: timestamp(nowMs).slice(0, 10),
      ...(rule.purposeOfPayment !== undefined && { purposeOfPayment: rule.purposeOfPayment }),
      reference: `SWEEP-${paymentId.slice(-12).toUpperCase()}`,
      expiresAt: timestamp(nowMs),
    },
    ...(description !== undefined && { description }),
    ...(remittanceInformation !== undefined && { remittanceInformation }),
  };
}

/** An account that was deleted, closed or left without the rule's rail since is a rule that cannot be followed. */
async function destinationEnd(
  writePath: WritePath,
  tenant: Tenant,
  { destination: { kind, accountId, paymentRail } }: NonNullable<AccountState['rule']>,
): Promise<AccountEnd> {
  const id = publicId(kind === 'INTERNAL' ? 'InternalAccount' : 'ExternalAccount', accountId);
  const end = await endOf(writePath, tenant, id, 'destination.accountId');
  if (end.kind === 'EXTERNAL') {
    const { paymentRails, accountType } = end.account;
    const isBank = !accountType.endsWith('_WALLET') && paymentRails.length === 0;
    if (isBank || (paymentRail !== undefined && !paymentRails.includes(paymentRail)))
      throw reject('INVALID_INPUT', noRail);
  }
  return end;
}

const noRail = { reason: 'NO_ELIGIBLE_RAIL' as const };

async function feeAccount(
  writePath: WritePath,
  tenant: Tenant,
  { platformFeeMinor, sendingCurrency }: { platformFeeMinor: bigint; sendingCurrency: string },
): Promise<string | undefined> {
  if (platformFeeMinor === 0n) return undefined;
  const id = platformAccountId(tenant, sendingCurrency);
  const { state } = await writePath.state<AccountState>(account, id);
  return state.status === 'ACTIVE' ? id : undefined;
}

/** The reason of a sweep's failure that a refused quote comes to (facts §4). */
export function reasonOf({ code, details }: Rejection, amountMinor: bigint): SweepFailureReason {
  switch (code) {
    case 'AMOUNT_OUT_OF_RANGE':
      return Number(amountMinor) < Number(details?.minimum) ? 'BELOW_MINIMUM' : 'ABOVE_MAXIMUM';
    case 'TRANSACTION_SIZE_LIMIT_EXCEEDED':
      return 'ABOVE_MAXIMUM';
    case 'INVALID_AMOUNT': // the fees, or the rate, leave nothing of it
      return 'BELOW_MINIMUM';
    default:
      return details?.reason === noRail.reason ? noRail.reason : 'QUOTE_FAILED';
  }
}

/** A payment is at rest when it is done, return and refund included, or was refused before anything moved. */
export function standingOf({ phase, status, refund, waitUntil }: PaymentState, nowMs: number): SweepPaymentAnswer {
  if (phase !== 'DONE' && phase !== 'REFUSED') {
    const wakesMs = waitUntil === undefined ? 0 : Date.parse(waitUntil) + AFTER_WAKING_MS;
    return { outcome: 'PENDING', checkAt: timestamp(Math.max(wakesMs, nowMs + LOOK_AGAIN_MS)) };
  }
  if (refund) {
    if (refund.status !== 'COMPLETED') return { outcome: 'LOST' };
  } else if (status === 'COMPLETED') return { outcome: 'SETTLED' };
  const isRefused = phase === 'REFUSED' && { isRefused: true as const };
  return { outcome: 'RETURNED', checkAt: timestamp(nowMs + FALL_BACK_AGAIN_MS), ...isRefused };
}

/** `<platform>.<environment>` → the tenant. */
function tenantOf(tenantId: string): Tenant {
  const dot = tenantId.lastIndexOf('.');
  return { platform: tenantId.slice(0, dot), environment: tenantId.slice(dot + 1) as Tenant['environment'] };
}
