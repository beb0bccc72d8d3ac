import { derivedUuid, publicId } from '../../libs/kernel/ids.ts';
import type { RecordedEvent } from '../../libs/kernel/messages.ts';
import type { Announcement } from '../../libs/kernel/projection.ts';

/** The body of a webhook. */
export interface WebhookBody {
  /** `Webhook:<uuid>`. */
  id: string;
  type: string;
  timestamp: string;
  sequence: number;
  data: object;
}

/** The id of the webhook that an event causes, and its body. The same event gives the same webhook again. */
export function webhookOf(announcement: Announcement, event: RecordedEvent): { id: string; body: WebhookBody } {
  const { type, resource, sequence, data } = announcement;
  const id = derivedUuid('webhook', event.id, type, resource);
  return { id, body: { id: publicId('Webhook', id), type, timestamp: event.at, sequence, data } };
}
