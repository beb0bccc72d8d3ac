import { type TSchema, Type } from 'typebox';
import { type JsonSchema, objectSchema } from '../libs/domain/external-accounts/account-info.schema.ts';
import { type AccountType, accountTypeNames, accountTypes } from '../libs/domain/external-accounts/account-types.ts';
import type { FundingInstructions } from '../libs/kernel/funding.ts';

/** Where money is to be sent, by the kind of account (facts §4). */
export type PaymentInstructions = FundingInstructions;

const text: JsonSchema = { type: 'string' };
const reference: JsonSchema = { ...text, description: 'Must come with the payment.' };
const asset = (...of: string[]): JsonSchema => ({ type: 'string', enum: of });

/** Fiat variants that do not take the fields of the external account of their currency. */
const ownFields: Readonly<Record<string, Record<string, JsonSchema>>> = {
  BRL_ACCOUNT: { qrCode: { ...text, minLength: 1 } },
  COP_ACCOUNT: { paymentUrl: { ...text, format: 'uri' } },
  ARS_ACCOUNT: { accountNumber: { ...text, pattern: '^\\d{22}$' } },
};

const bankAddress = (maxLength: number): JsonSchema => ({ ...text, minLength: 1, maxLength });

/** Fields beyond those of the external account: `[required, optional]`; a reference unless it says otherwise. */
const furtherFields: Readonly<Record<string, readonly [Record<string, JsonSchema>, Record<string, JsonSchema>]>> = {
  INR_ACCOUNT: [{}, {}],
  USD_ACCOUNT: [{ reference }, { bankAddress: bankAddress(255) }],
  SWIFT_ACCOUNT: [
    { accountHolderName: { ...text, minLength: 1, maxLength: 255 } },
    { bankAddress: bankAddress(1_024), reference },
  ],
};

const wallets: Readonly<Record<string, readonly [Record<string, JsonSchema>, Record<string, JsonSchema>]>> = {
  SPARK_WALLET: [{ address: text, assetType: text }, { invoice: text }],
  LIGHTNING: [{ invoice: text }, {}],
  BITCOIN_L1: [{ address: text }, { network: asset('BITCOIN') }],
  SOLANA_WALLET: [{ address: text }, { assetType: asset('USDC', 'USDT') }],
  ETHEREUM_WALLET: [{ address: text }, { assetType: asset('USDC', 'USDT') }],
  TRON_WALLET: [{ address: text }, { assetType: asset('USDT') }],
  PLASMA_WALLET: [{ address: text }, { assetType: asset('USDT') }],
  POLYGON_WALLET: [{ address: text }, { assetType: asset('USDC') }],
  BASE_WALLET: [{ address: text }, { assetType: asset('USDC') }],
  EMBEDDED_WALLET: [{ payloadToSign: text }, {}],
};

/** The components' names where they are not made from the type's. */
const componentNames: Readonly<Record<string, string>> = {
  LIGHTNING: 'PaymentLightningInvoiceInfo',
  BITCOIN_L1: 'PaymentBitcoinDepositAddressInfo',
};

/** `USD_ACCOUNT` → `PaymentUsdAccountInfo`, `BASE_WALLET` → `PaymentBaseWalletInfo`. */
const componentName = (type: string): string =>
  componentNames[type] ??
  `Payment${type
    .split('_')
    .map((word) => word[0] + word.slice(1).toLowerCase())
    .join('')}Info`;

function variant(type: string, required: Record<string, JsonSchema>, optional: Record<string, JsonSchema>): TSchema {
  const accountType = { type: 'string', enum: [type] };
  return Type.Unsafe<PaymentInstructions['accountOrWalletInfo']>({
    type: 'object',
    required: ['accountType', ...Object.keys(required)],
    properties: { accountType, ...required, ...optional },
    $id: componentName(type),
  });
}

function fiatVariant(type: AccountType): TSchema {
  const { rails, fields } = accountTypes[type];
  if (ownFields[type]) return variant(type, ownFields[type], {});
  const base = objectSchema(fields) as { required: string[]; properties: Record<string, JsonSchema> };
  const [more, optional] = furtherFields[type] ?? [{ reference }, {}];
  const names = [...new Set(rails.map(({ rail }) => rail))];
  const paymentRails = { type: 'array', items: { type: 'string', enum: names } };
  const isRequired = ([name]: [string, JsonSchema]) => base.required.includes(name);
  const all = Object.entries(base.properties);
  return variant(
    type,
    { ...Object.fromEntries(all.filter(isRequired)), paymentRails, ...more },
    { ...Object.fromEntries(all.filter((field) => !isRequired(field))), ...optional },
  );
}

const variants: TSchema[] = [
  ...accountTypeNames.filter((type) => accountTypes[type].rails.length > 0).map(fiatVariant),
  variant('ARS_ACCOUNT', ownFields.ARS_ACCOUNT!, {}),
  ...Object.entries(wallets).map(([type, [required, optional]]) => variant(type, required, optional)),
];

export const PaymentInstructions = Type.Unsafe<PaymentInstructions>(
  Type.Object(
    {
      instructionsNotes: Type.Optional(Type.String()),
      isPlatformAccount: Type.Optional(
        Type.Boolean({ description: "Whether the account is the platform's own and not a customer's." }),
      ),
      accountOrWalletInfo: Type.Union(variants, { discriminator: { propertyName: 'accountType' } }),
    },
    { $id: 'PaymentInstructions' },
  ),
);
