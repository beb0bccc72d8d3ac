import { Integer, PublicId, Text } from '../../../../libs/runtime/http/index.ts';

/** The most that one sandbox deposit may bring (facts §12). */
const MAX_FUND = 100_000_000_000;

export class SandboxFundBody {
  @Integer({ min: 1, max: MAX_FUND, description: "Smallest unit of the account's currency.", example: 100_000 })
  amount!: number;
}

/** The most that can be sent at once (facts §2). */
const MAX_SEND = 9_000_000_000_000_000;

export class SandboxSendBody {
  @PublicId('Quote', { description: 'A quote that waits for money.' })
  quoteId!: string;

  @Text({ min: 3, max: 5, description: 'Must be the currency that the quote asks for.', example: 'USD' })
  currencyCode!: string;

  @Integer({
    min: 1,
    max: MAX_SEND,
    optional: true,
    description: 'Smallest unit; what the quote asks for when absent. Any other amount fails the transaction.',
  })
  currencyAmount?: number;
}
