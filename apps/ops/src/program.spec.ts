import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { someActivity } from '../../../test/activity.ts';
import { freshDatabase, type TestDatabase } from '../../../test/database.ts';
import { eventually } from '../../../test/eventually.ts';
import { startTestPlatform, type TestPlatform } from '../../../test/platform.ts';
import { opsOn } from './ops.examples.ts';

const PATIENCE_MS = 240_000;
const masterKey = Buffer.alloc(32, 9);
const root = fileURLToPath(new URL('../../..', import.meta.url));

let platform: TestPlatform;
let empty: TestDatabase;
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'ledgerline-ops-'));
  platform = await startTestPlatform({ masterKey });
  await someActivity(platform);
  empty = await freshDatabase();
}, PATIENCE_MS);
afterAll(async () => {
  await platform.stop();
  await empty.drop();
  rmSync(folder, { recursive: true });
});

/** The program itself, as a process of its own. */
function program(args: readonly string[], databaseUrl = platform.engine.url): ChildProcess {
  const loader = ['--no-warnings', '--import', './test/ts-loader.mjs', 'apps/ops/main.ts'];
  const { NODE_OPTIONS: _, ...env } = process.env;
  const child = spawn(process.execPath, [...loader, ...args], {
    cwd: root,
    env: { ...env, DATABASE_URL: databaseUrl, MASTER_KEY: masterKey.toString('hex'), DATA_DIR: folder },
  });
  child.stdin.on('error', () => {}); // it has ended before it read everything
  return child;
}

async function ended(child: ChildProcess): Promise<{ code: number | null; out: string; err: string }> {
  const said = { out: '', err: '' };
  child.stdout!.on('data', (chunk) => (said.out += chunk));
  child.stderr!.on('data', (chunk) => (said.err += chunk));
  const [code] = await once(child, 'close');
  return { code, ...said };
}

const { ops } = opsOn(() => platform);

test(
  'ends with 0, 1 or 2, and everything it said has arrived',
  async () => {
    const whole = await ended(program(['export']));
    expect([whole.code, whole.err]).toEqual([0, '']);
    expect(whole.out).toBe((await ops('export')).out);
    expect(await ended(program(['verify', '--loud']))).toMatchObject({
      code: 2,
      out: '',
      err: expect.stringMatching(/--loud/),
    });
    const nowhere = await ended(program(['verify'], 'postgres://u:secret@127.0.0.1:1/x'));
    expect(nowhere).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringMatching(/^The PostgreSQL of DATABASE_URL cannot/),
    });
    expect(nowhere.err).not.toContain('secret');
  },
  PATIENCE_MS,
);

test(
  'stops without a word when nobody reads on',
  async () => {
    const child = program(['export']);
    child.stdout!.destroy();
    const said: Buffer[] = [];
    child.stderr!.on('data', (chunk) => said.push(chunk));
    const [code] = await once(child, 'close');
    expect([code, Buffer.concat(said).toString()]).toEqual([1, '']);
  },
  PATIENCE_MS,
);

test(
  'Ctrl-C ends it with 130, and what it was doing goes on the next time',
  async () => {
    const { out: whole } = await ops('export');
    const lines = whole.trimEnd().split('\n');
    const child = program(['import', '-', '--without-keys'], empty.url);
    child.stdin!.write(`${lines.slice(0, -4).join('\n')}\n`);
    await eventually(
      async () => hasBegun(empty.url),
      (isThere) => isThere,
      PATIENCE_MS,
    );
    child.kill('SIGINT');
    child.stdin!.write(`${lines.slice(-4, -2).join('\n')}\n`);
    expect(await ended(child)).toMatchObject({ code: 130, out: '' });
    const resumed = program(['import', '-', '--resume', '--without-keys', '--json'], empty.url);
    resumed.stdin!.end(whole);
    const { code, out } = await ended(resumed);
    expect([code, JSON.parse(out).events]).toEqual([0, lines.length - 2]);
  },
  PATIENCE_MS,
);

/** Whether the import has begun to write: it holds webhooks back first. */
async function hasBegun(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query(`SELECT to_regclass('checkpoints') IS NOT NULL AS made`);
    if (!rows[0].made) return false;
    return (await client.query(`SELECT 1 FROM checkpoints WHERE name = 'deliveries'`)).rowCount === 1;
  } finally {
    await client.end();
  }
}
