import { currencyCodes, MAX_PAYMENT_AMOUNT } from '../../../../libs/kernel/money.ts';
import { oneOf, QueryInteger, QueryList, QueryOneOf } from '../../../../libs/runtime/http/index.ts';

export class ExchangeRatesQuery {
  @QueryOneOf(currencyCodes(), { example: 'USD' })
  sourceCurrency?: string;

  @QueryList(oneOf(currencyCodes()), {
    description: 'One or several, repeated or joined by commas.',
    example: ['EUR', 'MXN'],
  })
  destinationCurrency?: string[];

  @QueryInteger({
    min: 0,
    max: Number(MAX_PAYMENT_AMOUNT),
    default: 10_000,
    description: 'Smallest unit of the source currency.',
  })
  sendingAmount = 10_000;
}
