import { customerInfoFieldNames } from '../../../../libs/domain/platforms/counterparty-fields.ts';
import { currencyCodes } from '../../../../libs/kernel/money.ts';
import { Field, Flag, Integer, ListOf, Nested, OneOf, oneOf, Text, text } from '../../../../libs/runtime/http/index.ts';

const optional = true;
const smallestUnit = 'Smallest unit of the currency.';

export class CounterpartyFieldRequest {
  @OneOf(customerInfoFieldNames)
  name!: string;

  @Flag()
  mandatory!: boolean;
}

export class SupportedCurrencyRequest {
  @OneOf(currencyCodes(), { example: 'USD' })
  currencyCode!: string;

  @Integer({ min: 0, description: smallestUnit })
  minAmount!: number;

  @Integer({ min: 0, description: smallestUnit })
  maxAmount!: number;

  @ListOf(() => CounterpartyFieldRequest, { max: 20 })
  requiredCounterpartyFields!: CounterpartyFieldRequest[];

  @ListOf(oneOf(['INCOMING', 'OUTGOING']), { max: 2 })
  enabledTransactionTypes!: ('INCOMING' | 'OUTGOING')[];
}

/** An e-mail address of at most 255 characters. */
const Mailbox = () => Field(text({ max: 255, format: 'email' }), { optional });

export class EmbeddedWalletConfigRequest {
  @Text({ optional, max: 255 })
  appName?: string;

  @Integer({ optional, min: 4, max: 12 })
  otpLength?: number;

  @Flag({ optional })
  alphanumeric?: boolean;

  @Integer({ optional, min: 1, max: 86_400 })
  expirationSeconds?: number;

  @Mailbox()
  sendFromEmailAddress?: string;

  @Text({ optional, max: 255 })
  sendFromEmailSenderName?: string;

  @Mailbox()
  replyToEmailAddress?: string;

  @Text({ optional, max: 512, format: 'uri' })
  logoUrl?: string;
}

export class CardTokenizationEmailRequest {
  @Mailbox()
  fromAddress?: string;

  @Text({ optional, max: 255 })
  fromName?: string;

  @Mailbox()
  replyToAddress?: string;

  @Text({ optional, max: 255 })
  subject?: string;

  @Text({ optional, max: 2_000 })
  bodyText?: string;
}

export class CardTokenizationSmsRequest {
  @Text({ optional, max: 64 })
  templateSid?: string;

  @Text({ optional, max: 480 })
  bodyText?: string;
}

export class CardTokenizationRequest {
  @Text({ optional, max: 255 })
  displayName?: string;

  @Text({ optional, max: 512, format: 'uri', pattern: /^https:\/\// })
  logoUrl?: string;

  @Nested(() => CardTokenizationEmailRequest, { optional })
  email?: CardTokenizationEmailRequest;

  @Nested(() => CardTokenizationSmsRequest, { optional })
  sms?: CardTokenizationSmsRequest;
}

export class FixedFeeRequest {
  @Integer({ min: 0, description: smallestUnit })
  amount!: number;

  @OneOf(currencyCodes(), { example: 'USD' })
  currency!: string;
}

export class FeeConfigRequest {
  @OneOf(['CROSS_CURRENCY_TRANSACTION'])
  feeType!: 'CROSS_CURRENCY_TRANSACTION';

  @OneOf(currencyCodes(), { description: 'USD; others are answered with 501.', example: 'USD' })
  sourceCurrency!: string;

  @Integer({ min: 0, max: 10_000 })
  variableFeeBps!: number;

  @Nested(() => FixedFeeRequest)
  fixedFee!: FixedFeeRequest;
}

export class CardConfigsRequest {
  @Integer({ optional, nullable: true, min: 1, description: 'null takes the cap away.' })
  maxSpendPerTransaction?: number | null;

  @Integer({ optional, nullable: true, min: 1, description: 'null takes the cap away.' })
  maxSpendPerDay?: number | null;
}

export class PlatformConfigUpdateRequest {
  @Text({ optional, max: 253, format: 'hostname', example: 'pay.example.com' })
  umaDomain?: string;

  @Text({ optional, min: 1, description: 'A `TEST` event is sent to a new one.', example: 'https://example.com/hooks' })
  webhookEndpoint?: string;

  @ListOf(() => SupportedCurrencyRequest, {
    optional,
    min: 1,
    max: 60,
    description: 'Replaces the list; an account of the platform is opened per new currency.',
  })
  supportedCurrencies?: SupportedCurrencyRequest[];

  @Nested(() => EmbeddedWalletConfigRequest, { optional, description: 'Merged.' })
  embeddedWalletConfig?: EmbeddedWalletConfigRequest;

  @Nested(() => CardTokenizationRequest, { optional, description: 'Merged.' })
  cardTokenization2faConfig?: CardTokenizationRequest;

  @ListOf(() => FeeConfigRequest, {
    optional,
    max: 20,
    description: 'Each replaces the fee of its type and currency; one with both parts zero ends it.',
  })
  feeConfigs?: FeeConfigRequest[];

  @Nested(() => CardConfigsRequest, { optional, description: 'Caps of all cards; merged.' })
  cardConfigs?: CardConfigsRequest;
}
