import type { Provider } from '@nestjs/common';
import { createSender } from '../../../../libs/runtime/webhooks/sender.ts';
import type { Engine } from '../../../shared/engine.ts';
import { serviceKeys } from '../../../shared/service-keys.ts';
import type { ApiSettings } from '../settings.ts';
import { SERVICE_KEYS } from './ports.ts';
import { SandboxWebhooksController } from './sandbox-webhooks.controller.ts';
import { TestWebhooks } from './test-webhooks.ts';
import { WebhookDeliveries } from './webhook-deliveries.ts';
import { WebhooksController } from './webhooks.controller.ts';

/** The feature's part of the API module. */
export const webhookControllers = [WebhooksController, SandboxWebhooksController];

export const webhookProviders = (engine: Engine, { allowPrivateTargets }: ApiSettings): Provider[] => [
  { provide: WebhookDeliveries, useValue: new WebhookDeliveries(engine.db, engine.readModel) },
  { provide: SERVICE_KEYS, useValue: serviceKeys(engine) },
  { provide: TestWebhooks, useFactory: () => new TestWebhooks(createSender({ allowPrivateTargets }), engine.clock) },
];
