import { cryptoNetworks, paymentRails } from '../../../../libs/kernel/rails.ts';
import {
  Flag,
  FreeObject,
  Integer,
  Nested,
  NestedOneOf,
  OneOf,
  PublicId,
  Text,
} from '../../../../libs/runtime/http/index.ts';
import { PurposeOfPayment } from '../../../../projections/payment-source.view.ts';

/** The most that a quote may lock (facts §2). */
const MAX_LOCKED_AMOUNT = 9_000_000_000_000_000;

const purposes = PurposeOfPayment.enum as unknown as readonly string[];

export class AccountSourceBody {
  @OneOf(['ACCOUNT'])
  sourceType!: 'ACCOUNT';

  @Text({
    max: 100,
    description: 'An internal account, or an external one that can be pulled from.',
    example: 'InternalAccount:019542f5-b3e7-1d02-0000-000000000001',
  })
  accountId!: string;

  @PublicId('Customer', { optional: true, description: "For whom a platform's own account acts." })
  customerId?: string;
}

export class RealtimeFundingSourceBody {
  @OneOf(['REALTIME_FUNDING'])
  sourceType!: 'REALTIME_FUNDING';

  @PublicId('Customer', { optional: true, description: 'For whom the money comes; the platform itself when absent.' })
  customerId?: string;

  @Text({ min: 3, max: 5, description: 'What is sent.' })
  currency!: string;

  @OneOf([...cryptoNetworks], {
    optional: true,
    description: 'On which network. Required for stablecoins; BTC without it may come on any.',
  })
  cryptoNetwork?: string;
}

export class UmaSourceBody {
  @OneOf(['UMA_ADDRESS'])
  sourceType!: 'UMA_ADDRESS';

  @Text({ max: 255, description: 'Who sends. The payment is that of the customer who has this address.' })
  umaAddress!: string;

  @Text({ min: 3, max: 5, optional: true, description: "What is sent; the destination's currency when absent." })
  currency?: string;

  @OneOf([...cryptoNetworks], { optional: true })
  cryptoNetwork?: string;
}

export class AccountDestinationBody {
  @OneOf(['ACCOUNT'])
  destinationType!: 'ACCOUNT';

  @Text({ max: 100, example: 'ExternalAccount:019542f5-b3e7-1d02-0000-000000000001' })
  accountId!: string;

  @OneOf([...paymentRails], {
    optional: true,
    description: "One of the account's rails; chosen by the service when absent.",
  })
  paymentRail?: string;
}

export class UmaDestinationBody {
  @OneOf(['UMA_ADDRESS'])
  destinationType!: 'UMA_ADDRESS';

  @Text({ max: 255 })
  umaAddress!: string;

  @Text({ min: 3, max: 5, optional: true })
  currency?: string;
}

export class FixedFeeBody {
  @Integer({ min: 0, max: MAX_LOCKED_AMOUNT })
  amount!: number;

  @Text({ min: 3, max: 5 })
  currency!: string;
}

export class PlatformFeeOverrideBody {
  @Nested(() => FixedFeeBody)
  platformFixedFee!: FixedFeeBody;

  @Integer({ min: 0, max: 10_000 })
  platformVariableFeeBps!: number;
}

export class QuoteBody {
  @Text({ optional: true, max: 100, description: 'From a receiver lookup.' })
  lookupId?: string;

  @NestedOneOf('sourceType', {
    ACCOUNT: AccountSourceBody,
    REALTIME_FUNDING: RealtimeFundingSourceBody,
    UMA_ADDRESS: UmaSourceBody,
  })
  source!: AccountSourceBody | RealtimeFundingSourceBody | UmaSourceBody;

  @NestedOneOf('destinationType', { ACCOUNT: AccountDestinationBody, UMA_ADDRESS: UmaDestinationBody })
  destination!: AccountDestinationBody | UmaDestinationBody;

  @OneOf(['SENDING', 'RECEIVING'])
  lockedCurrencySide!: 'SENDING' | 'RECEIVING';

  @Integer({
    min: 1,
    max: MAX_LOCKED_AMOUNT,
    description: 'Smallest unit of the currency of the locked side.',
    example: 100_000,
  })
  lockedCurrencyAmount!: number;

  @Flag({ optional: true, description: 'Create and execute in one request.' })
  immediatelyExecute?: boolean;

  @Text({ optional: true, max: 1_000 })
  description?: string;

  @Text({ optional: true, max: 80 })
  remittanceInformation?: string;

  @OneOf(purposes, { optional: true })
  purposeOfPayment?: string;

  @Nested(() => PlatformFeeOverrideBody, {
    optional: true,
    description: 'Replaces the configured platform fees for this quote; USD only.',
  })
  platformFeeOverride?: PlatformFeeOverrideBody;

  @OneOf(['SMS_OTP', 'PASSKEY'], { optional: true, description: 'For customers under SCA.' })
  scaFactor?: string;

  @FreeObject({ optional: true })
  senderCustomerInfo?: Record<string, unknown>;
}

export class ExecuteQuoteBody {
  @OneOf(['SMS_OTP', 'PASSKEY'], { optional: true })
  scaFactor?: string;
}
