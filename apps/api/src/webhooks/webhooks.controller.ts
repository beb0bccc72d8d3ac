import { randomBytes } from 'node:crypto';
import { Body, Controller, Get, Inject, Param, Post, Query } from '@nestjs/common';
import {
  type PlatformState,
  platform,
  RotateWebhookSecret,
  tenantIdOf,
} from '../../../../libs/domain/platforms/platform.ts';
import { type Clock, timestamp } from '../../../../libs/kernel/clock.ts';
import { reject } from '../../../../libs/kernel/errors.ts';
import { parsePublicId } from '../../../../libs/kernel/ids.ts';
import type { Tenant } from '../../../../libs/kernel/messages.ts';
import { secretHash } from '../../../../libs/runtime/auth.ts';
import { type Caller, CurrentCaller } from '../../../../libs/runtime/caller.ts';
import { Commands } from '../../../../libs/runtime/commands.ts';
import { WritePath } from '../../../../libs/runtime/execute.ts';
import { Operation } from '../../../../libs/runtime/http/index.ts';
import { newWebhookSecret, publicPemOf } from '../../../../libs/runtime/webhooks/signing.ts';
import { WebhookDelivery, WebhookDeliveryListResponse } from '../../../../projections/webhooks/delivery.view.ts';
import { RotatedWebhookSecret, WebhookKeys } from '../../../../projections/webhooks/keys.view.ts';
import { CLOCK } from '../settings.ts';
import { SERVICE_KEYS, type ServiceKeys } from './ports.ts';
import { WebhookDeliveries } from './webhook-deliveries.ts';
import { RotateWebhookSecretBody, WebhookDeliveriesQuery } from './webhooks.bodies.ts';

const OVERLAP_HOURS = 24;
const FINGERPRINT_LENGTH = 16;

@Controller('webhooks')
export class WebhooksController {
  constructor(
    @Inject(Commands) private readonly commands: Commands,
    @Inject(WritePath) private readonly writePath: WritePath,
    @Inject(WebhookDeliveries) private readonly deliveries: WebhookDeliveries,
    @Inject(SERVICE_KEYS) private readonly serviceKeys: ServiceKeys,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  @Get('keys')
  @Operation({
    summary: 'Get the keys that webhooks are signed with',
    description: 'The public key of `X-Service-Signature`, and the fingerprints of the secrets of `webhook-signature`.',
    tag: 'Webhooks',
    success: { 200: WebhookKeys },
    extension: true,
    permission: 'VIEW',
  })
  async keys(@CurrentCaller() { tenant }: Caller) {
    const { webhookSecrets = [] } = await this.platform(tenant);
    const now = timestamp(this.clock.nowMs());
    return {
      environment: tenant.environment,
      algorithm: 'ECDSA_P256_SHA256',
      publicKey: publicPemOf(this.serviceKeys(tenant.environment)),
      secrets: webhookSecrets
        .filter(({ validUntil }) => !validUntil || validUntil > now)
        .map(({ secret, validUntil }) => ({
          fingerprint: secretHash(secret).slice(0, FINGERPRINT_LENGTH),
          ...(validUntil && { validUntil }),
        })),
    };
  }

  @Post('secret/rotate')
  @Operation({
    summary: 'Replace the webhook secret',
    description:
      'Answers with a new secret, this once. For a while webhooks are signed with the previous ones too, so that receivers can change over. At most five sign at once.',
    tag: 'Webhooks',
    success: { 200: RotatedWebhookSecret },
    errors: [409],
    sealed: true,
    extension: true,
    permission: 'MANAGE',
  })
  async rotate(@Body() { overlapHours = OVERLAP_HOURS }: RotateWebhookSecretBody, @CurrentCaller() caller: Caller) {
    const nowMs = this.clock.nowMs();
    const command = new RotateWebhookSecret({
      tenantId: tenantIdOf(caller.tenant),
      webhookSecret: newWebhookSecret(randomBytes(32)),
      previousValidUntil: timestamp(nowMs + overlapHours * 3_600_000),
      now: timestamp(nowMs),
    });
    return this.commands.answer(caller, command, rotatedView);
  }

  @Get('deliveries')
  @Operation({
    summary: 'List webhook deliveries',
    description: 'Newest first unless `sortOrder` says otherwise, with their attempts.',
    tag: 'Webhooks',
    success: { 200: WebhookDeliveryListResponse },
    extension: true,
    permission: 'VIEW',
  })
  list(@Query() query: WebhookDeliveriesQuery, @CurrentCaller() { tenant }: Caller) {
    return this.deliveries.page(tenant, query);
  }

  @Post('deliveries/:webhookId/redeliver')
  @Operation({
    summary: 'Send a webhook again',
    description: 'Sends it at once, delivered before or not, with the same `id` and body, and a fresh retry schedule.',
    tag: 'Webhooks',
    success: { 200: WebhookDelivery },
    errors: [404],
    extension: true,
    sealed: true,
    permission: 'MANAGE',
  })
  async redeliver(@Param('webhookId') webhookId: string, @CurrentCaller() { tenant }: Caller) {
    const id = parsePublicId('Webhook', webhookId);
    if (!id) throw reject('REFERENCE_NOT_FOUND', undefined, 'There is no such webhook.');
    const { webhookEndpoint } = await this.platform(tenant);
    if (!webhookEndpoint) throw reject('WEBHOOK_ENDPOINT_NOT_SET');
    return this.deliveries.redeliver(tenant, id, this.clock.nowMs());
  }

  private async platform(tenant: Tenant): Promise<PlatformState> {
    return (await this.writePath.state<PlatformState>(platform, tenantIdOf(tenant))).state;
  }
}

function rotatedView({ webhookSecrets }: PlatformState) {
  const [newest, previous] = webhookSecrets ?? [];
  return { secret: newest!.secret, ...(previous?.validUntil && { previousValidUntil: previous.validUntil }) };
}
