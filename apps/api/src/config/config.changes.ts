import type { PlatformConfigChange } from '../../../../libs/domain/platforms/platform.events.ts';
import { type FieldError, reject } from '../../../../libs/kernel/errors.ts';
import { refuseFields, type Submitted } from '../../../../libs/runtime/http/index.ts';
import { checkTarget } from '../../../../libs/runtime/webhooks/target.ts';
import type { ApiSettings } from '../settings.ts';
import type {
  CardConfigsRequest,
  FeeConfigRequest,
  PlatformConfigUpdateRequest,
  SupportedCurrencyRequest,
} from './config.bodies.ts';

/** What a request changes, after the checks that concern several fields. `501` for a fee in another currency than USD. */
export function changesOf(
  { valid, accept }: Submitted<PlatformConfigUpdateRequest>,
  settings: ApiSettings,
): PlatformConfigChange {
  const body = accept(() => refuseFields(faultsOf(valid, settings)));
  const { umaDomain, webhookEndpoint, supportedCurrencies, feeConfigs, cardConfigs } = body;
  const { embeddedWalletConfig, cardTokenization2faConfig } = body;
  const foreign = feeConfigs?.find(({ sourceCurrency }) => sourceCurrency !== 'USD');
  if (foreign) {
    const { sourceCurrency } = foreign;
    throw reject('NOT_IMPLEMENTED', { sourceCurrency }, 'Platform fees are available for USD only.');
  }
  return {
    ...(umaDomain !== undefined && { umaDomain: umaDomain.toLowerCase() }),
    ...(webhookEndpoint !== undefined && { webhookEndpoint }),
    ...(supportedCurrencies && { supportedCurrencies: supportedCurrencies.map(currencyOf) }),
    ...(embeddedWalletConfig && { embeddedWalletConfig: plain(embeddedWalletConfig) }),
    ...(cardTokenization2faConfig && { cardTokenization2faConfig: plain(cardTokenization2faConfig) }),
    ...(feeConfigs && { feeConfigs: feeConfigs.map(feeOf) }),
    ...(cardConfigs && { cardConfigs: capsOf(cardConfigs) }),
  };
}

function faultsOf(
  { webhookEndpoint, supportedCurrencies, feeConfigs }: Partial<PlatformConfigUpdateRequest>,
  settings: ApiSettings,
): FieldError[] {
  const wrongTarget = webhookEndpoint === undefined ? undefined : checkTarget(webhookEndpoint, settings);
  return [
    ...(wrongTarget ? [{ field: 'webhookEndpoint', ...wrongTarget }] : []),
    ...faultsOfCurrencies(supportedCurrencies ?? []),
    ...faultsOfFees(feeConfigs ?? []),
  ];
}

function faultsOfCurrencies(currencies: readonly SupportedCurrencyRequest[]): FieldError[] {
  return currencies.flatMap(({ currencyCode, minAmount, maxAmount }, index): FieldError[] => {
    const path = `supportedCurrencies.${index}`;
    const isRepeated = currencies.findIndex((other) => other.currencyCode === currencyCode) < index;
    return [
      ...(isRepeated ? [conflict(`${path}.currencyCode`, 'stands in the list twice')] : []),
      ...(maxAmount < minAmount
        ? [
            {
              field: `${path}.maxAmount`,
              constraint: 'MINIMUM' as const,
              message: `${path}.maxAmount must be at least minAmount.`,
              minimum: minAmount,
            },
          ]
        : []),
    ];
  });
}

function faultsOfFees(fees: readonly FeeConfigRequest[]): FieldError[] {
  return fees.flatMap(({ feeType, sourceCurrency, fixedFee }, index) => {
    const path = `feeConfigs.${index}`;
    const first = fees.findIndex((other) => other.feeType === feeType && other.sourceCurrency === sourceCurrency);
    return [
      ...(first < index ? [conflict(`${path}.sourceCurrency`, 'has a fee of this type in the list already')] : []),
      ...(fixedFee.currency !== sourceCurrency
        ? [conflict(`${path}.fixedFee.currency`, 'must be the sourceCurrency of the fee')]
        : []),
    ];
  });
}

const conflict = (field: string, says: string): FieldError => ({
  field,
  constraint: 'CONFLICT',
  message: `${field} ${says}.`,
});

const plain = (part: object): Record<string, unknown> => JSON.parse(JSON.stringify(part));

const currencyOf = (one: SupportedCurrencyRequest) => ({
  currencyCode: one.currencyCode,
  minAmountMinor: BigInt(one.minAmount),
  maxAmountMinor: BigInt(one.maxAmount),
  requiredCounterpartyFields: one.requiredCounterpartyFields.map(({ name, mandatory }) => ({ name, mandatory })),
  enabledTransactionTypes: [...new Set(one.enabledTransactionTypes)],
});

const feeOf = ({ feeType, sourceCurrency, variableFeeBps, fixedFee }: FeeConfigRequest) => ({
  feeType,
  sourceCurrency,
  variableFeeBps,
  fixedFee: { amountMinor: BigInt(fixedFee.amount), currency: fixedFee.currency },
});

const capsOf = ({ maxSpendPerTransaction, maxSpendPerDay }: CardConfigsRequest) => ({
  ...(maxSpendPerTransaction !== undefined && { maxSpendPerTransactionMinor: minorOrNull(maxSpendPerTransaction) }),
  ...(maxSpendPerDay !== undefined && { maxSpendPerDayMinor: minorOrNull(maxSpendPerDay) }),
});

const minorOrNull = (amount: number | null): bigint | null => (amount === null ? null : BigInt(amount));
