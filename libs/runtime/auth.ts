import { createHash, timingSafeEqual } from 'node:crypto';
import { type CanActivate, type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { LRUCache } from 'lru-cache';
import { reject } from '../kernel/errors.ts';
import type { Tenant } from '../kernel/messages.ts';
import { Caller, type CallerRequest } from './caller.ts';
import { operationOf, type Permission } from './http/operation.ts';
import { requestIdOf } from './http/request-id.ts';
import { PlatformClock } from './platform-clock.ts';

/** A token that may call the API. */
export interface Credential {
  tokenId: string;
  tenant: Tenant;
  permissions: ReadonlySet<Permission>;
  /** SHA-256 of the secret, hex. */
  secretHash: string;
}

/** Where credentials are looked up; answers undefined for an unknown or revoked client id. */
export interface Credentials {
  find(clientId: string): Promise<Credential | undefined>;
}

/** Injection token of `Credentials`. */
export const CREDENTIALS = Symbol('Credentials');

/** What each permission includes besides itself. */
const includes: Record<Permission, readonly Permission[]> = {
  VIEW: ['VIEW'],
  TRANSACT: ['VIEW', 'TRANSACT'],
  MANAGE: ['VIEW', 'MANAGE'],
};

/** The SHA-256 under which a secret is kept, hex. */
export const secretHash = (secret: string): string => createHash('sha256').update(secret).digest('hex');

/** HTTP Basic authentication of platforms, the permission of each route and its environment (spec, Authentication). */
@Injectable()
export class Authentication implements CanActivate {
  /** Hash of the secret of an Authorization header, so that it is computed once per header and not per request. */
  private readonly parsed = new LRUCache<string, { clientId: string; hash: Buffer }>({ max: 5_000 });
  private readonly credentials: Credentials;
  private readonly clock: PlatformClock;

  constructor(@Inject(CREDENTIALS) credentials: Credentials, @Inject(PlatformClock) clock: PlatformClock) {
    this.credentials = credentials;
    this.clock = clock;
  }

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const operation = operationOf(context.getHandler());
    const needed = operation?.permission ?? 'MANAGE';
    if (needed === 'PUBLIC') return true;
    const request = context.switchToHttp().getRequest<Request & CallerRequest>();
    const credential = await this.authenticate(request.headers.authorization);
    if (!credential.permissions.has(needed)) {
      throw reject('FORBIDDEN', { requiredPermission: needed }, `The token lacks the permission ${needed}.`);
    }
    if (operation?.sandboxOnly && credential.tenant.environment !== 'sandbox') {
      throw reject('FORBIDDEN', { reason: 'SANDBOX_ONLY' }, 'This is available in the sandbox only.');
    }
    const learning = this.clock.know(credential.tenant);
    if (learning) await learning;
    request.caller = new Caller(credential.tenant, credential.tokenId, credential.permissions, requestIdOf(request));
    return true;
  }

  private async authenticate(header: string | undefined): Promise<Credential> {
    if (!header) throw reject('UNAUTHORIZED', { reason: 'Missing credentials' });
    const given = this.parsed.get(header) ?? this.parse(header);
    const credential = await this.credentials.find(given.clientId);
    const expected = Buffer.from(credential?.secretHash ?? '0'.repeat(64), 'hex');
    if (!timingSafeEqual(expected, given.hash) || !credential)
      throw reject('UNAUTHORIZED', { reason: 'Invalid credentials' });
    return credential;
  }

  private parse(header: string): { clientId: string; hash: Buffer } {
    const match = /^Basic ([A-Za-z0-9+/=_-]+)$/i.exec(header);
    const text = match ? Buffer.from(match[1]!, 'base64').toString('utf8') : '';
    const colon = text.indexOf(':');
    if (colon < 1) throw reject('UNAUTHORIZED', { reason: 'Malformed credentials' });
    const parsed = { clientId: text.slice(0, colon), hash: Buffer.from(secretHash(text.slice(colon + 1)), 'hex') };
    this.parsed.set(header, parsed);
    return parsed;
  }
}

/** The permissions that a token's list amounts to. */
export const effectivePermissions = (permissions: readonly Permission[]): ReadonlySet<Permission> =>
  new Set(permissions.flatMap((permission) => includes[permission]));
