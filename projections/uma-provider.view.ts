import { Type } from 'typebox';
import { PageOf } from '../libs/runtime/http/page-of.ts';
import { Currency } from './currency.view.ts';

export const UmaProvider = Type.Object(
  {
    name: Type.String(),
    supportedRegions: Type.Array(Type.String({ examples: ['MX'] }), { description: 'ISO 3166-1 alpha-2.' }),
    domain: Type.String({ description: 'What stands after the `@` of its UMA addresses.' }),
    logoUrl: Type.String({ format: 'uri' }),
    supportedCurrencies: Type.Array(Currency),
    lei: Type.String({ description: 'Legal entity identifier, ISO 17442.' }),
    allowListStatus: Type.Boolean({ description: 'False: payments to this provider are blocked.' }),
  },
  { $id: 'UmaProvider' },
);

export const UmaProviderListResponse = PageOf(UmaProvider, 'UmaProviderListResponse');

export const Vasp = Type.Object(
  {
    vaspName: Type.String({ description: 'The value for `accountInfo.vaspName` of a custodial wallet.' }),
    url: Type.Optional(Type.String({ format: 'uri' })),
  },
  { $id: 'Vasp' },
);

/** Without `totalCount`, unlike other pages (facts §1). */
export const VaspListResponse = Type.Object(
  {
    data: Type.Array(Vasp),
    hasMore: Type.Boolean({ description: 'Whether there are results after this page.' }),
    nextCursor: Type.Optional(Type.String({ description: 'Cursor of the next page; present when there is one.' })),
  },
  { $id: 'VaspListResponse' },
);
