import { type Static, Type } from 'typebox';
import { accountInfoComponents } from '../libs/domain/external-accounts/account-info.schema.ts';
import {
  externalAccountStatuses,
  ownershipMethods,
  ownershipTypes,
} from '../libs/domain/external-accounts/external-account.events.ts';
import type { ExternalAccountState } from '../libs/domain/external-accounts/external-account.ts';
import { beneficiaryVerificationStatuses } from '../libs/kernel/beneficiary-verification.ts';
import { publicId } from '../libs/kernel/ids.ts';
import { PageOf } from '../libs/runtime/http/page-of.ts';

const ExternalAccountStatus = Type.Enum([...externalAccountStatuses], { $id: 'ExternalAccountStatus', type: 'string' });
const OwnershipType = Type.Enum([...ownershipTypes], { $id: 'OwnershipType', type: 'string' });
const BeneficiaryVerificationStatus = Type.Enum([...beneficiaryVerificationStatuses], {
  $id: 'BeneficiaryVerificationStatus',
  type: 'string',
});
const OwnershipVerificationMethod = Type.Enum([...ownershipMethods], {
  $id: 'OwnershipVerificationMethod',
  type: 'string',
});

const BeneficiaryVerifiedData = Type.Object(
  { fullName: Type.Optional(Type.String({ description: "The holder's name as the rail knows it." })) },
  { $id: 'BeneficiaryVerifiedData' },
);

/** One of the variants of `accountInfo`, by `accountType`. */
type AccountInfoView = { accountType: string } & Record<string, unknown>;

export const ExternalAccount = Type.Object(
  {
    id: Type.String({ examples: ['ExternalAccount:019542f5-b3e7-1d02-0000-000000000001'] }),
    customerId: Type.Union([Type.String(), Type.Null()], { description: "Null for the platform's own accounts." }),
    status: ExternalAccountStatus,
    platformAccountId: Type.Optional(Type.String()),
    ownershipType: Type.Optional(OwnershipType),
    currency: Type.String({ examples: ['USD'] }),
    defaultUmaDepositAccount: Type.Optional(
      Type.Boolean({ description: "Whether incoming payments to the customer's UMA address go here." }),
    ),
    beneficiaryVerificationStatus: BeneficiaryVerificationStatus,
    beneficiaryVerifiedData: Type.Optional(BeneficiaryVerifiedData),
    accountInfo: Type.Unsafe<AccountInfoView>({ $ref: '#/components/schemas/ExternalAccountInfoOneOf' }),
  },
  { $id: 'ExternalAccount' },
);

/** The state of an external account, and whether it is its customer's default UMA deposit account, which another stream knows. */
export type ExternalAccountRowState = ExternalAccountState & { isDefaultUmaDeposit?: boolean };

/** An external account as the API shows it. Fields whose key was destroyed are left out. */
export function externalAccountView(state: ExternalAccountRowState): Static<typeof ExternalAccount> {
  const { accountType, accountInfo, paymentRails, verifiedFullName, customerId } = state;
  return {
    id: publicId('ExternalAccount', state.externalAccountId),
    customerId: customerId ? publicId('Customer', customerId) : null,
    status: state.status as Static<typeof ExternalAccountStatus>,
    ...(state.platformAccountId !== undefined && { platformAccountId: state.platformAccountId }),
    ...(state.ownershipType && { ownershipType: state.ownershipType }),
    currency: state.currency,
    ...(customerId && { defaultUmaDepositAccount: state.isDefaultUmaDeposit ?? false }),
    beneficiaryVerificationStatus: state.beneficiaryVerificationStatus,
    ...(verifiedFullName !== undefined && { beneficiaryVerifiedData: { fullName: verifiedFullName } }),
    accountInfo: { accountType, ...accountInfo, ...(paymentRails.length > 0 && { paymentRails: [...paymentRails] }) },
  };
}

export const ExternalAccountListResponse = PageOf(ExternalAccount, 'ExternalAccountListResponse');

const expiresAt = Type.String({ format: 'date-time', description: 'Afterwards a new challenge is needed.' });

const WalletSignatureChallenge = Type.Object(
  {
    method: Type.Literal('WALLET_SIGNATURE'),
    messageToSign: Type.String({ description: 'To be signed by the wallet exactly as it is.' }),
    expiresAt,
  },
  { $id: 'WalletSignatureChallenge' },
);

const LivenessChallenge = Type.Object(
  {
    method: Type.Literal('LIVENESS'),
    verificationLink: Type.String({ format: 'uri', description: 'Page on which the owner does the check.' }),
    token: Type.Optional(Type.String({ description: 'For embedding the check instead of following the link.' })),
    expiresAt,
  },
  { $id: 'LivenessChallenge' },
);

export const OwnershipChallenge = Type.Union([WalletSignatureChallenge, LivenessChallenge], {
  $id: 'OwnershipChallenge',
  discriminator: { propertyName: 'method' },
});

/** The outstanding challenge. `linkOf` makes the address of the hosted check from its token. */
export function ownershipChallengeView(
  { challenge }: ExternalAccountState,
  linkOf: (token: string) => string,
): Static<typeof OwnershipChallenge> {
  const { method, expiresAt, messageToSign = '', token = '' } = challenge!;
  return method === 'WALLET_SIGNATURE'
    ? { method, messageToSign, expiresAt }
    : { method, verificationLink: linkOf(token), token, expiresAt };
}

/** The components that `accountInfo` and the request bodies refer to, for the OpenAPI document. */
export const externalAccountSchemas: object[] = [
  OwnershipVerificationMethod,
  ...Object.entries(accountInfoComponents()).map(([name, schema]) => ({ $id: name, ...schema })),
];
