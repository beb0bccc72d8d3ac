import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { eventually } from '../eventually.ts';

const ROOT = path.join(import.meta.dirname, '../..');
const API = '/2025-10-13';

jest.setTimeout(300_000); // each start is a whole program

const isRoot = process.getuid?.() === 0;
if (isRoot) console.info('skipped: a start in a folder that cannot be written, because root may write anywhere');

let folder: string;
let started: ChildProcess[];

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'ledgerline-standalone-'));
  started = [];
});
afterEach(async () => {
  for (const child of started) await ended(child, 'SIGKILL');
  const pid = Number((await postmaster())[0]);
  if (pid) endServer(pid);
  await eventually(postmaster, (lines) => lines[0] === '');
  await rm(folder, { recursive: true, force: true, maxRetries: 50, retryDelay: 100 }); // a server that is ending still writes
});

function endServer(pid: number): void {
  try {
    process.kill(pid, 'SIGQUIT');
  } catch {} // it has ended by itself since
}

/** Lines of the lock file of the embedded PostgreSQL; one empty line when it does not run. */
const postmaster = async () =>
  (await readFile(path.join(folder, 'postgres/postmaster.pid'), 'utf8').catch(() => '')).split('\n');

interface Started {
  child: ChildProcess;
  output: () => string;
  url: string;
  authorization: string;
  curl: string;
}

/** The program as it is, from its sources, in a process of its own. */
function launch(env: Record<string, string> = {}, ...args: string[]): { child: ChildProcess; output: () => string } {
  const loader = path.join(ROOT, 'test/ts-loader.mjs');
  const program = args.length > 0 ? 'apps/ops/main.ts' : 'apps/standalone/main.ts';
  const child = spawn(process.execPath, ['--import', loader, path.join(ROOT, program), ...args], {
    cwd: ROOT,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, DATA_DIR: folder, PORT: '0', LOG_LEVEL: 'info', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  started.push(child);
  let text = '';
  for (const stream of [child.stdout!, child.stderr!]) {
    stream.on('data', (chunk) => {
      text += chunk;
    });
  }
  return { child, output: () => text };
}

async function start(env: Record<string, string> = {}): Promise<Started> {
  const { child, output } = launch(env);
  await eventually(
    async () => (child.exitCode === null ? output() : `ended: ${output()}`),
    (text) => text.includes('Ctrl-C') || text.startsWith('ended'),
    60_000,
  );
  if (child.exitCode !== null) throw new Error(`the program ended with ${child.exitCode}: ${output()}`);
  const value = (name: string) =>
    new RegExp(`^ *${name} +(.+)$`, 'm').exec(output())?.[1] ?? `no ${name} in ${output()}`;
  const user = `${value('Client id')}:${value('Client secret')}`;
  return {
    child,
    output,
    url: value('API').slice(0, -API.length),
    authorization: `Basic ${Buffer.from(user).toString('base64')}`,
    curl: /^ *(curl .+)$/m.exec(output())![1]!,
  };
}

async function ended(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
  const exit = once(child, 'exit');
  child.kill(signal);
  return (await exit)[0] as number | null;
}

/** What a program that ends by itself ends with, once all that it has written is there. */
const outcome = async ({ child }: Pick<Started, 'child'>) => await once(child, 'close');

interface Answer {
  data: { id: string; totalBalance: { amount: number } }[];
}

async function call({ url, authorization }: Started, method: string, route: string, body?: object) {
  const answer = await fetch(`${url}${API}${route}`, {
    method,
    headers: { authorization, 'Content-Type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  return { status: answer.status, body: (await answer.json()) as Answer };
}

const platformAccount = async (platform: Started): Promise<string> => {
  const { body } = await call(platform, 'GET', '/platform/internal-accounts?currency=USD');
  return body.data[0]!.id;
};
const fund = (platform: Started, id: string, amount: number) =>
  call(platform, 'POST', `/sandbox/internal-accounts/${id}/fund`, { amount });
const total = async (platform: Started): Promise<number> =>
  (await call(platform, 'GET', '/platform/internal-accounts?currency=USD')).body.data[0]!.totalBalance.amount;

describe('npm start', () => {
  test('prints what a newcomer needs, and it works; what was done is there after a stop and after kill -9', async () => {
    const first = await start();
    const curl = spawn('sh', ['-c', `${first.curl} -sS -o /dev/null -w '%{http_code}'`]);
    expect(String((await once(curl.stdout, 'data'))[0])).toBe('200');
    expect((await fetch(`${first.url}/docs`)).status).toBe(200);
    const ready = await fetch(`${first.url}/readyz`);
    expect(ready.headers.get('keep-alive')).toBe('timeout=65');
    expect([ready.status, await ready.json()]).toEqual([
      200,
      { status: 'ok', checks: { database: 'ok', projection: 'ok', processes: 'ok' } },
    ]);
    const metrics = await (await fetch(`${first.url}/metrics`)).text();
    for (const name of ['append_duration_seconds_count', 'append_batch_appends_sum', 'events_appended_total']) {
      expect(Number(new RegExp(`^${name} (.+)$`, 'm').exec(metrics)?.[1])).toBeGreaterThan(0);
    }
    for (const name of [
      'commands_waiting',
      'projection_lag_events',
      'projection_lag_seconds',
      'nodejs_eventloop_lag_seconds',
    ]) {
      expect(metrics).toMatch(new RegExp(`^${name}(\\{[^}]*\\})? [0-9.e-]+$`, 'm'));
    }
    const account = await platformAccount(first);
    expect((await fund(first, account, 700)).status).toBe(200);

    expect(await ended(first.child, 'SIGTERM')).toBe(0);
    expect(await postmaster()).toEqual(['']);

    const second = await start();
    expect(second.authorization).toBe(first.authorization);
    expect(await total(second)).toBe(700);
    expect((await fund(second, account, 70)).status).toBe(200);

    await ended(second.child, 'SIGKILL');
    expect((await postmaster())[0]).not.toBe('');

    const third = await start();
    expect(await total(third)).toBe(770);
    expect(await ended(third.child, 'SIGINT')).toBe(0);
    expect(await postmaster()).toEqual(['']);
  });

  test('answers a request that is under way before it ends', async () => {
    const platform = await start();
    const account = await platformAccount(platform);
    const amounts = Array.from({ length: 36 }, (_, i) => 2 ** i); // each a bit of the sum, none above what may be funded at once
    const answers = amounts.map((amount) => fund(platform, account, amount));
    await Promise.race(answers);
    expect(await ended(platform.child, 'SIGTERM')).toBe(0);
    const settled = await Promise.allSettled(answers); // a request that had not arrived finds the port closed
    const answered = settled.filter((one) => one.status === 'fulfilled').map((one) => one.value);
    expect(answered.filter(({ status }) => status !== 200)).toEqual([]);
    const next = await start();
    const held = BigInt(await total(next));
    const isLost = (amount: number, i: number) => settled[i]!.status === 'fulfilled' && (held & BigInt(amount)) === 0n;
    expect(amounts.filter(isLost)).toEqual([]);
    expect(next.output()).not.toMatch(/"level":"(error|fatal)"/);
  });

  test('is ended at once by a second Ctrl-C, also while a request does not come to its end', async () => {
    const platform = await start();
    const { hostname, port } = new URL(platform.url);
    const socket = connect(Number(port), hostname);
    socket.on('error', () => {});
    const head = ['Host: x', 'Content-Type: application/json', 'Content-Length: 9', 'Expect: 100-continue'];
    socket.write(`POST /2025-10-13/quotes HTTP/1.1\r\n${head.join('\r\n')}\r\n\r\n`);
    expect(String((await once(socket, 'data'))[0])).toContain('100 Continue');
    socket.write('{');
    platform.child.kill('SIGINT');
    platform.child.kill('SIGINT'); // npm hands on what the terminal has sent already: the same Ctrl-C
    await eventually(
      async () => platform.output(),
      (text) => text.includes('once more ends at once'),
    );
    await new Promise((resolve) => setTimeout(resolve, 1_500)); // what comes sooner is the same Ctrl-C, too
    expect(platform.child.exitCode).toBe(null);
    expect(await ended(platform.child, 'SIGINT')).toBe(130);
    await eventually(postmaster, (lines) => lines[0] === '');
    socket.destroy();
  });

  test('ends with 1 after an error that nobody expected, its PostgreSQL with it', async () => {
    const fault = `process.on('SIGUSR2', () => Promise.reject(new Error('nobody expected this')))`;
    const platform = await start({ NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(fault)}` });
    platform.child.kill('SIGUSR2');
    expect(await outcome(platform)).toEqual([1, null]);
    expect(platform.output()).toContain('nobody expected this');
    expect(await postmaster()).toEqual(['']);
  });

  test('on a taken port says which variable to set, and starts nothing', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const { child, output } = launch({ PORT: String(port) });
    expect(await outcome({ child })).toEqual([1, null]);
    expect(output()).toContain(
      `Port ${port} of 127.0.0.1 is taken. Set PORT to a free port, for example: PORT=${port + 1}`,
    );
    expect(await postmaster()).toEqual(['']);
    server.close();
  });

  test('with a wrong configuration lists everything that is wrong', async () => {
    const { child, output } = launch({ PORT: 'x', LOG_LEVEL: 'loud' });
    expect(await outcome({ child })).toEqual([1, null]);
    expect(output()).toContain('PORT must be');
    expect(output()).toContain('LOG_LEVEL must be');
  });

  (isRoot ? test.skip : test)('in a folder that cannot be written says whose it must be, without a stack', async () => {
    await chmod(folder, 0o500);
    const { child, output } = launch();
    expect(await outcome({ child })).toEqual([1, null]);
    expect(output()).toMatch(/\n.+ cannot be written\. Give it to the user that runs the platform\.\n\n$/);
    await chmod(folder, 0o700);
  });

  test('shares its database with the operators’ command line while it runs, and lends it when it does not', async () => {
    const platform = await start();
    await fund(platform, await platformAccount(platform), 5_000);
    const verified = launch({}, 'verify');
    expect(await outcome(verified)).toEqual([0, null]);
    const rebuilt = launch({}, 'rebuild', '--all');
    expect(await outcome(rebuilt)).toEqual([0, null]);
    expect((await fund(platform, await platformAccount(platform), 1)).status).toBe(200);
    expect(await total(platform)).toBe(5_001);
    expect(await ended(platform.child, 'SIGTERM')).toBe(0);

    const alone = launch({}, 'trial-balance', '--json');
    expect(await outcome(alone)).toEqual([0, null]);
    expect(JSON.parse(alone.output()).totals).toEqual({ USD: '0' });
    expect(await postmaster()).toEqual(['']);
  });
});
