import type { Environment, Event } from '../../kernel/messages.ts';

export type Permission = 'VIEW' | 'TRANSACT' | 'MANAGE';

/** The secret is kept as its SHA-256 only; its client id is the token's id without dashes unless one was configured. */
export interface TokenIssuedData {
  tokenId: string;
  platform: string;
  environment: Environment;
  name: string;
  permissions: Permission[];
  clientId: string;
  secretHash: string;
}

export type TokenEvent = Event<'TokenIssued', TokenIssuedData> | Event<'TokenRevoked', { tokenId: string }>;

export const tokenEventTypes = ['TokenIssued', 'TokenRevoked'] as const satisfies readonly TokenEvent['type'][];
