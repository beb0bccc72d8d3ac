import type { BootstrapCredentials } from '../../libs/adapters/postgres/master-key.ts';
import { type PlatformState, platform, tenantIdOf } from '../../libs/domain/platforms/platform.ts';
import { type TokenState, token } from '../../libs/domain/tokens/token.ts';
import { derivedUuid } from '../../libs/kernel/ids.ts';
import type { Tenant } from '../../libs/kernel/messages.ts';
import { secretHash } from '../../libs/runtime/auth.ts';
import { tokenIdOf } from '../api/src/credentials.ts';
import type { Engine } from './engine.ts';
import { createPlatform, issueToken } from './provision.ts';

/** The sandbox platform that a fresh deployment starts with. Its id derives from the client id: every later start finds it again. */
export async function bootstrapPlatform(
  engine: Engine,
  credentials: BootstrapCredentials,
): Promise<{ tenant: Tenant; webhookSecret: string | undefined }> {
  const tenant: Tenant = { platform: derivedUuid('platform', credentials.clientId), environment: 'sandbox' };
  await createPlatform(engine, tenant, { name: 'Sandbox' });
  const tokenId = tokenIdOf(credentials.clientId);
  await issueToken(engine, tenant, { name: 'bootstrap', tokenId, credentials });
  const issued = await engine.writePath.state<TokenState>(token, tokenId);
  if (issued.state.secretHash !== secretHash(credentials.clientSecret)) {
    throw new Error(
      'BOOTSTRAP_CLIENT_SECRET is not the secret that the token of BOOTSTRAP_CLIENT_ID was made with. ' +
        'Set it to that one, or set another BOOTSTRAP_CLIENT_ID, which makes another platform.',
    );
  }
  if (issued.state.status === 'REVOKED') engine.logger.warn('the bootstrap token has been revoked');
  const { state } = await engine.writePath.state<PlatformState>(platform, tenantIdOf(tenant));
  return { tenant, webhookSecret: state.webhookSecrets?.[0]?.secret };
}
