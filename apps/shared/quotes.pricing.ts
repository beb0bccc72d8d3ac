import type { PaymentQuotedData, PaymentTerms } from '../../libs/domain/payments/payment.events.ts';
import { price } from '../../libs/domain/payments/pricing.ts';
import type { PlatformState } from '../../libs/domain/platforms/platform.ts';
import { type FieldError, Rejection, reject } from '../../libs/kernel/errors.ts';
import type { Corridor, FeeTerms } from '../../libs/kernel/rate.ts';
import type { RatesProvider } from '../../libs/providers/rates.port.ts';
import { refuseFields } from '../../libs/runtime/http/index.ts';
import type { PlatformFeeOverrideBody, QuoteBody } from '../api/src/quotes/quotes.bodies.ts';
import { checkVerified, type Destination, type Source } from './quotes.facts.ts';

/**
 * Transfers to a wallet whose ownership is not verified yet are allowed below this (spec, External account; the EU's Travel Rule draws
 * the line at 1,000 EUR).
 */
const UNVERIFIED_LIMIT_EUR_MINOR = 1_000_00n;

const NO_FEE: FeeTerms = { fixed: 0n, bps: 0 };

/** The price of a quote, with what its source may send in a day. Throws the refusal of an amount or currency. */
export async function priceOf(
  {
    lockedCurrencySide,
    lockedCurrencyAmount,
    platformFeeOverride,
  }: Pick<QuoteBody, 'lockedCurrencySide' | 'lockedCurrencyAmount' | 'platformFeeOverride'>,
  type: PaymentQuotedData['type'],
  source: Source,
  destination: Destination,
  platform: PlatformState,
  rates: RatesProvider,
  now: Date,
): Promise<{ terms: PaymentTerms; dailyLimitMinor: bigint }> {
  checkCurrency(source.currency, type, platform);
  const corridor = await rates.corridor(source.currency, destination.currency, now);
  const priced = price({
    sendingCurrency: source.currency,
    receivingCurrency: destination.currency,
    lockedSide: lockedCurrencySide,
    lockedAmount: BigInt(lockedCurrencyAmount),
    rate: corridor.rate,
    service: corridor.service,
    platform: platformFee(source.currency, destination.currency, platform, platformFeeOverride),
  });
  if (priced instanceof Rejection) throw priced;
  checkLimits(priced.totalSendingAmount, source.currency, corridor, platform);
  await checkOwnership(destination, priced.totalReceivingAmount, rates, now);
  const terms = {
    sendingCurrency: source.currency,
    receivingCurrency: destination.currency,
    sendingMinor: priced.totalSendingAmount,
    receivingMinor: priced.totalReceivingAmount,
    serviceFeeMinor: priced.serviceFee,
    platformFeeMinor: priced.platformFee,
    convertedMinor: priced.convertedAmount,
    exchangeRate: priced.exchangeRate,
    rateAsOf: corridor.rate.asOf,
  };
  return { terms, dailyLimitMinor: corridor.maxDailyAmount };
}

function checkCurrency(currency: string, type: PaymentQuotedData['type'], platform: PlatformState): void {
  const supported = platform.supportedCurrencies.find((one) => one.currencyCode === currency);
  if (supported?.enabledTransactionTypes.includes(type)) return;
  throw reject('INVALID_CURRENCY', { currency }, `The platform does not support ${type} payments in ${currency}.`);
}

/** The override replaces the configured fee; that one is for cross-currency payments only (facts §2). */
function platformFee(
  sending: string,
  receiving: string,
  { feeConfigs }: PlatformState,
  override?: PlatformFeeOverrideBody,
): FeeTerms {
  if (override) {
    const errors: FieldError[] = [];
    if (sending !== 'USD') {
      errors.push({
        field: 'platformFeeOverride',
        constraint: 'CONFLICT',
        message: 'platformFeeOverride needs USD as the sending currency.',
      });
    }
    if (override.platformFixedFee.currency !== sending) {
      const field = 'platformFeeOverride.platformFixedFee.currency';
      errors.push({
        field,
        constraint: 'CONFLICT',
        message: `${field} must be the sending currency.`,
        allowed: [sending],
      });
    }
    refuseFields(errors);
    return { fixed: BigInt(override.platformFixedFee.amount), bps: override.platformVariableFeeBps };
  }
  const configured = sending !== receiving && feeConfigs.find((fee) => fee.sourceCurrency === sending);
  return configured ? { fixed: configured.fixedFee.amountMinor, bps: configured.variableFeeBps } : NO_FEE;
}

function checkLimits(amount: bigint, currency: string, corridor: Corridor, platform: PlatformState): void {
  const { minAmountMinor, maxAmountMinor } = platform.supportedCurrencies.find((one) => one.currencyCode === currency)!;
  const minimum = minAmountMinor > corridor.minSendingAmount ? minAmountMinor : corridor.minSendingAmount;
  if (amount < minimum || amount > maxAmountMinor) {
    throw reject('AMOUNT_OUT_OF_RANGE', { minimum: Number(minimum), maximum: Number(maxAmountMinor), currency });
  }
  if (amount > corridor.maxSendingAmount) {
    throw reject('TRANSACTION_SIZE_LIMIT_EXCEEDED', { maximum: Number(corridor.maxSendingAmount), currency });
  }
}

async function checkOwnership(
  destination: Destination,
  receivingMinor: bigint,
  rates: RatesProvider,
  now: Date,
): Promise<void> {
  checkVerified(destination);
  if (destination.kind !== 'EXTERNAL' || destination.account.status === 'ACTIVE') return;
  const inEuro = price({
    sendingCurrency: destination.currency,
    receivingCurrency: 'EUR',
    lockedSide: 'SENDING',
    lockedAmount: receivingMinor,
    rate: await rates.rate(destination.currency, 'EUR', now),
    service: NO_FEE,
    platform: NO_FEE,
  });
  if (!(inEuro instanceof Rejection) && inEuro.totalReceivingAmount >= UNVERIFIED_LIMIT_EUR_MINOR) {
    throw reject('EXTERNAL_ACCOUNT_VERIFICATION_REQUIRED', {
      limit: { amount: Number(UNVERIFIED_LIMIT_EUR_MINOR), currency: 'EUR' },
    });
  }
}
