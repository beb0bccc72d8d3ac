import { createPublicKey } from 'node:crypto';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { verifyServiceSignature, verifyStandardWebhook } from '../../../../libs/runtime/webhooks/signing.ts';
import { type Json, must } from './client.ts';

/** A webhook whose signatures were found to be good. */
export interface Webhook {
  id: string;
  type: string;
  sequence: number;
  data: Json;
}

export interface Receiver {
  url: string;
  /** In the order of arrival. */
  webhooks: readonly Webhook[];
  /** Waits for a webhook; fails when it does not come, or when one came with a wrong signature. */
  until(isWanted: (webhook: Webhook) => boolean, what: string): Promise<Webhook>;
  stop(): Promise<void>;
}

export interface Keys {
  /** `whsec_…` of the platform; without it only the second signature can be verified. */
  secret: string | undefined;
  /** PEM of `X-Service-Signature`. */
  publicKey: string;
}

const PATIENCE_MS = 20_000;

/** An endpoint for webhooks on this machine, as a platform would have one: it verifies both signatures, then answers. */
export async function startReceiver(keys: Keys): Promise<Receiver> {
  const webhooks: Webhook[] = [];
  const wrong: string[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const fault = faultOf(keys, request.headers, body);
    if (fault) wrong.push(fault);
    else webhooks.push(JSON.parse(body.toString('utf8')) as Webhook);
    response.writeHead(fault ? 400 : 204).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks`,
    webhooks,
    async until(isWanted, what) {
      const giveUpMs = performance.now() + PATIENCE_MS;
      for (;;) {
        must(wrong.length === 0, wrong.join('; '));
        const found = webhooks.find(isWanted);
        if (found) return found;
        must(performance.now() < giveUpMs, `the webhook ${what} has not arrived within ${PATIENCE_MS / 1_000} s`);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function faultOf({ secret, publicKey }: Keys, headers: IncomingHttpHeaders, body: Buffer): string | undefined {
  const nowSeconds = Math.floor(Date.now() / 1_000);
  const standard = headers as Record<string, string>;
  const isStandard =
    secret === undefined || verifyStandardWebhook({ headers: standard, body, secrets: [secret], nowSeconds });
  const header = String(headers['x-service-signature'] ?? '');
  const isService = verifyServiceSignature({ header, body, publicKey: createPublicKey(publicKey) });
  if (isStandard && isService) return undefined;
  return `a webhook came with a wrong ${isStandard ? 'X-Service-Signature' : 'webhook-signature'}`;
}
