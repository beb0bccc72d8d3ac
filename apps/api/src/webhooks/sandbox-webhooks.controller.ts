import { Controller, Inject, Post } from '@nestjs/common';
import { type PlatformState, platform, tenantIdOf } from '../../../../libs/domain/platforms/platform.ts';
import type { Clock } from '../../../../libs/kernel/clock.ts';
import { reject } from '../../../../libs/kernel/errors.ts';
import { type Caller, CurrentCaller } from '../../../../libs/runtime/caller.ts';
import { WritePath } from '../../../../libs/runtime/execute.ts';
import { Operation } from '../../../../libs/runtime/http/index.ts';
import { TestWebhookResponse } from '../../../../projections/webhooks/keys.view.ts';
import { secretsAt } from '../../../shared/webhook-secrets.ts';
import { CLOCK } from '../settings.ts';
import { SERVICE_KEYS, type ServiceKeys } from './ports.ts';
import { TestWebhooks } from './test-webhooks.ts';

@Controller('sandbox/webhooks')
export class SandboxWebhooksController {
  constructor(
    @Inject(WritePath) private readonly writePath: WritePath,
    @Inject(TestWebhooks) private readonly tests: TestWebhooks,
    @Inject(SERVICE_KEYS) private readonly serviceKeys: ServiceKeys,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  @Post('test')
  @Operation({
    summary: 'Send a test webhook',
    description:
      'Sends a `TEST` event to the webhook endpoint, once, and answers with what the endpoint answered, whatever its status. ' +
      '`WEBHOOK_DELIVERY_ERROR` when there was no answer.',
    tag: 'Sandbox',
    success: { 200: TestWebhookResponse },
    permission: 'MANAGE',
    sandboxOnly: true,
  })
  async test(@CurrentCaller() { tenant }: Caller) {
    const { state } = await this.writePath.state<PlatformState>(platform, tenantIdOf(tenant));
    const url = state.webhookEndpoint;
    if (!url) throw reject('WEBHOOK_ENDPOINT_NOT_SET');
    const secrets = secretsAt(state.webhookSecrets ?? [], this.clock.nowMs());
    const result = await this.tests.send(url, secrets, this.serviceKeys(tenant.environment));
    if (result.outcome === 'failed') {
      throw reject('WEBHOOK_DELIVERY_ERROR', { url, reason: result.reason }, result.message);
    }
    return { url, response_status: result.status, response_body: result.bodyText };
  }
}
