import { createHash, randomUUID, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import pg from 'pg';
import { PostgresEventStore } from '../../libs/adapters/postgres/event-store.ts';
import type { Append } from '../../libs/kernel/event-store.port.ts';

/**
 * The limit probe: the least that a durable write over HTTP can cost here. A bare server that authenticates, appends one event through
 * the same group-committing store, and answers. Arguments: database URL, authorization header.
 */
const [url, authorization] = process.argv.slice(2) as [string, string];
const FLUSH_APPENDS = 500;

interface Waiting {
  stream: string;
  payload: string;
  response: ServerResponse;
}

const store = new PostgresEventStore(url, new pg.Pool({ connectionString: url }));
const sha256 = (text: string) => createHash('sha256').update(text).digest();
const expected = sha256(authorization);
const revisions = new Map<string, number>();
const waiting: Waiting[] = [];
let isFlushing = false;

const server = createServer((request, response) => {
  if (!timingSafeEqual(sha256(request.headers.authorization ?? ''), expected))
    return void response.writeHead(401).end();
  read(request, (body) => {
    waiting.push({ ...(JSON.parse(body) as { stream: string }), payload: body, response });
    if (!isFlushing) void flush();
  });
});

function read(request: IncomingMessage, whole: (body: string) => void): void {
  let body = '';
  request.setEncoding('utf8');
  request.on('data', (chunk: string) => {
    body += chunk;
  });
  request.on('end', () => whole(body));
}

async function flush(): Promise<void> {
  isFlushing = true;
  await null; // requests of the same moment share one flush
  while (waiting.length > 0) {
    const batch = waiting.splice(0, FLUSH_APPENDS);
    await store.append(appendsOf(batch));
    for (const { response } of batch) {
      const text = '{"ok":true}';
      response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': text.length }).end(text);
    }
  }
  isFlushing = false;
}

/** One append per stream, as the write path makes them. */
function appendsOf(batch: readonly Waiting[]): Append[] {
  const appends = new Map<
    string,
    { append: Append; events: { id: string; type: string; payload: string; metadata: string }[] }
  >();
  for (const { stream, payload } of batch) {
    let one = appends.get(stream);
    if (!one) {
      const events: { id: string; type: string; payload: string; metadata: string }[] = [];
      one = { append: { stream, expectedRevision: revisions.get(stream) ?? -1, events, answers: [] }, events };
      appends.set(stream, one);
    }
    one.events.push({ id: randomUUID(), type: 'Appended', payload, metadata: '{}' });
  }
  for (const [stream, { append, events }] of appends) revisions.set(stream, append.expectedRevision + events.length);
  return [...appends.values()].map(({ append }) => append);
}

server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => process.send!({ port: (server.address() as AddressInfo).port }));
process.on('disconnect', () => process.exit(0));
