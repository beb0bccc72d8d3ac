import type { Permission } from '../../../../libs/domain/tokens/token.events.ts';
import { ListOf, oneOf, PageQuery, QueryText, QueryTimestamp, Text } from '../../../../libs/runtime/http/index.ts';

export class ApiTokenCreateRequest {
  @Text({ min: 1, max: 255, example: 'Nightly payouts' })
  name!: string;

  @ListOf(oneOf(['VIEW', 'TRANSACT', 'MANAGE']), { min: 1, max: 10, example: ['VIEW', 'TRANSACT'] })
  permissions!: Permission[];
}

export class TokensQuery extends PageQuery {
  @QueryText({ max: 255, description: 'The whole name.' })
  name?: string;

  @QueryTimestamp({ description: 'Inclusive.' })
  createdAfter?: string;

  @QueryTimestamp({ description: 'Inclusive.' })
  createdBefore?: string;

  @QueryTimestamp({ description: 'Inclusive.' })
  updatedAfter?: string;

  @QueryTimestamp({ description: 'Inclusive.' })
  updatedBefore?: string;
}
