import { PageQuery, QueryFlag, QueryOneOf, QueryText } from '../../../../libs/runtime/http/index.ts';

export class UmaProvidersQuery extends PageQuery {
  @QueryText({ min: 2, max: 2, pattern: /^[A-Z]{2}$/, description: 'ISO 3166-1 alpha-2.', example: 'MX' })
  countryCode?: string;

  @QueryText({ min: 3, max: 5, pattern: /^[A-Z]{3,5}$/, example: 'MXN' })
  currencyCode?: string;

  @QueryFlag({ description: 'True: also providers that payments are blocked to.' })
  hasBlockedProviders?: boolean;

  @QueryOneOf(['asc', 'desc'], { description: 'By name; descending unless it says otherwise.' })
  sortOrder?: 'asc' | 'desc';
}

export class VaspsQuery extends PageQuery {}
