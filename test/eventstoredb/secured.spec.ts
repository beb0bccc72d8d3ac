import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createServer } from 'node:tls';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { append, bareStore, fresh } from './bare.ts';
import { startEventStoreServer } from './server.ts';

const ROOT = path.join(import.meta.dirname, '../..');
const CERTIFICATE = path.join(import.meta.dirname, 'tls/test-only.crt');

let cleanUps: (() => unknown)[];
beforeEach(() => {
  cleanUps = [];
});
afterEach(async () => {
  for (const cleanUp of cleanUps.reverse()) await cleanUp();
});

function open(url: string) {
  const opened = bareStore(url, { deadlineMs: 2_000 });
  cleanUps.push(() => opened.store.close());
  return opened.store;
}

describe('over TLS, with credentials', () => {
  const key = readFileSync(path.join(import.meta.dirname, 'tls/test-only.key'));
  const certificate = readFileSync(CERTIFICATE);
  const trusted = `tlsCAFile=${encodeURIComponent(CERTIFICATE)}`;

  async function secured() {
    const server = await startEventStoreServer({ tls: { key, certificate } });
    cleanUps.push(() => server.stop());
    server.weather.credentials = 'ledgerline:s3cret';
    return (user: string, more = `&${trusted}`) => open(`esdb://${user}127.0.0.1:${server.port}?tls=true${more}`);
  }

  test('everything of the connection string is used', async () => {
    const store = (await secured())('ledgerline:s3cret@');
    const stream = fresh();
    expect(await store.append([append(stream, -1, 2)])).toMatchObject([{ outcome: 'appended' }]);
    expect((await store.readStream(stream, -1)).map((one) => one.revision)).toEqual([0, 1]);
  });

  test('wrong credentials, or none, are refused and not tried again', async () => {
    const connect = await secured();
    for (const user of ['ledgerline:guessed@', '']) {
      await expect(connect(user).append([append(fresh(), -1)])).rejects.toMatchObject({
        cause: { type: 'access-denied' },
      });
      await expect(connect(user).head()).rejects.toMatchObject({ type: 'access-denied' });
    }
  });

  test('a server whose certificate nobody vouches for is not spoken to', async () => {
    const store = (await secured())('ledgerline:s3cret@', '');
    await expect(store.append([append(fresh(), -1)])).rejects.toThrow('unknown');
  });

  test('an address is no name that is told to the server, and its certificate is held against it', async () => {
    const names: unknown[] = [];
    const server = createServer({ key, cert: certificate, ALPNProtocols: ['h2'] }, (socket) => {
      names.push((socket as { servername?: string | false }).servername);
      socket.destroy();
    });
    cleanUps.push(() => server.close());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    await expect(open(`esdb://127.0.0.1:${port}?tls=true&${trusted}`).head()).rejects.toThrow();
    expect(new Set(names)).toEqual(new Set([false]));
    await expect(open(`esdb://0.0.0.0:${port}?tls=true&${trusted}`).head()).rejects.toThrow(
      "IP: 0.0.0.0 is not in the cert's list: 127.0.0.1",
    );
  });
});

describe('a server of its own', () => {
  async function start(file: string, port = 0): Promise<{ child: ChildProcess; url: string; port: number }> {
    const program = path.join(ROOT, 'test/eventstoredb/main.ts');
    const args = ['--import', path.join(ROOT, 'test/ts-loader.mjs'), program, '--port', String(port), '--data', file];
    const child = spawn(process.execPath, args, {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, NODE_OPTIONS: '' },
    });
    cleanUps.push(() => child.kill('SIGKILL'));
    const [line] = await once(child.stdout as NodeJS.ReadableStream, 'data');
    return { child, ...JSON.parse(String(line)) };
  }

  test('that is killed and started again on its port has everything that was acknowledged', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'ledgerline-esdb-'));
    cleanUps.push(() => rm(folder, { recursive: true, force: true }));
    const first = await start(path.join(folder, 'log'));
    const { store } = bareStore(first.url);
    cleanUps.push(() => store.close());
    const streams = Array.from({ length: 20 }, fresh);
    await Promise.all(streams.map((stream) => store.append([append(stream, -1, 2)])));
    first.child.kill('SIGKILL');
    await once(first.child, 'exit');
    const writing = Promise.all(streams.map((stream) => store.append([append(stream, 1)])));
    await start(path.join(folder, 'log'), first.port);
    expect((await writing).flat().map((one) => one.outcome)).toEqual(streams.map(() => 'appended'));
    const revisions = async (stream: string) => (await store.readStream(stream, -1)).map((one) => one.revision);
    expect(await Promise.all(streams.map(revisions))).toEqual(streams.map(() => [0, 1, 2]));
  });
});
