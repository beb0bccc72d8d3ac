import { LRUCache } from 'lru-cache';
import { type TokenState, token } from '../../../libs/domain/tokens/token.ts';
import { derivedUuid, isUuid } from '../../../libs/kernel/ids.ts';
import type { Tenant } from '../../../libs/kernel/messages.ts';
import { type Credential, type Credentials, effectivePermissions } from '../../../libs/runtime/auth.ts';
import type { WritePath } from '../../../libs/runtime/execute.ts';

/** The token that a client id belongs to: its uuid without dashes, or derived from one that was configured. */
export function tokenIdOf(clientId: string): string {
  const dashed = clientId.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
  return isUuid(dashed) ? dashed : derivedUuid('client', clientId);
}

/** Credentials as the streams of tokens have them: a revocation counts from the next request on. */
export class TokenCredentials implements Credentials {
  private readonly writePath: WritePath;
  private readonly known = new WeakMap<TokenState, Credential>();
  private readonly tokenIds = new LRUCache<string, string>({ max: 5_000 });

  constructor(writePath: WritePath) {
    this.writePath = writePath;
  }

  async find(clientId: string): Promise<Credential | undefined> {
    let tokenId = this.tokenIds.get(clientId);
    if (tokenId === undefined) {
      tokenId = tokenIdOf(clientId);
      this.tokenIds.set(clientId, tokenId);
    }
    const { state } = await this.writePath.state<TokenState>(token, tokenId);
    if (state.status !== 'ACTIVE' || state.clientId !== clientId) return undefined;
    let credential = this.known.get(state);
    if (!credential) {
      const tenant: Tenant = { platform: state.platform, environment: state.environment };
      credential = {
        tokenId: state.tokenId,
        tenant,
        permissions: effectivePermissions(state.permissions),
        secretHash: state.secretHash,
      };
      this.known.set(state, credential);
    }
    return credential;
  }
}
