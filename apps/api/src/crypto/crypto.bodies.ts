import { cryptoNetworks } from '../../../../libs/kernel/rails.ts';
import { Integer, OneOf, PublicId, Text } from '../../../../libs/runtime/http/index.ts';

/** The most that a payment may move (facts §2). */
const MAX_AMOUNT = 9_000_000_000_000_000;

export class EstimateCryptoWithdrawalFeeBody {
  @PublicId('InternalAccount', {
    description: 'The account to withdraw from.',
    example: 'InternalAccount:019542f5-b3e7-1d02-0000-000000000001',
  })
  internalAccountId!: string;

  @Text({ min: 3, max: 5, example: 'USDC' })
  currency!: string;

  @OneOf([...cryptoNetworks])
  cryptoNetwork!: string;

  @Integer({ min: 1, max: MAX_AMOUNT, description: 'Smallest unit of the currency.', example: 1_000_000 })
  amount!: number;

  @Text({ max: 2_000, description: 'An address on that network.' })
  destinationAddress!: string;
}
