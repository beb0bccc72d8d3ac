import { type TSchema, Type } from 'typebox';
import { type WebhookData, webhookEventTypes } from '../../libs/domain/webhooks/event-types.ts';
import type { AnyProjection, ReadRow, Row } from '../../libs/kernel/projection.ts';
import type { WebhookDoc } from '../../libs/runtime/http/index.ts';
import { CustomerOneOf } from '../customer.view.ts';
import { ExternalAccount } from '../external-account.view.ts';
import { announcers, projections } from '../index.ts';
import { InternalAccount } from '../internal-account.view.ts';
import { UmaInvitation } from '../invitation.view.ts';
import { SweepFailure } from '../sweep.view.ts';
import { OutgoingTransaction } from '../transaction.view.ts';
import { type WebhookBody, webhookOf } from './body.ts';
import { IncomingPaymentWebhookData } from './incoming-payments.ts';
import { sampleHistory } from './sample-history.ts';

const emitted = webhookEventTypes.filter(({ isEmitted }) => isEmitted);

/** The component of each kind of webhook, and the schema of its `data`. */
const families: Partial<Record<WebhookData, [name: string, data: TSchema]>> = {
  OutgoingTransaction: ['OutgoingPaymentWebhook', OutgoingTransaction],
  IncomingTransaction: ['IncomingPaymentWebhook', IncomingPaymentWebhookData],
  Customer: ['CustomerWebhook', CustomerOneOf],
  ExternalAccount: ['ExternalAccountStatusWebhook', ExternalAccount],
  InternalAccount: ['InternalAccountStatusWebhook', InternalAccount],
  SweepFailure: ['SweepFailureWebhook', SweepFailure],
  Invitation: ['InvitationClaimedWebhook', UmaInvitation],
  Empty: ['TestWebhookRequest', Type.Object({})],
};

type Answers = WebhookDoc['answers'];

const isRepeated: Answers = {
  '2XX': { description: 'Received. Anything else but 409 makes the delivery be tried again.' },
};
const isOnce: Answers = { '2XX': { description: 'Received. It is sent once, whatever is answered.' } };

/** What the receiver says of a payment that asks for its approval (facts §3). */
const approval: Answers = {
  200: {
    description: 'Approved.',
    schema: Type.Object(
      { receiverCustomerInfo: Type.Optional(Type.Object({}, { additionalProperties: true })) },
      { $id: 'IncomingPaymentWebhookResponse' },
    ),
  },
  202: {
    description:
      'Seen, as with any other 2xx and 409: decide within five seconds, by `/transactions/{transactionId}/approve` or `/reject`.',
  },
  403: {
    description: 'Rejected.',
    schema: Type.Object({ reason: Type.Optional(Type.String()) }, { $id: 'IncomingPaymentWebhookForbiddenResponse' }),
  },
  422: {
    description: 'More has to be known of the sender: the payment fails.',
    schema: Type.Object(
      { requiredFields: Type.Optional(Type.Array(Type.String({ maxLength: 100 }), { maxItems: 100 })) },
      { $id: 'IncomingPaymentWebhookUnprocessableResponse' },
    ),
  },
  default: { description: 'The payment fails. It is sent once, whatever is answered.' },
};

const schemas = new Map<WebhookData, TSchema>();

function schemaOf(kind: WebhookData): TSchema {
  const known = schemas.get(kind);
  if (known) return known;
  const family = families[kind];
  if (!family) throw new Error(`webhooks about ${kind} are sent, but their schema is not in the catalogue`);
  const types = emitted.filter(({ data }) => data === kind).map(({ type }) => type);
  const schema = Type.Object(
    {
      id: Type.String({ description: 'Unique per event, and the same on every attempt.' }),
      type: Type.Enum(types),
      timestamp: Type.String({ format: 'date-time', description: 'When it happened.' }),
      sequence: Type.Integer({ minimum: 0, description: 'Grows with every event about the same resource.' }),
      data: family[1],
    },
    { $id: family[0] },
  );
  schemas.set(kind, schema);
  return schema;
}

/** Every webhook that is sent, by its wire `type`, for the OpenAPI document: the schema of its body, and a sample. */
export function webhookDocs(): Record<string, WebhookDoc> {
  const samples = webhookSamples();
  return Object.fromEntries(
    emitted.map(({ event, type, when, data, isRetried }) => {
      const example = samples.get(type);
      const answers = event === 'INCOMING_PAYMENT.PENDING' ? approval : isRetried ? isRepeated : isOnce;
      return [type, { summary: when, payload: schemaOf(data), ...(example && { example }), answers }];
    }),
  );
}

/** One body per wire `type`: what is announced of the sample history, by the announcers that announce everything else. */
export function webhookSamples(): ReadonlyMap<string, WebhookBody> {
  const tables = new Map<AnyProjection, Map<string, Row>>(projections.map((projection) => [projection, new Map()]));
  const read = ((projection, id) => tables.get(projection)?.get(id)) as ReadRow;
  const samples = new Map<string, WebhookBody>();
  for (const event of sampleHistory()) {
    for (const [projection, rows] of tables) {
      if (projection.insertOnly || !projection.handles.includes(event.type)) continue;
      projection.apply({ get: (id) => rows.get(id), set: (row: Row) => rows.set(row.id, row) }, event);
    }
    for (const announcer of announcers) {
      if (!announcer.handles.includes(event.type)) continue;
      for (const announcement of announcer.announce(event, read)) {
        if (!samples.has(announcement.type)) samples.set(announcement.type, webhookOf(announcement, event).body);
      }
    }
  }
  return samples;
}
