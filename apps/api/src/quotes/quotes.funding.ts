import { type AccountState, account } from '../../../../libs/domain/accounts/account.ts';
import { customerAccountId } from '../../../../libs/domain/customers/customer.process.ts';
import type { CustomerState } from '../../../../libs/domain/customers/customer.ts';
import type { Funding } from '../../../../libs/domain/payments/payment.events.ts';
import { tenantIdOf } from '../../../../libs/domain/platforms/platform.ts';
import { reject, rejectFields } from '../../../../libs/kernel/errors.ts';
import { parsePublicId } from '../../../../libs/kernel/ids.ts';
import type { Tenant } from '../../../../libs/kernel/messages.ts';
import { internalAccountType, isCurrency } from '../../../../libs/kernel/money.ts';
import type { CryptoNetwork } from '../../../../libs/kernel/rails.ts';
import type { FundingProvider, FundingRequest } from '../../../../libs/providers/funding.port.ts';
import type { ClaimIds } from '../../../../libs/runtime/claims.ts';
import type { WritePath } from '../../../../libs/runtime/execute.ts';
import { platformAccountId } from '../../../shared/provision.ts';
import { customerOf, type Destination, type RealtimeEnd, type Source } from '../../../shared/quotes.facts.ts';
import { ownerOfAddress } from '../../../shared/uma-receivers.ts';
import { readAddress } from '../receivers/receivers.ts';
import type { RealtimeFundingSourceBody, UmaSourceBody } from './quotes.bodies.ts';

/** Assets whose worth is pegged to a currency: they travel on many networks, so the network has to be named (facts §2). */
const stablecoins: readonly string[] = ['USDB', 'USDC', 'USDT'];

/** The network of an external wallet, by its kind. */
const networkOfWallet: Readonly<Record<string, CryptoNetwork>> = {
  BASE_WALLET: 'BASE',
  ETHEREUM_WALLET: 'ETHEREUM',
  LIGHTNING: 'LIGHTNING',
  PLASMA_WALLET: 'PLASMA',
  POLYGON_WALLET: 'POLYGON',
  SOLANA_WALLET: 'SOLANA',
  SPARK_WALLET: 'SPARK',
  TRON_WALLET: 'TRON',
};

/** A source whose money is waited for. A UMA address stands for its owner here, or else for the destination's (decision 9). */
export async function realtimeSource(
  writePath: WritePath,
  claimIds: ClaimIds,
  tenant: Tenant,
  body: RealtimeFundingSourceBody | UmaSourceBody,
  destination: Pick<Destination, 'currency' | 'customerId'>,
): Promise<RealtimeEnd> {
  const currency = body.currency ?? destination.currency;
  if (!isCurrency(currency)) throw reject('INVALID_CURRENCY', { field: 'source.currency', currency });
  const network = body.cryptoNetwork && { cryptoNetwork: body.cryptoNetwork as CryptoNetwork };
  const end = { kind: 'REALTIME', id: '', currency, ...network } as const;
  if (body.sourceType === 'REALTIME_FUNDING') {
    if (body.customerId === undefined) return end;
    const customerId = parsePublicId('Customer', body.customerId)!;
    await customerOf(writePath, tenant, customerId);
    return { ...end, customerId };
  }
  const umaAddress = readAddress(body.umaAddress, 'source.umaAddress');
  const owner = await ownerOfAddress(writePath, claimIds, tenant.environment, umaAddress);
  const customerId = owner?.tenantId === tenantIdOf(tenant) ? owner.customerId : destination.customerId;
  return { ...end, umaAddress, ...(customerId !== undefined && { customerId }) };
}

/** Where the money is to be sent. Refuses a network that does not carry the currency, and currencies that cannot be received. */
export async function fundingOf(
  writePath: WritePath,
  tenant: Tenant,
  provider: FundingProvider,
  source: Source,
  request: Omit<FundingRequest, 'cryptoNetwork' | 'isPlatform'>,
  payer: CustomerState | undefined,
): Promise<Funding> {
  const { currency } = request;
  const network = networkOf(source, provider.networks(currency));
  const instructions = await provider.instructions({
    ...request,
    ...(network && { cryptoNetwork: network }),
    isPlatform: payer === undefined,
  });
  if (instructions.length === 0) {
    throw reject('INVALID_CURRENCY', { currency }, `${currency} cannot be received from outside.`);
  }
  const refundAccountId = await refundAccountOf(writePath, tenant, currency, payer);
  return {
    instructions,
    ...(network && { cryptoNetwork: network }),
    ...(refundAccountId !== undefined && { refundAccountId }),
  };
}

function networkOf(source: Source, carriers: readonly CryptoNetwork[]): CryptoNetwork | undefined {
  if (source.kind === 'EXTERNAL') return networkOfWallet[source.account.accountType];
  if (source.kind === 'INTERNAL') return undefined;
  const field = 'source.cryptoNetwork';
  const { cryptoNetwork, currency } = source;
  if (cryptoNetwork === undefined) {
    if (!stablecoins.includes(currency)) return undefined;
    throw rejectFields([{ field, constraint: 'REQUIRED', message: `${field} is required for ${currency}.` }]);
  }
  if (carriers.includes(cryptoNetwork)) return cryptoNetwork;
  const message = `${currency} cannot be sent on ${cryptoNetwork}.`;
  throw rejectFields([{ field, constraint: 'ENUM', message, allowed: carriers }]);
}

/**
 * Refunds of crypto go to the customer's account of that asset; of fiat, to where the money came from (facts §3). An account that is closed
 * now is open again when the deletion of its customer is refused; when it is not, the refund is set aside.
 */
async function refundAccountOf(
  writePath: WritePath,
  tenant: Tenant,
  currency: string,
  payer: CustomerState | undefined,
): Promise<string | undefined> {
  if (internalAccountType(currency) === 'INTERNAL_FIAT') return undefined;
  const accountId = payer ? customerAccountId(payer.customerId, currency) : platformAccountId(tenant, currency);
  const { state } = await writePath.state<AccountState>(account, accountId);
  return state.status === 'NONE' ? undefined : accountId;
}
