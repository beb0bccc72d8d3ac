import { Inject, Injectable } from '@nestjs/common';
import { type CustomerState, customer, isDeleted, isKnown } from '../../../../libs/domain/customers/customer.ts';
import {
  type AccountCheckContext,
  checkAccountInfo,
  knownAccountInfo,
  travelRuleErrors,
} from '../../../../libs/domain/external-accounts/account-info.check.ts';
import {
  type AccountInfo,
  beneficiaryName,
  suffixOf,
} from '../../../../libs/domain/external-accounts/account-types.ts';
import {
  type ExternalAccountState,
  externalAccount,
} from '../../../../libs/domain/external-accounts/external-account.ts';
import { type UmaDepositState, umaDeposit } from '../../../../libs/domain/external-accounts/uma-deposit.ts';
import {
  hasCounterpartyRequirements,
  type PlatformState,
  platform,
  tenantIdOf,
} from '../../../../libs/domain/platforms/platform.ts';
import { type FieldError, Rejection, reject } from '../../../../libs/kernel/errors.ts';
import { parsePublicId } from '../../../../libs/kernel/ids.ts';
import type { Tenant } from '../../../../libs/kernel/messages.ts';
import type { NameCheckResult } from '../../../../libs/providers/name-check.port.ts';
import { WritePath } from '../../../../libs/runtime/execute.ts';
import type { ExternalAccountRowState } from '../../../../projections/external-account.view.ts';
import { PROVIDERS, type Providers, providerOf } from '../../../shared/providers.ts';

const NAME_CHECK_DEADLINE_MS = 5_000;

/** What requests about external accounts need to know before they decide. */
@Injectable()
export class ExternalAccountFacts {
  constructor(
    @Inject(WritePath) private readonly writePath: WritePath,
    @Inject(PROVIDERS) private readonly providers: Providers,
  ) {}

  /** The caller's external account of this public id; 404 otherwise. `platformOnly`: one of a customer is not found either. */
  async account(tenant: Tenant, publicId: string, platformOnly: boolean): Promise<ExternalAccountRowState> {
    const id = externalAccountIdOf(publicId);
    const { state } = await this.writePath.state<ExternalAccountState>(externalAccount, id);
    const isForeign = state.tenantId !== tenantIdOf(tenant) || (platformOnly && state.customerId !== undefined);
    const isErased = state.accountInfo === undefined;
    if (isForeign || isErased || state.status === 'DELETED') throw notFound();
    return { ...state, isDefaultUmaDeposit: await this.isDefault(state) };
  }

  /** The uuid of the caller's customer that accounts can be added for: of one that another process has just deleted none can. */
  async customerId(tenant: Tenant, publicId: string): Promise<string> {
    const id = parsePublicId('Customer', publicId)!;
    const { state } = await this.writePath.fresh.state<CustomerState>(customer, id);
    if (state.tenantId !== tenantIdOf(tenant) || !isKnown(state)) throw reject('USER_NOT_FOUND');
    if (isDeleted(state)) throw reject('CUSTOMER_DELETED');
    return id;
  }

  /** What a request lacks on a platform with counterparty requirements; nothing on any other. */
  async travelRuleErrors(
    tenant: Tenant,
    given: { accountInfo?: unknown; ownershipType?: unknown },
  ): Promise<FieldError[]> {
    const { state } = await this.writePath.state<PlatformState>(platform, tenantIdOf(tenant));
    return hasCounterpartyRequirements(state) ? travelRuleErrors(given.accountInfo, given.ownershipType) : [];
  }

  /** What is wrong with an account in the caller's environment, beyond what would be in any. */
  async environmentErrors(
    tenant: Tenant,
    { accountInfo, currency }: { accountInfo?: unknown; currency?: unknown },
  ): Promise<FieldError[]> {
    const sandbox = tenant.environment === 'sandbox';
    const institutions = this.providers.institutions(tenant.environment);
    if (institutions instanceof Rejection) return []; // there is no such environment: `accountInfo`
    const known = await institutions.list({ currency: String(currency) });
    const bankNames = known.map(({ bankName }) => bankName);
    const check = (context: AccountCheckContext) => checkAccountInfo(accountInfo, String(currency), context);
    const told = new Set(check({ sandbox: true }).map(({ field }) => field));
    return check({ sandbox, bankNames }).filter(({ field }) => !told.has(field));
  }

  /** The account as it is stored; 501 where an environment has nobody who knows its institutions. */
  accountInfo(tenant: Tenant, input: AccountInfo): AccountInfo {
    providerOf(this.providers, 'institutions', tenant);
    return knownAccountInfo(input);
  }

  /** What the rail says of the beneficiary's name; 400 when it knows no such account. */
  async nameCheck(tenant: Tenant, accountInfo: AccountInfo, currency: string): Promise<NameCheckResult> {
    const asked = providerOf(this.providers, 'nameCheck', tenant).check({
      currency,
      accountInfo,
      identifierSuffix: suffixOf(accountInfo),
      beneficiaryName: beneficiaryName(accountInfo),
    });
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, refuse) => {
      timer = setTimeout(() => refuse(reject('SERVICE_UNAVAILABLE', { retryAfterSeconds: 5 })), NAME_CHECK_DEADLINE_MS);
    });
    return Promise.race([asked, late]).finally(() => clearTimeout(timer));
  }

  private async isDefault({ customerId, externalAccountId }: ExternalAccountState): Promise<boolean> {
    if (customerId === undefined) return false;
    const { state } = await this.writePath.state<UmaDepositState>(umaDeposit, customerId);
    return state.externalAccountId === externalAccountId;
  }
}

/** The uuid of a public id; 404 for anything that is none. */
export function externalAccountIdOf(publicId: string): string {
  const id = parsePublicId('ExternalAccount', publicId);
  if (!id) throw notFound();
  return id;
}

export const notFound = (): Rejection => reject('REFERENCE_NOT_FOUND', undefined, 'There is no such external account.');
