import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { copyFile, open, readFile, stat, truncate } from 'node:fs/promises';
import { platform } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import { type Account, childEnvironment } from './embedded-account.ts';
import { allowSocket, dataDirectory, isAlive, NAME, readLockFile, removeLockFiles } from './embedded-cluster.ts';
import type { Programs } from './embedded-programs.ts';

/** The name under which a connection asks for the server and owns it. */
export const OWNER_NAME = 'ledgerline-owner';

const LOG_LIMIT_BYTES = 1_000_000;
const ANSWER_TIMEOUT_MS = 2_000;
const PATIENCE_MS = 10_000;

/** A cluster and all it takes to run a server on it. */
export interface Site {
  cluster: string;
  /** Tells a server of this very folder from one of a copied DATA_DIR, and from whatever else got its process number. */
  clusterName: string;
  logFile: string;
  passwordFile: string;
  password: string;
  account: Account;
  programs: Programs;
  durable: boolean;
  /** Most clients at once; one process's worth when absent. */
  connections: number | undefined;
  log: (message: string) => void;
}

export interface Running {
  pid: number;
  port: number;
}

/** A server that ended before it was ready; `reason` says what can be done about it. */
export class LaunchFailure extends Error {
  constructor(
    readonly reason: 'PORT_BUSY' | 'STILL_ENDING' | 'OTHER',
    message: string,
  ) {
    super(message);
  }
}

/** The log stays free of personal data: no statements, no details of rows. */
const SETTINGS: Record<string, string | number> = {
  listen_addresses: '127.0.0.1',
  // In the cluster's folder, which no other account may enter: quicker than TCP.
  unix_socket_directories: platform() === 'win32' ? '' : '.',
  max_connections: 50,
  shared_buffers: '128MB',
  synchronous_commit: 'on',
  full_page_writes: 'on',
  fsync: 'on',
  wal_level: 'minimal',
  max_wal_senders: 0,
  wal_compression: 'on',
  max_wal_size: '2GB',
  checkpoint_completion_target: 0.9,
  jit: 'off',
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_checkpoints: 'off',
  log_error_verbosity: 'terse',
  log_min_error_statement: 'panic',
};

/** For tests, whose data nobody misses: no waiting for the disk, room for many connections. */
const THROWAWAY = { synchronous_commit: 'off', full_page_writes: 'off', fsync: 'off', max_connections: 200 };

export function connect(site: Site, port: number): pg.Client {
  return new pg.Client({
    host: '127.0.0.1',
    port,
    user: NAME,
    database: NAME,
    password: site.password,
    application_name: OWNER_NAME,
    connectionTimeoutMillis: ANSWER_TIMEOUT_MS,
    query_timeout: PATIENCE_MS,
  });
}

/**
 * The server that runs on this cluster already, left over by a killed process or shared with a living one; undefined when there
 * is none. One that is starting is awaited; one that does not answer is ended.
 */
export async function findRunning(site: Site): Promise<Running | undefined> {
  const deadline = Date.now() + PATIENCE_MS;
  for (;;) {
    const found = await readLockFile(site.cluster);
    if (!found) return undefined;
    if (!(await isServer(site, found.pid))) {
      if (isAlive(found.pid)) await removeLockFiles(site.cluster);
      return undefined;
    }
    const answer = found.status === 'ready' ? await ask(site, found.port) : 'WAIT';
    if (answer === 'OURS') return { pid: found.pid, port: found.port };
    if (answer === 'OTHER_CLUSTER') {
      await removeLockFiles(site.cluster);
      return undefined;
    }
    if (found.status !== 'starting' && Date.now() > deadline) {
      site.log(`the PostgreSQL left running (process ${found.pid}) does not answer: ending it`);
      await shutDown(site, found.pid);
    }
    await sleep(50);
  }
}

async function ask(site: Site, port: number): Promise<'OURS' | 'OTHER_CLUSTER' | 'WAIT'> {
  const client = connect(site, port);
  client.on('error', () => {});
  try {
    await client.connect();
    const { rows } = await client.query(`SELECT current_setting('cluster_name') AS name`);
    return rows[0]?.name === site.clusterName ? 'OURS' : 'OTHER_CLUSTER';
  } catch (error) {
    if ((error as { code?: string }).code !== '28P01') return 'WAIT';
    throw new Error(
      `The PostgreSQL running on ${site.cluster} does not know the password in ${site.passwordFile}. ` +
        'Bring back the keys folder that belongs to this DATA_DIR.',
    );
  } finally {
    await client.end().catch(() => {});
  }
}

/** True when that process is this cluster's server. Only the command line can be read of a process of another account. */
async function isServer(site: Site, pid: number): Promise<boolean> {
  if (platform() === 'win32') return isAlive(pid);
  const command =
    platform() === 'linux'
      ? readFile(`/proc/${pid}/cmdline`, 'utf8')
      : promisify(execFile)('ps', ['-ww', '-o', 'command=', '-p', String(pid)]).then(({ stdout }) => stdout);
  return (await command.catch(() => '')).includes(`cluster_name=${site.clusterName}`);
}

/**
 * Starts a server and waits until it takes connections, recovery after a crash included. It is detached: a Ctrl-C in the terminal
 * is not for it, and its parent's death leaves it running for the next start to find.
 */
export async function launch(site: Site, port: number): Promise<Running> {
  const more = site.connections ? { max_connections: site.connections } : {};
  const settings = { ...SETTINGS, ...(site.durable ? {} : THROWAWAY), ...more, cluster_name: site.clusterName, port };
  await allowSocket(site.cluster);
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const output = await open(site.logFile, 'a', 0o600);
  const { size } = await output.stat();
  const child = spawn(site.programs.postgres, ['-D', dataDirectory(site.cluster, site.account), ...flags], {
    ...site.account,
    cwd: site.cluster,
    env: childEnvironment(),
    detached: true,
    windowsHide: true,
    stdio: ['ignore', output.fd, output.fd],
  });
  child.unref();
  try {
    await readiness(site, child);
  } catch {
    const said = (await readFile(site.logFile)).subarray(size).toString().trim();
    throw new LaunchFailure(reasonOf(said), said || 'it ended without a word');
  } finally {
    await output.close();
  }
  return { pid: child.pid as number, port };
}

async function readiness(site: Site, child: ChildProcess): Promise<void> {
  let ended = false;
  const end = () => {
    ended = true;
  };
  child.once('exit', end).once('error', end);
  for (let waitedMs = 0; !ended; waitedMs += 10) {
    const found = await readLockFile(site.cluster);
    if (found?.pid === child.pid && found?.status === 'ready') return;
    if (waitedMs > 0 && waitedMs % 5_000 === 0)
      site.log('waiting for PostgreSQL, which recovers what was written last');
    await sleep(10);
  }
  throw new Error('ended');
}

function reasonOf(said: string): LaunchFailure['reason'] {
  if (/Address already in use|could not bind/.test(said)) return 'PORT_BUSY';
  if (/pre-existing shared memory block|lock file "postmaster.pid" already exists/.test(said)) return 'STILL_ENDING';
  return 'OTHER';
}

/** Asks the server to close its connections and end, and waits for it; less politely when it takes longer than half a minute. */
export async function shutDown(site: Site, pid: number): Promise<void> {
  const steps = [
    ['INT', 30_000],
    ['QUIT', 5_000],
    ['KILL', 5_000],
  ] as const;
  for (const [signal, patienceMs] of steps) {
    if (await isServer(site, pid)) interrupt(site, pid, signal);
    for (let waitedMs = 0; waitedMs < patienceMs; waitedMs += 10) {
      if (!(await isServer(site, pid))) return;
      await sleep(10);
    }
  }
  throw new Error(`PostgreSQL (process ${pid}) cannot be ended.`);
}

/** Sends a signal at once, without waiting. Windows knows PostgreSQL's signals through pg_ctl only. */
export function interrupt(site: Site, pid: number, signal: 'INT' | 'QUIT' | 'KILL' = 'INT'): void {
  if (platform() === 'win32') {
    spawnSync(site.programs.pgCtl, ['kill', signal, String(pid)], { windowsHide: true });
  } else if (isAlive(pid)) {
    process.kill(pid, `SIG${signal}`);
  }
}

/** Keeps at most two logs of 1 MB. The server goes on writing to the file it has open, so that one is emptied. */
export async function trimLog(logFile: string): Promise<void> {
  const found = await stat(logFile).catch(() => undefined);
  if (!found || found.size < LOG_LIMIT_BYTES) return;
  await copyFile(logFile, `${logFile}.1`);
  await truncate(logFile);
}
