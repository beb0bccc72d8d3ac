import { type AccountState, account } from '../../libs/domain/accounts/account.ts';
import { type CustomerState, customer, isDeleted, isKnown } from '../../libs/domain/customers/customer.ts';
import { type ExternalAccountState, externalAccount } from '../../libs/domain/external-accounts/external-account.ts';
import type { PaymentDestination, PaymentEnd } from '../../libs/domain/payments/payment.events.ts';
import { type PlatformState, platform, tenantIdOf } from '../../libs/domain/platforms/platform.ts';
import { reject, rejectFields } from '../../libs/kernel/errors.ts';
import { parsePublicId } from '../../libs/kernel/ids.ts';
import type { Tenant } from '../../libs/kernel/messages.ts';
import type { CryptoNetwork, PaymentRail } from '../../libs/kernel/rails.ts';
import type { WritePath } from '../../libs/runtime/execute.ts';
import type { UmaEnd } from '../api/src/quotes/quotes.uma.ts';

/** An account at one end of a quote with what is known of it. */
export type AccountEnd =
  | { kind: 'INTERNAL'; id: string; currency: string; customerId?: string; account: AccountState }
  | { kind: 'EXTERNAL'; id: string; currency: string; customerId?: string; account: ExternalAccountState };

/** Whoever sends the money that a quote waits for. `customerId` absent: the platform itself. */
export interface RealtimeEnd {
  kind: 'REALTIME';
  id: '';
  currency: string;
  customerId?: string;
  cryptoNetwork?: CryptoNetwork;
  umaAddress?: string;
}

export type Source = AccountEnd | RealtimeEnd;

export type Destination = AccountEnd | UmaEnd;

/** Whether the quote waits for money to be sent: nobody can take it (facts §2). */
export const isAwaited = (source: Source): boolean =>
  source.kind === 'REALTIME' || (source.kind === 'EXTERNAL' && !source.account.isPullable);

/** The account of one end; 404 when the platform has none of that id, 409 when an internal one is closed. */
export async function endOf(
  writePath: WritePath,
  tenant: Tenant,
  publicId: string,
  field: string,
): Promise<AccountEnd> {
  const tenantId = tenantIdOf(tenant);
  const internal = parsePublicId('InternalAccount', publicId);
  if (internal) {
    const { state } = await writePath.state<AccountState>(account, internal);
    if (state.tenantId !== tenantId) throw notFound(field);
    if (state.status === 'CLOSED')
      throw reject('CONFLICT', { reason: 'ACCOUNT_CLOSED', field }, 'The internal account is closed.');
    return { kind: 'INTERNAL', id: internal, currency: state.currency, ...owner(state), account: state };
  }
  const external = parsePublicId('ExternalAccount', publicId);
  if (external) {
    const { state } = await writePath.state<ExternalAccountState>(externalAccount, external);
    if (state.tenantId !== tenantId || state.status === 'NONE' || state.status === 'DELETED') throw notFound(field);
    if (!state.accountInfo) throw reject('CUSTOMER_DELETED', { field });
    return { kind: 'EXTERNAL', id: external, currency: state.currency, ...owner(state), account: state };
  }
  const message = `${field} must be the id of an internal or an external account.`;
  throw rejectFields([{ field, constraint: 'FORMAT', message }]);
}

const owner = ({ customerId }: { customerId?: string | undefined }) => (customerId ? { customerId } : {});

const notFound = (field: string) => reject('REFERENCE_NOT_FOUND', { field }, 'There is no such account.');

/** An end as the payment records it. */
export const paymentEnd = ({ kind, id, currency, customerId }: Source): PaymentEnd => ({
  kind,
  accountId: id,
  currency,
  ...owner({ customerId }),
});

/** Refuses pairs that money cannot move between here (spec, Quotes and transfers). */
export function checkEnds(source: Source, destination: Pick<Destination, 'id'>): void {
  if (source.kind !== 'REALTIME' && source.id === destination.id) throw reject('SELF_PAYMENT');
  if (source.kind === 'INTERNAL' && source.account.type === 'EMBEDDED_WALLET') {
    throw reject(
      'NOT_IMPLEMENTED',
      { reason: 'EMBEDDED_WALLET_SOURCE' },
      'Payments out of embedded wallets are not available yet.',
    );
  }
  if (source.kind === 'INTERNAL' && source.account.type === 'RULE_BASED') {
    const message = 'What arrives on a rule-based account goes where its rule says, and nowhere else.';
    throw reject('INVALID_INPUT', { reason: 'FUNDING_SOURCE_INELIGIBLE' }, message);
  }
  if (source.kind !== 'EXTERNAL') return;
  if (source.account.status !== 'ACTIVE') {
    throw reject('INVALID_INPUT', { reason: 'SOURCE_NOT_ACTIVE' }, 'The external account is not active.');
  }
}

/** The customer that a payment is for: the source's owner, or whom a platform's own account acts for. Undefined: the platform. */
export async function payerOf(
  writePath: WritePath,
  tenant: Tenant,
  source: Source,
  destination: Pick<Destination, 'kind' | 'customerId'>,
  actingFor: string | undefined,
): Promise<CustomerState | undefined> {
  const isFilled = source.kind === 'EXTERNAL' && destination.kind === 'INTERNAL'; // the holder pays into an own account
  const holder = isFilled ? destination.customerId : source.customerId;
  if (actingFor !== undefined && holder !== undefined && actingFor !== holder) {
    const message = "source.customerId is not the account's customer.";
    throw rejectFields([{ field: 'source.customerId', constraint: 'CONFLICT', message }]);
  }
  const customerId = holder ?? actingFor;
  return customerId === undefined ? undefined : customerOf(writePath, tenant, customerId);
}

/** A customer of the platform, deleted or not; 404 when there is none of that id. */
export async function customerOf(writePath: WritePath, tenant: Tenant, customerId: string): Promise<CustomerState> {
  const { state } = await writePath.state<CustomerState>(customer, customerId);
  if (state.tenantId !== tenantIdOf(tenant) || !isKnown(state)) throw reject('USER_NOT_FOUND');
  return state;
}

/** Whether money may move for the payer, and for whoever else holds the external account that it comes from (decisions 21 and 23). */
export async function checkCustomers(
  writePath: WritePath,
  tenant: Tenant,
  source: Source,
  payer: CustomerState | undefined,
  platform: PlatformState,
): Promise<void> {
  checkReadiness(payer, platform);
  const { kind, customerId: holder } = source;
  if (kind === 'EXTERNAL' && holder !== undefined && holder !== payer?.customerId)
    checkReadiness(await customerOf(writePath, tenant, holder), platform);
}

/** Refuses a destination whose owner has to be, or can no more be, verified; one still to be verified takes small amounts (spec, States). */
export function checkVerified(destination: AccountEnd | { kind: 'UMA' }): void {
  if (destination.kind !== 'EXTERNAL') return;
  const { status } = destination.account;
  if (status === 'UNVERIFIED') throw reject('EXTERNAL_ACCOUNT_VERIFICATION_REQUIRED');
  if (status !== 'ACTIVE' && status !== 'PENDING_OWNERSHIP_VERIFICATION')
    throw reject('INVALID_INPUT', { reason: 'DESTINATION_NOT_ACTIVE' }, 'The external account is not active.');
}

/** Whether money may move for a customer (decisions 21 and 23). */
export function checkReadiness(payer: CustomerState | undefined, { settings }: PlatformState): void {
  if (!payer) return;
  if (isDeleted(payer)) throw reject('CUSTOMER_DELETED');
  const status = payer.verificationStatus;
  if (status === 'REJECTED')
    throw reject('USER_NOT_READY', { reason: 'CUSTOMER_REJECTED' }, 'The customer was rejected.');
  if (settings.requireApprovedCustomers && status !== 'APPROVED') {
    throw reject('USER_NOT_READY', { reason: 'CUSTOMER_NOT_APPROVED' }, 'The customer is not approved.');
  }
  if (settings.requireEndUserTerms && !payer.endUserTermsConsent) throw reject('END_USER_TERMS_NOT_ACCEPTED');
}

/** The destination with its rail: the named one, or the account's first. */
export function destinationOf(end: AccountEnd, namedRail: string | undefined): PaymentDestination {
  const destination = paymentEnd(end);
  if (end.kind === 'INTERNAL') {
    if (namedRail !== undefined) throw notARail([]);
    return destination;
  }
  const { paymentRails } = end.account;
  if (namedRail !== undefined && !paymentRails.includes(namedRail as PaymentRail)) throw notARail(paymentRails);
  const paymentRail = (namedRail as PaymentRail | undefined) ?? paymentRails[0] ?? null;
  return { ...destination, paymentRail, railSelectionMode: paymentRail && (namedRail ? 'MANUAL' : 'AUTO') };
}

function notARail(allowed: readonly string[]) {
  const message =
    allowed.length > 0
      ? `destination.paymentRail must be one of ${allowed.join(', ')}.`
      : 'This destination has no payment rails.';
  return rejectFields([{ field: 'destination.paymentRail', constraint: 'ENUM', message, allowed }]);
}

/** The configuration of the caller's platform. */
export async function platformOf(writePath: WritePath, tenant: Tenant): Promise<PlatformState> {
  return (await writePath.state<PlatformState>(platform, tenantIdOf(tenant))).state;
}
