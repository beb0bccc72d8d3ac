import { Inject, Injectable } from '@nestjs/common';
import { type AccountState, account } from '../../../../libs/domain/accounts/account.ts';
import type {
  CustomerRule,
  EndUserTermsConsent,
  VerificationStatus,
} from '../../../../libs/domain/customers/customer.events.ts';
import { customerAccountId } from '../../../../libs/domain/customers/customer.process.ts';
import { type CustomerState, customer, isKnown } from '../../../../libs/domain/customers/customer.ts';
import { knownTermsVersions } from '../../../../libs/domain/customers/end-user-terms.ts';
import { umaAddressOf } from '../../../../libs/domain/customers/uma-address.ts';
import { type PlatformState, platform, tenantIdOf } from '../../../../libs/domain/platforms/platform.ts';
import { type ErrorCode, type FieldError, Rejection, reject } from '../../../../libs/kernel/errors.ts';
import { parsePublicId, publicId } from '../../../../libs/kernel/ids.ts';
import type { Tenant } from '../../../../libs/kernel/messages.ts';
import { ClaimIds } from '../../../../libs/runtime/claims.ts';
import { WritePath } from '../../../../libs/runtime/execute.ts';
import { refuseFields } from '../../../../libs/runtime/http/index.ts';
import { PROVIDERS, type Providers, providerOf } from '../../../shared/providers.ts';
import type { CustomerChange, CustomerCreation } from './customers.bodies.ts';

/** A value to be claimed for a customer. */
export interface WantedValue {
  rule: CustomerRule;
  claimId: string;
  refusal: ErrorCode;
}

/** What requests about customers need to know before they decide. */
@Injectable()
export class CustomerFacts {
  constructor(
    @Inject(WritePath) private readonly writePath: WritePath,
    @Inject(ClaimIds) private readonly claimIds: ClaimIds,
    @Inject(PROVIDERS) private readonly providers: Providers,
  ) {}

  /** The caller's customer of this public id, deleted or not; 404 otherwise. */
  async customer(tenant: Tenant, id: string): Promise<CustomerState> {
    const { state } = await this.writePath.state<CustomerState>(customer, customerIdOf(id));
    if (state.tenantId !== tenantIdOf(tenant) || !isKnown(state)) throw reject('USER_NOT_FOUND');
    return state;
  }

  async platform(tenant: Tenant): Promise<PlatformState> {
    return (await this.writePath.state<PlatformState>(platform, tenantIdOf(tenant))).state;
  }

  /** The verification status that a new customer begins with (spec, Sandbox behavior). */
  async firstStanding(
    { settings }: PlatformState,
    tenant: Tenant,
    body: CustomerCreation,
  ): Promise<VerificationStatus> {
    const resolvesAtOnce = settings.isRegulatedFinancialInstitution || settings.skipVerificationPaperwork;
    if (body.customerType === 'BUSINESS' || !resolvesAtOnce || body.fullName === undefined) return 'UNVERIFIED';
    return providerOf(this.providers, 'kyc', tenant).resolveIndividual({ fullName: body.fullName });
  }

  /** `PLATFORM_CUSTOMER_ID` is unique within a platform and environment. */
  platformCustomerId(tenant: Tenant, value: string): WantedValue {
    const rule = 'PLATFORM_CUSTOMER_ID';
    return { rule, claimId: this.claimIds.idOf(rule, tenantIdOf(tenant), value), refusal: 'CONFLICT' };
  }

  /** `UMA_ADDRESS` is unique within an environment, whichever platforms share a domain. */
  umaAddress({ environment }: Tenant, value: string): WantedValue {
    const rule = 'UMA_ADDRESS';
    return { rule, claimId: this.claimIds.idOf(rule, environment, value), refusal: 'UMA_ADDRESS_EXISTS' };
  }

  /** Refuses to delete a customer whose accounts hold money, before anything is changed (decision 26). */
  async checkEmpty({ customerId, accounts, ruleAccounts = [] }: CustomerState): Promise<void> {
    const ids = [...accounts.map((currency) => customerAccountId(customerId, currency)), ...ruleAccounts];
    const states = await Promise.all(ids.map((id) => this.writePath.state<AccountState>(account, id)));
    const holding = states.map(({ state }) => state).filter((one) => one.postedMinor !== 0n || one.pendingMinor !== 0n);
    if (holding.length > 0) throw notEmpty(holding.map(({ accountId }) => publicId('InternalAccount', accountId)));
  }
}

/** The refusal to delete a customer whose accounts hold money. */
export const notEmpty = (accounts?: string[]): Rejection =>
  reject(
    'CONFLICT',
    { reason: 'ACCOUNT_NOT_EMPTY', ...(accounts && { accounts }) },
    'The customer has an internal account that still holds funds. Empty it first.',
  );

export function customerIdOf(id: string): string {
  const uuid = parsePublicId('Customer', id);
  if (!uuid) throw reject('USER_NOT_FOUND');
  return uuid;
}

/** The currencies of a request, each once; `400 INVALID_CURRENCY` names those that the platform does not support. */
export function supportedCurrencies(
  { supportedCurrencies: supported }: PlatformState,
  wanted: readonly string[],
): string[] {
  const allowed = supported.map(({ currencyCode }) => currencyCode);
  const errors = wanted.flatMap((currency, index): FieldError[] =>
    allowed.includes(currency)
      ? []
      : [{ field: `currencies.${index}`, constraint: 'ENUM', message: notSupported(index), allowed }],
  );
  if (errors.length > 0) throw reject('INVALID_CURRENCY', { errors }, errors[0]!.message);
  return [...new Set(wanted)];
}

const notSupported = (index: number) => `currencies.${index} must be a currency that the platform supports.`;

/** The UMA address as it is stored; `400 INVALID_UMA_ADDRESS` where it breaks the rules, unless it is the one that the customer has. */
export function readUmaAddress(text: string, { umaDomain }: PlatformState, own?: string): string {
  if (text.toLowerCase() === own) return own;
  const address = umaAddressOf(text, umaDomain);
  if (address instanceof Rejection) throw address;
  return address;
}

/** The consent with the version it is to, when that version exists. */
export function readConsent(consent: EndUserTermsConsent | undefined) {
  if (!consent) return {};
  const { acceptedAt, ipAddress, termsVersion, acceptanceMethod } = consent;
  if (!knownTermsVersions.includes(termsVersion)) {
    const field = 'endUserTermsConsent.termsVersion';
    const message = `${field} must be a version of the end-user terms.`;
    const errors: FieldError[] = [{ field, constraint: 'ENUM', message, allowed: knownTermsVersions }];
    throw reject('END_USER_TERMS_VERSION_NOT_FOUND', { termsVersion, known: knownTermsVersions, errors });
  }
  return { endUserTermsConsent: { acceptedAt, ipAddress, termsVersion, acceptanceMethod }, termsVersion };
}

/** What the platform decides about a request, each part by itself, so that all that it refuses can be told at once. */
export const checksBy = (
  platform: PlatformState,
  body: Partial<CustomerCreation | CustomerChange>,
  ownUmaAddress?: string,
): (() => unknown)[] => [
  () => supportedCurrencies(platform, body.currencies ?? []),
  () => body.umaAddress !== undefined && readUmaAddress(body.umaAddress, platform, ownUmaAddress),
  () => readConsent(body.endUserTermsConsent),
];

/** Refuses a change of what cannot change, and of e-mail and telephone at once (spec, `PATCH /customers/{customerId}`). */
export function checkChange(state: CustomerState, body: Partial<CustomerChange>): void {
  const errors: FieldError[] = [];
  const conflict = (field: string, message: string) => errors.push({ field, constraint: 'CONFLICT', message });
  for (const field of ['customerType', 'platformCustomerId', 'region'] as const) {
    if (body[field] !== undefined && body[field] !== state[field]) conflict(field, `${field} cannot be changed.`);
  }
  if (body.email !== undefined && body.phoneNumber !== undefined) {
    conflict('phoneNumber', 'email and phoneNumber must be changed in separate requests.');
  }
  refuseFields(errors);
}
