import { type AccountState, account } from '../../libs/domain/accounts/account.ts';
import { type ClaimState, claim } from '../../libs/domain/claims/claim.ts';
import { customerAccountId } from '../../libs/domain/customers/customer.process.ts';
import { type CustomerState, customer, isDeleted, isKnown } from '../../libs/domain/customers/customer.ts';
import { type ExternalAccountState, externalAccount } from '../../libs/domain/external-accounts/external-account.ts';
import { type UmaDepositState, umaDeposit } from '../../libs/domain/external-accounts/uma-deposit.ts';
import type { PaymentDestination } from '../../libs/domain/payments/payment.events.ts';
import type { SupportedCurrency } from '../../libs/domain/platforms/platform.events.ts';
import { type PlatformState, platform } from '../../libs/domain/platforms/platform.ts';
import type { ClaimIds } from '../../libs/runtime/claims.ts';
import type { WritePath } from '../../libs/runtime/execute.ts';

/** A customer of this deployment who can be paid by UMA address. */
export interface LocalReceiver {
  customer: CustomerState;
  platform: PlatformState;
  /** What the customer takes: the currencies of the accounts that incoming payments go to, with the platform's limits. */
  currencies: readonly SupportedCurrency[];
}

/**
 * The customer who has a UMA address, of whichever platform in that environment; undefined when it is nobody's here. `facts`: the write
 * path, or its `fresh` where something is made for the owner.
 */
export async function ownerOfAddress(
  facts: Pick<WritePath, 'state'>,
  claimIds: ClaimIds,
  environment: string,
  address: string,
): Promise<CustomerState | undefined> {
  const claimId = claimIds.idOf('UMA_ADDRESS', environment, address);
  const { state: held } = await facts.state<ClaimState>(claim, claimId);
  if (held.owner === undefined) return undefined;
  const { state } = await facts.state<CustomerState>(customer, held.owner);
  return isKnown(state) && !isDeleted(state) && state.umaAddress === address ? state : undefined;
}

/** Whether the customer takes payments now, and in which currencies. */
export async function receiverOf(writePath: WritePath, owner: CustomerState): Promise<LocalReceiver> {
  const of = (await writePath.state<PlatformState>(platform, owner.tenantId)).state;
  const chosen = await chosenDeposit(writePath, owner.customerId);
  const taken = chosen ? [chosen.currency] : await internalCurrencies(writePath, owner);
  const currencies = of.supportedCurrencies.filter(
    ({ currencyCode, enabledTransactionTypes }) =>
      taken.includes(currencyCode) && enabledTransactionTypes.includes('INCOMING'),
  );
  const isReady = owner.verificationStatus !== 'REJECTED' && isApproved(owner, of);
  return { customer: owner, platform: of, currencies: isReady ? currencies : [] };
}

/**
 * Where a payment to a customer goes: the default UMA deposit account, else the primary internal account, which is the one in the
 * payment's currency (docs/why/uma.md). Undefined when the customer takes no such currency.
 */
export async function depositOf(
  writePath: WritePath,
  { customerId }: Pick<CustomerState, 'customerId'>,
  currency: string,
): Promise<PaymentDestination | undefined> {
  const chosen = await chosenDeposit(writePath, customerId);
  if (chosen) {
    if (chosen.currency !== currency) return undefined;
    const paymentRail = chosen.paymentRails[0] ?? null;
    const railSelectionMode = paymentRail && 'AUTO';
    return {
      kind: 'EXTERNAL',
      accountId: chosen.externalAccountId,
      currency,
      customerId,
      paymentRail,
      railSelectionMode,
    };
  }
  const accountId = customerAccountId(customerId, currency);
  const { state } = await writePath.state<AccountState>(account, accountId);
  return state.status === 'ACTIVE' ? { kind: 'INTERNAL', accountId, currency, customerId } : undefined;
}

async function chosenDeposit(writePath: WritePath, customerId: string): Promise<ExternalAccountState | undefined> {
  const { externalAccountId } = (await writePath.state<UmaDepositState>(umaDeposit, customerId)).state;
  if (externalAccountId === undefined) return undefined;
  const { state } = await writePath.state<ExternalAccountState>(externalAccount, externalAccountId);
  return state.status === 'ACTIVE' ? state : undefined;
}

async function internalCurrencies(writePath: WritePath, { customerId, accounts }: CustomerState): Promise<string[]> {
  const states = await Promise.all(
    accounts.map((currency) => writePath.state<AccountState>(account, customerAccountId(customerId, currency))),
  );
  return states.filter(({ state }) => state.status === 'ACTIVE').map(({ state }) => state.currency);
}

const isApproved = (
  { verificationStatus, endUserTermsConsent, termsVersion }: CustomerState,
  { settings }: PlatformState,
) =>
  (!settings.requireApprovedCustomers || verificationStatus === 'APPROVED') &&
  (!settings.requireEndUserTerms || endUserTermsConsent !== undefined || termsVersion !== undefined);
