import { randomBytes, randomUUID } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { RevokeToken, token } from '../../../../libs/domain/tokens/token.ts';
import type { AnyDecider } from '../../../../libs/kernel/decider.ts';
import { uuidV7 } from '../../../../libs/kernel/ids.ts';
import type { Command, Tenant } from '../../../../libs/kernel/messages.ts';
import { BASE_PATH } from '../../../../libs/runtime/http/index.ts';
import { createApi } from '../../../api/src/app.ts';
import type { Engine } from '../../../shared/engine.ts';
import { issueToken } from '../../../shared/provision.ts';

// biome-ignore lint/suspicious/noExplicitAny: flows look at answers as any client does, without this program's types
export type Json = any;

/** A platform as its own backend would use it: the API over HTTP; and, for what no request leads to yet, its commands. */
export interface PlatformClient {
  post(path: string, body?: object): Promise<Json>;
  get(path: string): Promise<Json>;
  delete(path: string): Promise<Json>;
  /** Sends a command over the write path. */
  send(decider: AnyDecider, command: Command): Promise<void>;
}

/**
 * Works as a client of the platform: with a token of its own that is revoked afterwards, through an API in this process that stands on the
 * same log as the running ones. Whatever follows is theirs to do.
 */
export async function asClient<T>(
  engine: Engine,
  tenant: Tenant,
  work: (client: PlatformClient) => Promise<T>,
): Promise<T> {
  const send = async (decider: AnyDecider, command: Command) => {
    const commandId = randomUUID();
    await engine.writePath.execute(decider, command, { commandId, correlationId: commandId, actor: 'ops', tenant });
  };
  const tokenId = uuidV7(engine.clock.nowMs(), randomBytes(10));
  const settings = { allowPrivateTargets: true, sandboxTimeScale: 1 };
  const api = await createApi(engine, { logger: engine.logger, settings });
  const { clientId, clientSecret } = await issueToken(engine, tenant, { name: 'ops trigger', tokenId });
  const authorization = `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`;
  try {
    await api.listen(0, '127.0.0.1');
    const { port } = api.getHttpServer().address() as AddressInfo;
    const call = async (method: string, path: string, body?: object): Promise<Json> => {
      const answer = await fetch(`http://127.0.0.1:${port}${BASE_PATH}${path}`, {
        method,
        headers: {
          authorization,
          ...(body && { 'content-type': 'application/json' }),
          ...(method === 'POST' && { 'idempotency-key': randomUUID() }),
        },
        ...(body && { body: JSON.stringify(body) }),
      });
      const text = await answer.text();
      if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${text}`);
      return text === '' ? undefined : JSON.parse(text);
    };
    return await work({
      post: (path, body) => call('POST', path, body),
      get: (path) => call('GET', path),
      delete: (path) => call('DELETE', path),
      send,
    });
  } finally {
    await api.close();
    await send(token, new RevokeToken({ tokenId }));
  }
}
