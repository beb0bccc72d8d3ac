import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

export interface ProgramOptions {
  dataDir: string;
  port: number;
  /** Further variables of the configuration. */
  env?: Record<string, string>;
  /** Arguments for Node itself. */
  nodeArgs?: readonly string[];
  /** HTTP Basic credentials to ask for the first answer with; absent: readiness is asked. */
  authorization?: string;
}

/** The platform as a process of its own, spoken to over HTTP. */
export interface Program {
  pid: number;
  port: number;
  /** From its start to the first answer. */
  startedMs: number;
  /** Resolves when the process is gone, however it ended. */
  ended: Promise<unknown>;
  /** Ends it as Ctrl-C does. */
  stop(): Promise<void>;
  /** `kill -9`: its PostgreSQL goes on. */
  kill(): Promise<void>;
}

const PATIENCE_MS = 180_000;
const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), ...upToRoot());

/** Starts the built program on a data folder, or its sources when this file itself is run from source; waits for its first answer. */
export async function startProgram(options: ProgramOptions): Promise<Program> {
  const { dataDir, port, env, nodeArgs = [], authorization } = options;
  const startMs = performance.now();
  const child = spawn(process.execPath, [...(await flagsOfStart()), ...nodeArgs, ...entry()], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, NODE_OPTIONS: '', DATA_DIR: dataDir, PORT: String(port), LOG_LEVEL: 'error', ...env },
  });
  const ended = once(child, 'exit');
  await firstAnswer(child, port, authorization);
  return {
    pid: child.pid!,
    port,
    startedMs: performance.now() - startMs,
    ended,
    stop: () => end(child, ended, 'SIGINT'),
    kill: () => end(child, ended, 'SIGKILL'),
  };
}

function entry(): string[] {
  if (!import.meta.url.endsWith('.ts'))
    return [fileURLToPath(new URL('../../apps/standalone/main.js', import.meta.url))];
  return ['--import', path.join(root, 'test/ts-loader.mjs'), path.join(root, 'apps/standalone/main.ts')];
}

/** What `npm start` gives to Node. */
async function flagsOfStart(): Promise<string[]> {
  const { scripts } = JSON.parse(await readFile(path.join(root, 'package.json'), 'utf8'));
  return String(scripts.start)
    .split(' ')
    .filter((word) => word.startsWith('--'));
}

/** From `test/bench`, or from `dist/test/bench`. */
function upToRoot(): string[] {
  return import.meta.url.endsWith('.ts') ? ['..', '..'] : ['..', '..', '..'];
}

async function firstAnswer(child: ChildProcess, port: number, authorization: string | undefined): Promise<void> {
  const url = `http://127.0.0.1:${port}${authorization ? '/2025-10-13/transactions?limit=1' : '/readyz'}`;
  const headers: Record<string, string> = authorization ? { authorization } : {};
  for (const giveUpMs = performance.now() + PATIENCE_MS; performance.now() < giveUpMs; await sleep(5)) {
    if (child.exitCode !== null || child.signalCode !== null) throw new Error('the program ended while starting');
    const status = await fetch(url, { headers }).then(
      async (response) => {
        await response.arrayBuffer();
        return response.status;
      },
      () => 0,
    );
    if (status === 200) return;
  }
  child.kill('SIGKILL');
  throw new Error(`the program did not answer within ${PATIENCE_MS / 1_000} s`);
}

async function end(child: ChildProcess, ended: Promise<unknown>, signal: 'SIGINT' | 'SIGKILL'): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) child.kill(signal);
  await ended;
}

const given = new Set<number>();

/** A port that nobody listens on now, and that was not given to anybody here before: who asked for it may not listen on it yet. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  if (given.has(port)) return freePort();
  given.add(port);
  return port;
}

/** The process number of the embedded PostgreSQL of a data folder; undefined when none is running. */
export async function postgresPid(dataDir: string): Promise<number | undefined> {
  const text = await readFile(path.join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').catch(() => '');
  return Math.abs(Number(text.split('\n')[0])) || undefined;
}

export const basic = (credentials: { clientId: string; clientSecret: string }): string =>
  `Basic ${Buffer.from(`${credentials.clientId}:${credentials.clientSecret}`).toString('base64')}`;
