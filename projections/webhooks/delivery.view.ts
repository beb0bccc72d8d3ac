import { type Static, Type } from 'typebox';
import { webhookEventTypes } from '../../libs/domain/webhooks/event-types.ts';
import { publicId } from '../../libs/kernel/ids.ts';
import { PageOf } from '../../libs/runtime/http/page-of.ts';

export const deliveryStatuses = ['PENDING', 'DELIVERED', 'FAILED'] as const;

const moment = (description: string) => Type.String({ format: 'date-time', description });

export const WebhookAttempt = Type.Object(
  {
    number: Type.Integer({ minimum: 1 }),
    attemptedAt: moment('When the answer was there, or the attempt was given up.'),
    responseStatus: Type.Optional(Type.Integer({ description: 'HTTP status of the answer; absent without one.' })),
    responseBody: Type.Optional(Type.String({ description: 'The beginning of the answer.' })),
    error: Type.Optional(Type.String({ description: 'Why there was no answer.' })),
    durationMs: Type.Integer({ minimum: 0 }),
  },
  { $id: 'WebhookAttempt' },
);

/** A webhook and how its delivery stands. */
export const WebhookDelivery = Type.Object(
  {
    id: Type.String({ description: "The webhook's `id`, the same on every attempt." }),
    type: Type.Enum(webhookEventTypes.map(({ type }) => type)),
    resource: Type.String({ description: 'Id of the resource that it is about.' }),
    sequence: Type.Integer({ minimum: 0 }),
    status: Type.Enum([...deliveryStatuses], {
      description: '`FAILED`: given up; it is sent again when you ask for it.',
    }),
    attemptCount: Type.Integer({ minimum: 0 }),
    attempts: Type.Array(WebhookAttempt, { description: 'The last 20, the newest at the end.' }),
    nextAttemptAt: Type.Optional(moment('Not before this time; absent when the delivery is over.')),
    createdAt: moment('When it happened.'),
  },
  { $id: 'WebhookDelivery' },
);

export const WebhookDeliveryListResponse = PageOf(WebhookDelivery, 'WebhookDeliveryListResponse');

/** An attempt as it is stored. */
export interface AttemptRow {
  number: number;
  attempted_at: Date;
  status: number | null;
  error: string | null;
  duration_ms: number;
  response: string | null;
}

/** A webhook joined with its delivery, as they are stored. */
export interface DeliveryRow {
  id: string;
  type: string;
  resource: string;
  sequence: string;
  status: (typeof deliveryStatuses)[number];
  attempts: number;
  next_attempt_at: Date;
  last_attempt_at: Date | null;
  last_status: number | null;
  last_error: string | null;
  last_duration_ms: number | null;
  last_response: string | null;
  created_at: Date;
}

/** A delivery as the API shows it. `earlier` are the attempts before the last one, oldest first. */
export function webhookDeliveryView(row: DeliveryRow, earlier: readonly AttemptRow[]): Static<typeof WebhookDelivery> {
  const { last_attempt_at: attemptedAt, attempts: number } = row;
  const last = attemptedAt && {
    number,
    attempted_at: attemptedAt,
    status: row.last_status,
    error: row.last_error,
    duration_ms: row.last_duration_ms ?? 0,
    response: row.last_response,
  };
  return {
    id: publicId('Webhook', row.id),
    type: row.type,
    resource: row.resource,
    sequence: Number(row.sequence),
    status: row.status,
    attemptCount: row.attempts,
    attempts: [...earlier, ...(last ? [last] : [])].map(attemptView),
    ...(row.status === 'PENDING' && { nextAttemptAt: row.next_attempt_at.toISOString() }),
    createdAt: row.created_at.toISOString(),
  };
}

function attemptView(attempt: AttemptRow): Static<typeof WebhookAttempt> {
  return {
    number: attempt.number,
    attemptedAt: attempt.attempted_at.toISOString(),
    ...(attempt.status !== null && { responseStatus: attempt.status }),
    ...(attempt.response !== null && { responseBody: attempt.response }),
    ...(attempt.error !== null && { error: attempt.error }),
    durationMs: attempt.duration_ms,
  };
}
