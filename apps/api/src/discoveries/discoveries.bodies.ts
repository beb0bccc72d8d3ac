import { QueryText } from '../../../../libs/runtime/http/index.ts';

export class DiscoveriesQuery {
  @QueryText({ min: 2, max: 2, pattern: /^[A-Z]{2}$/, description: 'ISO 3166-1 alpha-2.', example: 'PH' })
  country?: string;

  @QueryText({ min: 3, max: 5, pattern: /^[A-Z]{3,5}$/, description: 'ISO 4217.', example: 'PHP' })
  currency?: string;
}
