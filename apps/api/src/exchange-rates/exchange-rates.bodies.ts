import { QueryList, QueryText, text } from '../../../../libs/runtime/http/index.ts';

export class ExchangeRatesQuery {
  @QueryText({ max: 10, example: 'USD' })
  sourceCurrency?: string;

  @QueryList(text({ max: 10 }), {
    description: 'One or several, repeated or joined by commas.',
    example: ['EUR', 'MXN'],
  })
  destinationCurrency?: string[];

  @QueryText({ max: 20, description: 'Smallest unit of the source currency; 10000 when absent.', example: '10000' })
  sendingAmount?: string;
}
