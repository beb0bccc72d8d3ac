import { type Static, Type } from 'typebox';
import type { TokenState } from '../libs/domain/tokens/token.ts';
import { publicId } from '../libs/kernel/ids.ts';

export const Permission = Type.Enum(['VIEW', 'TRANSACT', 'MANAGE'], {
  $id: 'Permission',
  type: 'string',
  description:
    'VIEW reads. TRANSACT reads and moves money: quotes, transfers, external accounts. MANAGE reads and changes everything else: customers, configuration, tokens.',
});

export const ApiToken = Type.Object(
  {
    id: Type.String({ description: '`Token:<uuid>`.' }),
    name: Type.String(),
    permissions: Type.Array(Permission),
    clientId: Type.String({ description: 'User name of HTTP Basic.' }),
    clientSecret: Type.Optional(
      Type.String({ description: 'Password of HTTP Basic. Only in the answer that creates the token.' }),
    ),
    createdAt: Type.String({ format: 'date-time' }),
    updatedAt: Type.String({ format: 'date-time' }),
  },
  { $id: 'ApiToken' },
);

/** A token as the API shows it; its secret is known only when it is made. */
export const tokenView = (state: Omit<TokenState, 'secretHash'>): Static<typeof ApiToken> => ({
  id: publicId('Token', state.tokenId),
  name: state.name,
  permissions: state.permissions,
  clientId: state.clientId,
  createdAt: state.createdAt,
  updatedAt: state.updatedAt,
});
