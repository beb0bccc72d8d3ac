import { Integer, PublicId, Text } from '../../../../libs/runtime/http/index.ts';

const MAX_AMOUNT = 9_000_000_000_000_000;

export class SandboxUmaReceiveBody {
  @Text({ max: 255, description: 'Anybody; what some senders do is listed in the sandbox documentation.' })
  senderUmaAddress!: string;

  @Text({ max: 255, optional: true, description: 'The customer who is paid. This or `customerId`.' })
  receiverUmaAddress?: string;

  @PublicId('Customer', { optional: true, description: 'The customer who is paid. This or `receiverUmaAddress`.' })
  customerId?: string;

  @Text({ min: 3, max: 5, example: 'USD' })
  receivingCurrencyCode!: string;

  @Integer({ min: 1, max: MAX_AMOUNT, description: 'Smallest unit of the currency.', example: 12_500 })
  receivingCurrencyAmount!: number;
}
