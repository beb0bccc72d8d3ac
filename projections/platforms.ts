import { platformEventTypes } from '../libs/domain/platforms/platform.events.ts';
import { platform } from '../libs/domain/platforms/platform.ts';
import { stateProjection } from '../libs/kernel/projection.ts';

/** Configuration of each platform and environment; its secrets stay in the log. */
export const platforms = stateProjection(platform, {
  table: 'platforms',
  handles: platformEventTypes,
  columns: { webhook_endpoint: 'text' },
  filters: (state) => ({ webhook_endpoint: state.webhookEndpoint }),
  omit: ['webhookSecrets'],
});
