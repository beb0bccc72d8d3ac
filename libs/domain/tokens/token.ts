import type { Decider } from '../../kernel/decider.ts';
import { type Rejection, reject } from '../../kernel/errors.ts';
import { command, type Stamped } from '../../kernel/messages.ts';
import { transitions } from '../../kernel/transitions.ts';
import type { TokenEvent, TokenIssuedData } from './token.events.ts';

export class IssueToken extends command('IssueToken')<TokenIssuedData>() {}
export class RevokeToken extends command('RevokeToken')<{ tokenId: string }>() {}

export type TokenCommand = IssueToken | RevokeToken;

export type TokenStatus = 'NONE' | 'ACTIVE' | 'REVOKED';

export interface TokenState extends TokenIssuedData {
  status: TokenStatus;
  createdAt: string;
  updatedAt: string;
}

export const tokenTransitions = transitions<TokenStatus, TokenCommand['type']>(
  [
    ['NONE', 'IssueToken', 'ACTIVE', 'TokenIssued'],
    [['ACTIVE', 'REVOKED'], 'IssueToken', reject('CONFLICT', { reason: 'TOKEN_EXISTS' })],
    ['ACTIVE', 'RevokeToken', 'REVOKED', 'TokenRevoked'],
  ],
  reject('TOKEN_NOT_FOUND'),
);

function decide(state: TokenState, { type, data }: TokenCommand): TokenEvent[] | Rejection {
  const refusal = tokenTransitions.guard(state.status, type);
  if (refusal) return refusal;
  return type === 'IssueToken' ? [{ type: 'TokenIssued', data }] : [{ type: 'TokenRevoked', data }];
}

function evolve(state: TokenState, event: TokenEvent & Stamped): TokenState {
  switch (event.type) {
    case 'TokenIssued':
      return { ...event.data, status: 'ACTIVE', createdAt: event.at, updatedAt: event.at };
    case 'TokenRevoked':
      return { ...state, status: 'REVOKED', updatedAt: event.at };
  }
}

/** An API token: client id, hash of its secret, permissions (spec, Authentication; facts §12). */
export const token: Decider<TokenState, TokenCommand, TokenEvent> = {
  name: 'token',
  id: 'tokenId',
  commands: [IssueToken, RevokeToken],
  creates: ['IssueToken'],
  initial: {
    tokenId: '',
    platform: '',
    environment: 'sandbox',
    name: '',
    permissions: [],
    clientId: '',
    secretHash: '',
    status: 'NONE',
    createdAt: '',
    updatedAt: '',
  },
  decide,
  evolve,
  version: 1,
};
