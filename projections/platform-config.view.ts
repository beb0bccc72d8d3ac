import { type Static, Type } from 'typebox';
import { customerInfoFieldNames } from '../libs/domain/platforms/counterparty-fields.ts';
import type { CardConfigs, FeeConfig, SupportedCurrency } from '../libs/domain/platforms/platform.events.ts';
import { type PlatformState, platformPublicId } from '../libs/domain/platforms/platform.ts';
import { toWire } from '../libs/kernel/money.ts';

const text = (maxLength: number, more: object = {}) => Type.Optional(Type.String({ maxLength, ...more }));
const amount = (description?: string) =>
  Type.Integer({ format: 'int64', minimum: 0, ...(description && { description }) });

/** What may have to be known of a person or a business. */
export const CustomerInfoFieldName = Type.Enum([...customerInfoFieldNames], {
  $id: 'CustomerInfoFieldName',
  type: 'string',
});

export const PlatformCurrencyConfig = Type.Object(
  {
    currencyCode: Type.String({ examples: ['USD'] }),
    minAmount: amount('Smallest unit of the currency.'),
    maxAmount: amount('Smallest unit of the currency.'),
    requiredCounterpartyFields: Type.Array(
      Type.Object({ name: CustomerInfoFieldName, mandatory: Type.Boolean() }, { $id: 'CounterpartyFieldDefinition' }),
    ),
    providerRequiredCustomerFields: Type.Array(CustomerInfoFieldName, { description: 'Read-only.' }),
    providerRequiredCounterpartyCustomerFields: Type.Array(CustomerInfoFieldName, { description: 'Read-only.' }),
    enabledTransactionTypes: Type.Array(
      Type.Enum(['INCOMING', 'OUTGOING'], { $id: 'TransactionType', type: 'string' }),
    ),
  },
  { $id: 'PlatformCurrencyConfig' },
);

export const EmbeddedWalletConfig = Type.Object(
  {
    appName: text(255),
    otpLength: Type.Optional(Type.Integer({ minimum: 4, maximum: 12 })),
    alphanumeric: Type.Optional(Type.Boolean()),
    expirationSeconds: Type.Optional(Type.Integer({ minimum: 1, maximum: 86_400 })),
    sendFromEmailAddress: text(255, { format: 'email' }),
    sendFromEmailSenderName: text(255),
    replyToEmailAddress: text(255, { format: 'email' }),
    logoUrl: text(512, { format: 'uri' }),
  },
  { $id: 'EmbeddedWalletConfig' },
);

export const CardTokenization2FAConfig = Type.Object(
  {
    displayName: text(255),
    logoUrl: text(512, { format: 'uri', pattern: '^https://' }),
    email: Type.Optional(
      Type.Object(
        {
          fromAddress: text(255, { format: 'email' }),
          fromName: text(255),
          replyToAddress: text(255, { format: 'email' }),
          subject: text(255),
          bodyText: text(2_000),
        },
        { $id: 'CardTokenization2FAEmailConfig' },
      ),
    ),
    sms: Type.Optional(
      Type.Object({ templateSid: text(64), bodyText: text(480) }, { $id: 'CardTokenization2FASmsConfig' }),
    ),
  },
  { $id: 'CardTokenization2FAConfig' },
);

export const FixedFee = Type.Object(
  { amount: amount('Smallest unit of the currency.'), currency: Type.String() },
  { $id: 'FixedFee' },
);

export const FeeConfigView = Type.Object(
  {
    feeType: Type.Enum(['CROSS_CURRENCY_TRANSACTION'], { $id: 'FeeType', type: 'string' }),
    sourceCurrency: Type.String({ examples: ['USD'] }),
    variableFeeBps: Type.Integer({ minimum: 0, maximum: 10_000 }),
    fixedFee: FixedFee,
  },
  { $id: 'FeeConfig' },
);

const cap = (what: string) =>
  Type.Optional(
    Type.Union([Type.Integer({ format: 'int64', minimum: 1 }), Type.Null()], {
      description: `The most that a card may spend per ${what}, in the smallest unit of its currency; null for no cap.`,
    }),
  );

export const CardConfigsView = Type.Object(
  { maxSpendPerTransaction: cap('transaction'), maxSpendPerDay: cap('UTC day') },
  { $id: 'CardConfigs' },
);

export const PlatformConfig = Type.Object(
  {
    id: Type.String({ description: '`PlatformConfig:<uuid>`.' }),
    umaDomain: Type.String(),
    proxyUmaSubdomain: Type.String({
      description: 'The name under which the service itself answers for the UMA addresses of the platform. Read-only.',
    }),
    webhookEndpoint: text(2_048, { description: 'Absent until it is set.' }),
    supportedCurrencies: Type.Array(PlatformCurrencyConfig),
    isRegulatedFinancialInstitution: Type.Boolean({ description: 'Read-only.' }),
    embeddedWalletConfig: Type.Optional(EmbeddedWalletConfig),
    cardTokenization2faConfig: Type.Optional(CardTokenization2FAConfig),
    feeConfigs: Type.Array(FeeConfigView),
    cardConfigs: Type.Optional(CardConfigsView),
    createdAt: Type.String({ format: 'date-time' }),
    updatedAt: Type.String({ format: 'date-time' }),
  },
  { $id: 'PlatformConfig' },
);

/** A platform's configuration as the API shows it. */
export function platformConfigView(state: PlatformState): Static<typeof PlatformConfig> {
  const { webhookEndpoint, embeddedWalletConfig, cardTokenization2faConfig, cardConfigs } = state;
  return {
    id: platformPublicId(state),
    umaDomain: state.umaDomain,
    proxyUmaSubdomain: state.platform.slice(-8),
    ...(webhookEndpoint !== undefined && { webhookEndpoint }),
    supportedCurrencies: state.supportedCurrencies.map(currencyView),
    isRegulatedFinancialInstitution: state.settings.isRegulatedFinancialInstitution,
    ...(embeddedWalletConfig && { embeddedWalletConfig }),
    ...(cardTokenization2faConfig && { cardTokenization2faConfig }),
    feeConfigs: state.feeConfigs.map(feeView),
    ...(cardConfigs && { cardConfigs: capsView(cardConfigs) }),
    createdAt: state.createdAt,
    updatedAt: state.updatedAt,
  };
}

const currencyView = (one: SupportedCurrency): Static<typeof PlatformCurrencyConfig> => ({
  currencyCode: one.currencyCode,
  minAmount: toWire(one.minAmountMinor),
  maxAmount: toWire(one.maxAmountMinor),
  requiredCounterpartyFields: one.requiredCounterpartyFields as Static<
    typeof PlatformCurrencyConfig
  >['requiredCounterpartyFields'],
  providerRequiredCustomerFields: [],
  providerRequiredCounterpartyCustomerFields: [],
  enabledTransactionTypes: one.enabledTransactionTypes,
});

const feeView = ({ fixedFee, ...fee }: FeeConfig): Static<typeof FeeConfigView> => ({
  ...fee,
  fixedFee: { amount: toWire(fixedFee.amountMinor), currency: fixedFee.currency },
});

const capsView = ({
  maxSpendPerTransactionMinor,
  maxSpendPerDayMinor,
}: CardConfigs): Static<typeof CardConfigsView> => ({
  ...(maxSpendPerTransactionMinor !== undefined && { maxSpendPerTransaction: wireOrNull(maxSpendPerTransactionMinor) }),
  ...(maxSpendPerDayMinor !== undefined && { maxSpendPerDay: wireOrNull(maxSpendPerDayMinor) }),
});

const wireOrNull = (amountMinor: bigint | null): number | null => (amountMinor === null ? null : toWire(amountMinor));
