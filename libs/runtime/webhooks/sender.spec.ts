import { generateKeyPairSync, sign } from 'node:crypto';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';
import { createSender, type Sender, type SenderOptions, type SendResult } from './sender.ts';

const body = Buffer.from('{"id":"Webhook:1"}');
const headers = { 'webhook-id': 'Webhook:1' };
const cleanups: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

function sender(options: Partial<SenderOptions> = {}): Sender {
  const made = createSender({ allowPrivateTargets: true, timeoutMs: 5_000, ...options });
  cleanups.push(() => made.close());
  return made;
}

async function listen(server: Server): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => sockets.add(socket));
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  cleanups.push(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((closed) => server.close(closed));
  });
  return (server.address() as AddressInfo).port;
}

const receiver = async (answer: RequestListener) => `http://127.0.0.1:${await listen(createServer(answer))}/hooks?a=1`;

/** The result without its duration, which no test may depend on. */
function plain({ durationMs, ...result }: SendResult) {
  expect(durationMs).toBeGreaterThanOrEqual(0);
  return result;
}

const answered = (status: number, bodyText = '', isTruncated = false) => ({
  outcome: 'answered',
  status,
  body: expect.any(Buffer),
  bodyText,
  isTruncated,
});

const failed = (reason: string) => ({ outcome: 'failed', reason, message: expect.any(String) });

describe('an answer', () => {
  test('200: method, path, headers and body arrive as given', async () => {
    const seen: unknown[] = [];
    const url = await receiver((request, response) => {
      let text = '';
      request.on('data', (chunk) => {
        text += chunk;
      });
      request.on('end', () => {
        const {
          'webhook-id': id,
          'content-type': type,
          'user-agent': agent,
          'content-length': length,
        } = request.headers;
        seen.push([request.method, request.url, id, type, agent, length, text]);
        response.end('thanks\u0000');
      });
    });
    expect(plain(await sender().send({ url, headers, body }))).toEqual(answered(200, 'thanks\uFFFD'));
    expect(seen).toEqual([
      ['POST', '/hooks?a=1', 'Webhook:1', 'application/json', 'ledgerline-webhooks', '18', '{"id":"Webhook:1"}'],
    ]);
  });

  test.each([204, 400, 409, 500, 503])('%i is handed on with its body', async (status) => {
    const url = await receiver((_, response) => response.writeHead(status).end(status === 204 ? '' : 'why'));
    expect(plain(await sender().send({ url, headers, body }))).toEqual(answered(status, status === 204 ? '' : 'why'));
  });

  test('a redirect is an answer and is not followed', async () => {
    let requests = 0;
    const url = await receiver((_, response) => {
      requests += 1;
      response.writeHead(307, { location: '/elsewhere' }).end();
    });
    expect(plain(await sender().send({ url, headers, body }))).toEqual(answered(307));
    expect(requests).toBe(1);
  });

  test('an informational status is not the answer', async () => {
    const url = await receiver((_, response) => {
      response.writeEarlyHints({ link: '</x>; rel=preload' });
      response.writeHead(202).end();
    });
    expect(plain(await sender().send({ url, headers, body }))).toEqual(answered(202));
  });

  test('a huge body is cut at the limit and its connection ended', async () => {
    let disconnected: () => void;
    const ended = new Promise<void>((settle) => {
      disconnected = settle;
    });
    const url = await receiver((request, response) => {
      request.socket.on('close', () => disconnected());
      const pour = () => {
        while (response.write('x'.repeat(4096)));
        response.once('drain', pour);
      };
      pour();
    });
    const result = await sender({ maxResponseBytes: 10_000 }).send({ url, headers, body });
    expect(plain(result)).toEqual(answered(200, 'x'.repeat(10_000), true));
    await ended;
  });

  test('a body that drips beyond the deadline is cut; the status stands', async () => {
    const url = await receiver((_, response) => {
      response.writeHead(200);
      const drip = setInterval(() => response.write('.'), 20);
      response.on('close', () => clearInterval(drip));
    });
    const result = await sender({ timeoutMs: 1_500 }).send({ url, headers, body });
    expect(plain(result)).toEqual(answered(200, expect.stringMatching(/^\.+$/) as unknown as string, true));
  });

  test('a body that breaks off leaves the status standing', async () => {
    const url = await receiver((_, response) => {
      response.writeHead(200, { 'content-length': 100 });
      response.write('half', () => response.destroy());
    });
    expect(plain(await sender().send({ url, headers, body }))).toEqual(answered(200, 'half', true));
  });
});

describe('no answer', () => {
  test('headers that do not come in time', async () => {
    let disconnected: () => void;
    const ended = new Promise<void>((settle) => {
      disconnected = settle;
    });
    const url = await receiver((request) => request.socket.on('close', () => disconnected()));
    expect(plain(await sender({ timeoutMs: 200 }).send({ url, headers, body }))).toEqual(failed('TIMEOUT'));
    await ended;
  });

  test('headers that drip', async () => {
    const server = createTcpServer((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n');
      const drip = setInterval(() => socket.write('x-a: b\r\n'), 20);
      socket.on('error', () => {}).on('close', () => clearInterval(drip));
    });
    const url = `http://127.0.0.1:${await listen(server)}/`;
    expect(plain(await sender({ timeoutMs: 300 }).send({ url, headers, body }))).toEqual(failed('TIMEOUT'));
  });

  test('a name server that does not answer', async () => {
    const made = sender({ timeoutMs: 200, resolve: () => new Promise(() => {}) });
    expect(plain(await made.send({ url: 'http://slow.test/', headers, body }))).toEqual(failed('TIMEOUT'));
  });

  test('a closed port', async () => {
    const server = createTcpServer();
    const port = await listen(server);
    await new Promise((closed) => server.close(closed));
    const result = await sender().send({ url: `http://127.0.0.1:${port}/`, headers, body });
    expect(plain(result)).toEqual({
      outcome: 'failed',
      reason: 'CONNECTION',
      message: 'The connection failed. (ECONNREFUSED)',
    });
  });

  test('a receiver that hangs up', async () => {
    const url = await receiver((request) => request.socket.destroy());
    expect(plain(await sender().send({ url, headers, body }))).toEqual(failed('CONNECTION'));
  });

  test('something that is not HTTP', async () => {
    const server = createTcpServer((socket) => socket.on('error', () => {}).end('SSH-2.0-nonsense\r\n'));
    const url = `http://127.0.0.1:${await listen(server)}/`;
    expect(plain(await sender().send({ url, headers, body }))).toEqual(failed('PROTOCOL'));
  });

  test('headers without end', async () => {
    const url = await receiver((_, response) => response.writeHead(200, { 'x-long': 'x'.repeat(100_000) }).end());
    expect(plain(await sender().send({ url, headers, body }))).toEqual(failed('PROTOCOL'));
  });

  test('a name without an address', async () => {
    const resolve = () => Promise.reject(Object.assign(new Error('no such name'), { code: 'ENOTFOUND' }));
    const result = await sender({ resolve }).send({ url: 'http://nobody.test/', headers, body });
    expect(plain(result)).toEqual({
      outcome: 'failed',
      reason: 'DNS',
      message: 'The host name could not be resolved. (ENOTFOUND)',
    });
  });
});

describe('targets', () => {
  test('private literals and plain http are refused before anything is opened', async () => {
    const made = sender({ allowPrivateTargets: false });
    expect(plain(await made.send({ url: 'https://127.0.0.1:1/', headers, body }))).toEqual(failed('PRIVATE_ADDRESS'));
    expect(plain(await made.send({ url: 'https://2130706433:1/', headers, body }))).toEqual(failed('PRIVATE_ADDRESS'));
    expect(plain(await made.send({ url: 'http://example.com/', headers, body }))).toEqual(failed('INVALID_TARGET'));
    expect(plain(await made.send({ url: 'nonsense', headers, body }))).toEqual(failed('INVALID_TARGET'));
  });

  test('a name with a private address among its public ones is refused, and no connection is opened', async () => {
    let connections = 0;
    const port = await listen(createTcpServer(() => (connections += 1)));
    const made = sender({ allowPrivateTargets: false, resolve: async () => ['8.8.8.8', '127.0.0.1'] });
    const result = await made.send({ url: `https://rebind.test:${port}/`, headers, body });
    expect(plain(result)).toEqual({
      outcome: 'failed',
      reason: 'PRIVATE_ADDRESS',
      message: 'The URL leads to an address that is not public.',
    });
    expect(connections).toBe(0);
  });

  test('a connection asks for its addresses once and goes where they say', async () => {
    let resolved = 0;
    const resolve = async () => {
      resolved += 1;
      return ['127.0.0.1'];
    };
    const hosts: unknown[] = [];
    const url = await receiver((request, response) => {
      hosts.push(request.headers.host);
      response.end();
    });
    const made = sender({ resolve, connectionsPerTarget: 1 });
    const named = url.replace('127.0.0.1', 'pinned.test');
    for (let sent = 0; sent < 3; sent++) await made.send({ url: named, headers, body });
    expect(resolved).toBe(1);
    expect(hosts).toEqual(Array(3).fill(new URL(named).host));
  });
});

describe('TLS', () => {
  const { key, cert } = selfSigned('receiver.test');
  const resolve = async () => ['127.0.0.1'];
  const serve = () => listen(createTlsServer({ key, cert }, (_, response) => response.end('secret')));

  test('a self-signed certificate is refused', async () => {
    const url = `https://receiver.test:${await serve()}/`;
    expect(plain(await sender({ resolve }).send({ url, headers, body }))).toEqual({
      outcome: 'failed',
      reason: 'TLS',
      message: 'The TLS connection could not be established. (DEPTH_ZERO_SELF_SIGNED_CERT)',
    });
  });

  test('a trusted certificate is accepted for its own name only', async () => {
    const port = await serve();
    const made = sender({ resolve, ca: cert });
    const send = async (host: string) => plain(await made.send({ url: `https://${host}:${port}/`, headers, body }));
    expect(await send('receiver.test')).toEqual(answered(200, 'secret'));
    expect(await send('other.test')).toEqual(failed('TLS'));
  });

  test('a receiver that speaks no TLS', async () => {
    const url = (await receiver((_, response) => response.end())).replace('http:', 'https:');
    expect(plain(await sender().send({ url, headers, body }))).toEqual(failed('TLS'));
  });
});

describe('many at once', () => {
  test('a receiver that hangs fills its own connections and no others', async () => {
    const hanging = await receiver(() => {});
    const quick = await receiver((_, response) => response.end());
    const made = sender({ connectionsPerTarget: 2, timeoutMs: 400 });
    expect(made.room(hanging)).toBe(2);
    const held = [1, 2].map(() => made.send({ url: hanging, headers, body }));
    expect(made.room(hanging)).toBe(0);
    expect(await made.send({ url: hanging, headers, body })).toEqual({
      outcome: 'failed',
      reason: 'BUSY',
      message: 'All connections to this receiver are in use.',
      durationMs: 0,
    });
    for (let sent = 0; sent < 20; sent++)
      expect(plain(await made.send({ url: quick, headers, body }))).toEqual(answered(200));
    expect((await Promise.all(held)).map(plain)).toEqual([failed('TIMEOUT'), failed('TIMEOUT')]);
    expect(made.room(hanging)).toBe(2);
  });

  test('no more sockets than allowed, and they are used again', async () => {
    let connections = 0;
    const server = createServer((_, response) => setTimeout(() => response.end(), 5));
    server.on('connection', () => (connections += 1));
    const url = `http://127.0.0.1:${await listen(server)}/`;
    const made = sender({ connectionsPerTarget: 4 });
    const statuses: unknown[] = [];
    const lane = async () => {
      for (let sent = 0; sent < 10; sent++) {
        const result = await made.send({ url, headers, body });
        statuses.push(result.outcome === 'answered' ? result.status : result.reason);
      }
    };
    await Promise.all([lane(), lane(), lane(), lane()]);
    expect(statuses).toEqual(Array(40).fill(200));
    expect(connections).toBeLessThanOrEqual(4);
  });

  test('an attempt whose deadline passes before it connects is never sent', async () => {
    let requests = 0;
    const url = (
      await receiver((_, response) => {
        requests += 1;
        response.end();
      })
    ).replace('127.0.0.1', 'late.test');
    let found: (addresses: string[]) => void = () => {};
    const made = sender({
      timeoutMs: 100,
      connectionsPerTarget: 1,
      resolve: () =>
        new Promise((settle) => {
          found = settle;
        }),
    });
    expect(plain(await made.send({ url, headers, body }))).toEqual(failed('TIMEOUT'));
    found(['127.0.0.1']);
    await new Promise((settle) => setTimeout(settle, 100));
    expect(requests).toBe(0);
  });

  test('closing fails what is in flight and takes nothing more', async () => {
    const made = sender();
    const url = await receiver(() => void made.close());
    expect(plain(await made.send({ url, headers, body }))).toEqual(failed('CLOSED'));
    expect(plain(await made.send({ url, headers, body }))).toEqual(failed('CLOSED'));
  });
});

/** A self-signed certificate (X.509 version 1, P-256) whose only name is its common name. */
function selfSigned(commonName: string): { key: string; cert: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const der = (tag: number, ...parts: Buffer[]): Buffer => {
    const content = Buffer.concat(parts);
    const { length } = content;
    const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
    return Buffer.concat([Buffer.from([tag, ...size]), content]);
  };
  const ecdsaWithSha256 = der(0x30, Buffer.from('06082a8648ce3d040302', 'hex'));
  const name = der(0x30, der(0x31, der(0x30, Buffer.from('0603550403', 'hex'), der(0x0c, Buffer.from(commonName)))));
  const validity = der(0x30, ...['200101000000Z', '491231235959Z'].map((time) => der(0x17, Buffer.from(time))));
  const serial = der(0x02, Buffer.from([1]));
  const spki = publicKey.export({ type: 'spki', format: 'der' });
  const content = der(0x30, serial, ecdsaWithSha256, name, validity, name, spki);
  const signature = der(0x03, Buffer.from([0]), sign('sha256', content, privateKey));
  const base64 = der(0x30, content, ecdsaWithSha256, signature).toString('base64');
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
    cert: `-----BEGIN CERTIFICATE-----\n${base64.replace(/.{64}/g, '$&\n')}\n-----END CERTIFICATE-----\n`,
  };
}
