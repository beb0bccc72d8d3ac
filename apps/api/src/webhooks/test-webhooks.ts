import { type KeyObject, randomBytes } from 'node:crypto';
import type { OnModuleDestroy } from '@nestjs/common';
import { webhookEventType } from '../../../../libs/domain/webhooks/event-types.ts';
import { type Clock, timestamp } from '../../../../libs/kernel/clock.ts';
import { publicId, uuidV7 } from '../../../../libs/kernel/ids.ts';
import type { Sender, SendResult } from '../../../../libs/runtime/webhooks/sender.ts';
import { signatureHeaders } from '../../../../libs/runtime/webhooks/signing.ts';

/** Sends `TEST` webhooks while a request waits for the answer. They are not recorded as deliveries. */
export class TestWebhooks implements OnModuleDestroy {
  private readonly sender: Sender;
  private readonly clock: Clock;

  constructor(sender: Sender, clock: Clock) {
    this.sender = sender;
    this.clock = clock;
  }

  /** One attempt, signed as every delivery is; `secrets` newest first. */
  send(url: string, secrets: readonly string[], privateKey: KeyObject): Promise<SendResult> {
    const nowMs = this.clock.nowMs();
    const id = publicId('Webhook', uuidV7(nowMs, randomBytes(10)));
    const { type } = webhookEventType('TEST');
    const body = Buffer.from(JSON.stringify({ id, type, timestamp: timestamp(nowMs), sequence: 0, data: {} }));
    const headers = signatureHeaders({ id, timestampSeconds: Math.floor(nowMs / 1_000), body, secrets, privateKey });
    return this.sender.send({ url, headers, body });
  }

  onModuleDestroy(): Promise<void> {
    return this.sender.close();
  }
}
