import { platformPublicId } from '../../libs/domain/platforms/platform.ts';
import { webhookEventType } from '../../libs/domain/webhooks/event-types.ts';
import type { Announcer } from '../../libs/kernel/projection.ts';

/** A new or changed endpoint gets a `TEST` event; a test belongs to no resource, so its `sequence` is always 0. */
export const platformAnnouncer: Announcer = {
  handles: ['PlatformConfigured'],
  announce(event) {
    const { isEndpointChanged } = event.data as { isEndpointChanged: boolean };
    if (!isEndpointChanged) return [];
    const { type } = webhookEventType('TEST');
    return [{ type, resource: platformPublicId(event.meta.tenant), sequence: 0, data: {} }];
  },
};
