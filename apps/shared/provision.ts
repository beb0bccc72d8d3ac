import { randomBytes, randomUUID } from 'node:crypto';
import { account, OpenAccount } from '../../libs/domain/accounts/account.ts';
import type { PlatformSettings, SupportedCurrency } from '../../libs/domain/platforms/platform.events.ts';
import {
  CreatePlatform,
  type PlatformState,
  platform,
  platformPublicId,
  tenantIdOf,
} from '../../libs/domain/platforms/platform.ts';
import { IssueToken, type TokenState, token } from '../../libs/domain/tokens/token.ts';
import type { AnyDecider } from '../../libs/kernel/decider.ts';
import { derivedUuid } from '../../libs/kernel/ids.ts';
import type { Command, Tenant } from '../../libs/kernel/messages.ts';
import { internalAccountType } from '../../libs/kernel/money.ts';
import { secretHash } from '../../libs/runtime/auth.ts';
import { newWebhookSecret } from '../../libs/runtime/webhooks/signing.ts';
import type { Engine } from './engine.ts';

/** Client id and secret of a token; the secret is not kept anywhere. */
export interface IssuedCredentials {
  clientId: string;
  clientSecret: string;
}

/** What a new sandbox platform supports (decision 20). */
const DEFAULT_CURRENCIES = ['USD', 'EUR', 'GBP', 'MXN', 'BTC', 'USDC', 'USDB'];

const MAX_AMOUNT_MINOR = 1_000_000_000_000n;

export const defaultSettings: PlatformSettings = {
  isRegulatedFinancialInstitution: false,
  skipVerificationPaperwork: false,
  requireApprovedCustomers: false,
  requireEndUserTerms: false,
};

/** The id of a platform's own account in a currency. */
export const platformAccountId = (tenant: Tenant, currency: string): string =>
  derivedUuid('account', tenantIdOf(tenant), currency);

/**
 * Makes a platform in one environment, with its accounts. Every step is recognised when it is repeated, so that an interrupted
 * creation is finished by calling it again with the same `tenant`.
 */
export async function createPlatform(
  engine: Engine,
  tenant: Tenant,
  options: { name: string; settings?: Partial<PlatformSettings>; currencies?: readonly string[] },
): Promise<void> {
  const tenantId = tenantIdOf(tenant);
  const currencies = options.currencies ?? DEFAULT_CURRENCIES;
  const { state } = await engine.writePath.state<PlatformState>(platform, tenantId);
  if (state.status === 'NONE') {
    const create = new CreatePlatform({
      tenantId,
      ...tenant,
      name: options.name,
      umaDomain: `${tenant.platform.slice(-8)}.ledgerline.test`,
      supportedCurrencies: currencies.map(supported),
      settings: { ...defaultSettings, ...options.settings },
      webhookSecret: newWebhookSecret(randomBytes(32)),
    });
    await send(engine, platform, create, tenant);
  }
  for (const currency of currencies) {
    const accountId = platformAccountId(tenant, currency);
    const known = await engine.writePath.state<{ status: string }>(account, accountId);
    if (known.state.status !== 'NONE') continue;
    await send(
      engine,
      account,
      new OpenAccount({
        accountId,
        tenantId,
        platformCustomerId: platformPublicId(tenant),
        currency,
        type: internalAccountType(currency),
      }),
      tenant,
    );
  }
}

/** Issues a token with all permissions; with given credentials it is the token of those, issued once. */
export async function issueToken(
  engine: Engine,
  tenant: Tenant,
  options: { name: string; tokenId: string; credentials?: IssuedCredentials },
): Promise<IssuedCredentials> {
  const { name, tokenId } = options;
  const credentials = options.credentials ?? {
    clientId: tokenId.replaceAll('-', ''),
    clientSecret: randomBytes(32).toString('hex'),
  };
  const { state } = await engine.writePath.state<TokenState>(token, tokenId);
  if (state.status === 'NONE') {
    const issue = new IssueToken({
      tokenId,
      ...tenant,
      name,
      permissions: ['VIEW', 'TRANSACT', 'MANAGE'],
      clientId: credentials.clientId,
      secretHash: secretHash(credentials.clientSecret),
    });
    await send(engine, token, issue, tenant);
  }
  return credentials;
}

const supported = (currencyCode: string): SupportedCurrency => ({
  currencyCode,
  minAmountMinor: 1n,
  maxAmountMinor: MAX_AMOUNT_MINOR,
  requiredCounterpartyFields: [],
  enabledTransactionTypes: ['INCOMING', 'OUTGOING'],
});

function send(engine: Engine, decider: AnyDecider, command: Command, tenant: Tenant) {
  const commandId = randomUUID();
  return engine.writePath.execute(decider, command, { commandId, correlationId: commandId, actor: 'ops', tenant });
}
