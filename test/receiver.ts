import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { ConfigurePlatform, platform, tenantIdOf } from '../libs/domain/platforms/platform.ts';
import type { Tenant } from '../libs/kernel/messages.ts';
import type { WritePath } from '../libs/runtime/execute.ts';
import { eventually } from './eventually.ts';

/** A webhook as it arrived. */
export interface Received {
  headers: IncomingHttpHeaders;
  body: Buffer;
  event: { id: string; type: string; timestamp: string; sequence: number; data: Record<string, unknown> };
}

/** What a receiver answers: a status, one with a body as JSON or as text, or `hang` for never. */
export type Answer = number | 'hang' | { status: number; body: object | string };

export interface Receiver {
  url: string;
  received: Received[];
  /** All that has arrived as soon as `count` of them are of these types; any type when none is named. */
  until(count: number, ...types: string[]): Promise<Received[]>;
  /** What is told of one resource as soon as `count` events of it have arrived: each once, by sequence, since they may overtake. */
  about(id: string, count: number): Promise<Received['event'][]>;
  stop(): Promise<void>;
}

/** A webhook endpoint on this machine. `answer` decides what to say to each request, the first one being number 1. */
export async function startReceiver(
  answer: (request: Received, number: number) => Answer | Promise<Answer> = () => 204,
): Promise<Receiver> {
  const received: Received[] = [];
  const sockets = new Set<Socket>();
  let arrived = () => {};
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const one: Received = { headers: request.headers, body, event: JSON.parse(body.toString('utf8')) };
    received.push(one);
    const answering = answer(one, received.length);
    arrived();
    const said = await answering;
    if (typeof said === 'object') {
      const text = typeof said.body === 'string' ? said.body : JSON.stringify(said.body);
      response.writeHead(said.status, { 'content-type': 'application/json' }).end(text);
      return;
    }
    const status = said;
    if (status !== 'hang') response.writeHead(status).end(status === 204 ? undefined : `said ${status}`);
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`,
    received,
    async until(count, ...types) {
      const matching = () => received.filter(({ event }) => types.length === 0 || types.includes(event.type));
      while (matching().length < count) {
        await new Promise<void>((resolve) => {
          const before = arrived;
          arrived = () => {
            before();
            resolve();
          };
        });
      }
      return matching();
    },
    async about(id, count) {
      const events = () =>
        new Map(received.map(({ event }) => event).flatMap((one) => (one.data.id === id ? [[one.id, one]] : [])));
      const all = await eventually(
        async () => [...events().values()],
        (told) => told.length >= count,
      );
      return all.sort((a, b) => a.sequence - b.sequence);
    },
    async stop() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Sets the webhook endpoint of a platform. */
export async function setEndpoint(writePath: WritePath, tenant: Tenant, webhookEndpoint: string): Promise<void> {
  const command = new ConfigurePlatform({ tenantId: tenantIdOf(tenant), changes: { webhookEndpoint } });
  const commandId = crypto.randomUUID();
  await writePath.execute(platform, command, { commandId, correlationId: commandId, actor: 'test', tenant });
}
