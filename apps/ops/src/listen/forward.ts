import { createPublicKey, type KeyObject } from 'node:crypto';
import { publicId } from '../../../../libs/kernel/ids.ts';
import type { Tenant } from '../../../../libs/kernel/messages.ts';
import type { Sender } from '../../../../libs/runtime/webhooks/sender.ts';
import {
  signatureHeaders,
  verifyServiceSignature,
  verifyStandardWebhook,
} from '../../../../libs/runtime/webhooks/signing.ts';
import type { Engine } from '../../../shared/engine.ts';
import { serviceKeys } from '../../../shared/service-keys.ts';
import { secretsAt, webhookSecretsOf } from '../../../shared/webhook-secrets.ts';
import type { ForwardedWebhook } from './feed.ts';

/** What came of forwarding one webhook. */
export interface Forwarded {
  id: string;
  type: string;
  resource: string;
  isResent: boolean;
  /** What the local address answered; absent when it did not. */
  status?: number;
  error?: string;
  durationMs: number;
  /** Whether each signature was found to be good, as its receiver would check it. */
  webhookSignature: boolean;
  serviceSignature: boolean;
}

/** Sends webhooks to an address, signed as the dispatcher signs them, and checks both signatures over what was sent. */
export function forwarder(
  engine: Pick<Engine, 'store' | 'codec' | 'clock' | 'keyFor'>,
  tenant: Tenant,
  sender: Sender,
) {
  const privateKey = serviceKeys(engine)(tenant.environment);
  const publicKey = createPublicKey(privateKey);
  return async (url: string, webhook: ForwardedWebhook): Promise<Forwarded> => {
    const { id, type, resource, isResent } = webhook;
    const body = Buffer.from(webhook.body);
    const nowMs = engine.clock.nowMs();
    const secrets = secretsAt(await webhookSecretsOf(engine, tenant), nowMs);
    const timestampSeconds = Math.floor(nowMs / 1_000);
    const headers = signatureHeaders({ id: publicId('Webhook', id), timestampSeconds, body, secrets, privateKey });
    const result = await sender.send({ url, headers, body });
    return {
      id: publicId('Webhook', id),
      type,
      resource,
      isResent,
      ...(result.outcome === 'answered' ? { status: result.status } : { error: result.message }),
      durationMs: result.durationMs,
      ...verified({ headers, body, secrets, nowSeconds: timestampSeconds, publicKey }),
    };
  };
}

function verified(sent: {
  headers: ReturnType<typeof signatureHeaders>;
  body: Buffer;
  secrets: readonly string[];
  nowSeconds: number;
  publicKey: KeyObject;
}) {
  const { headers, body, publicKey } = sent;
  return {
    webhookSignature: verifyStandardWebhook(sent),
    serviceSignature: verifyServiceSignature({ header: headers['x-service-signature'], body, publicKey }),
  };
}
