import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { loadBootstrapCredentials, loadMasterKey } from './master-key.ts';

let dataDir: string;
const inKeys = (name: string) => path.join(dataDir, 'keys', name);

beforeEach(async () => {
  dataDir = await mkdtemp(path.join(tmpdir(), 'ledgerline-keys-'));
});
afterEach(() => rm(dataDir, { recursive: true }));

async function put(name: string, text: string) {
  await mkdir(path.join(dataDir, 'keys'), { recursive: true });
  await writeFile(inKeys(name), text);
}

describe('loadMasterKey', () => {
  test('generates a key once, for its owner only', async () => {
    const first = await loadMasterKey({ dataDir, eventsExist: false });
    const second = await loadMasterKey({ dataDir, eventsExist: true });
    expect(first).toHaveLength(32);
    expect(second).toEqual(first);
    expect((await stat(inKeys('master.key'))).mode & 0o777).toBe(0o600);
    expect((await stat(path.join(dataDir, 'keys'))).mode & 0o777).toBe(0o700);
    expect(await readdir(path.join(dataDir, 'keys'))).toEqual(['master.key']);
  });

  test('of several that start at once all get the same key', async () => {
    const keys = await Promise.all(Array.from({ length: 20 }, () => loadMasterKey({ dataDir, eventsExist: false })));
    expect(new Set(keys.map((key) => key.toString('hex'))).size).toBe(1);
  });

  test('refuses to start without the key that events were encrypted with', async () => {
    await expect(loadMasterKey({ dataDir, eventsExist: true })).rejects.toThrow(
      `The master key is missing: ${inKeys('master.key')} does not exist and MASTER_KEY is not set`,
    );
    expect(await readdir(dataDir)).toEqual([]);
  });

  test('makes one without keeping it where nothing is to be changed', async () => {
    expect(await loadMasterKey({ dataDir, eventsExist: false, keep: false })).toHaveLength(32);
    expect(await readdir(dataDir)).toEqual([]);
  });

  test('takes the configured key and writes nothing', async () => {
    const configured = Buffer.alloc(32, 7);
    expect(await loadMasterKey({ configured, dataDir, eventsExist: true })).toEqual(configured);
    expect(await readdir(dataDir)).toEqual([]);
  });

  test('refuses a configured key that differs from the kept one while events exist', async () => {
    await put('master.key', `${Buffer.alloc(32, 1).toString('base64')}\n`);
    const configured = Buffer.alloc(32, 2);
    await expect(loadMasterKey({ configured, dataDir, eventsExist: true })).rejects.toThrow('MASTER_KEY differs from');
    expect(await loadMasterKey({ configured, dataDir, eventsExist: false })).toEqual(configured);
    const same = Buffer.alloc(32, 1);
    expect(await loadMasterKey({ configured: same, dataDir, eventsExist: true })).toEqual(same);
  });

  test.each(['', 'not a key', Buffer.alloc(31).toString('base64')])('refuses a damaged file: %j', async (text) => {
    await put('master.key', text);
    await expect(loadMasterKey({ dataDir, eventsExist: false })).rejects.toThrow('is damaged');
  });
});

describe('loadBootstrapCredentials', () => {
  test('generates them once, for their owner only', async () => {
    const first = await loadBootstrapCredentials({ dataDir });
    expect(first.clientId).toMatch(/^[0-9a-f]{32}$/);
    expect(first.clientSecret).toMatch(/^[0-9a-f]{64}$/);
    expect(await loadBootstrapCredentials({ dataDir })).toEqual(first);
    expect((await stat(inKeys('bootstrap.json'))).mode & 0o777).toBe(0o600);
  });

  test('takes the configured ones and keeps the generated', async () => {
    const generated = await loadBootstrapCredentials({ dataDir });
    const configured = { clientId: 'configured-client-id', clientSecret: 'configured-secret' };
    expect(await loadBootstrapCredentials({ configured, dataDir })).toEqual(configured);
    expect(JSON.parse(await readFile(inKeys('bootstrap.json'), 'utf8'))).toEqual(generated);
  });

  test.each(['', 'null', '[]', '{"clientId":"only"}', '{'])('refuses a damaged file: %j', async (text) => {
    await put('bootstrap.json', text);
    await expect(loadBootstrapCredentials({ dataDir })).rejects.toThrow('is damaged');
  });
});
