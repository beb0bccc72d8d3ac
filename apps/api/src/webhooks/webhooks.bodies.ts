import { webhookEventTypes } from '../../../../libs/domain/webhooks/event-types.ts';
import { Integer, PageQuery, QueryOneOf, QueryText, QueryTimestamp } from '../../../../libs/runtime/http/index.ts';
import { deliveryStatuses } from '../../../../projections/webhooks/delivery.view.ts';

const A_WEEK_HOURS = 7 * 24;

export class RotateWebhookSecretBody {
  @Integer({
    optional: true,
    min: 0,
    max: A_WEEK_HOURS,
    example: 24,
    description: 'For how many hours the old secret signs too. 24 when absent; 0 for a secret that has leaked.',
  })
  overlapHours?: number;
}

export class WebhookDeliveriesQuery extends PageQuery {
  @QueryOneOf(webhookEventTypes.map(({ type }) => type))
  type?: string;

  @QueryOneOf(deliveryStatuses)
  status?: string;

  @QueryText({ max: 100, description: 'Id of the resource that the webhooks are about.' })
  resource?: string;

  @QueryTimestamp({ description: 'Inclusive.' })
  createdAfter?: string;

  @QueryTimestamp({ description: 'Inclusive.' })
  createdBefore?: string;

  @QueryOneOf(['asc', 'desc'])
  sortOrder?: 'asc' | 'desc';
}
