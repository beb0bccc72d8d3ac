import { Type } from 'typebox';

/** A bank or mobile-money operator (spec, `GET /discoveries`). */
export const PaymentInstitution = Type.Object(
  {
    bankName: Type.String({
      description: 'The value for `accountInfo.bankName` or `provider`.',
      examples: ['BDO Unibank'],
    }),
    displayName: Type.String(),
    country: Type.String({ examples: ['PH'] }),
    currency: Type.String({ examples: ['PHP'] }),
  },
  { $id: 'PaymentInstitution' },
);

export const DiscoveryListResponse = Type.Object(
  { data: Type.Array(PaymentInstitution) },
  { $id: 'DiscoveryListResponse' },
);
