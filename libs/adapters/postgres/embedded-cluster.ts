import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { access, appendFile, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { platform } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { type Account, childEnvironment, handOver } from './embedded-account.ts';
import type { Programs } from './embedded-programs.ts';

const run = promisify(execFile);

/** The superuser of the cluster and the name of its database. */
export const NAME = 'ledgerline';

/**
 * How PostgreSQL's programs are told the data directory. Started by root they run as an account that may be unable to walk to
 * DATA_DIR (under root's home, say), yet may work in its own folder: they are put there before the account is changed.
 */
export const dataDirectory = (cluster: string, account: Account): string =>
  account.uid !== undefined && platform() === 'linux' ? '/proc/self/cwd' : cluster;

/** Where the cluster of a DATA_DIR lies. */
export const clusterOf = (dataDir: string): string => path.join(dataDir, 'postgres');

export const clusterExists = (cluster: string): Promise<boolean> =>
  access(path.join(cluster, 'PG_VERSION')).then(
    () => true,
    () => false,
  );

const ACCESS_FILE = 'pg_hba.conf';
/** Of the address of a socket, where systems have room for the fewest. */
const SOCKET_PATH_BYTES = 103;

/** The socket of the server that listens on `port`; undefined where it made none, or where its path is longer than an address can be. */
export function socketFolder(cluster: string, port: number): string | undefined {
  const socket = path.join(cluster, `.s.PGSQL.${port}`);
  return Buffer.byteLength(socket) <= SOCKET_PATH_BYTES && existsSync(socket) ? cluster : undefined;
}

/** Clusters that were made before there was a socket let nobody in by it. */
export async function allowSocket(cluster: string): Promise<void> {
  const file = path.join(cluster, ACCESS_FILE);
  if (!/^local\s/m.test(await readFile(file, 'utf8'))) await appendFile(file, 'local all all scram-sha-256\n');
}

/** Makes the cluster with its database and password, beside its place, and moves it there whole: a crash leaves nothing half done. */
export async function createCluster(
  cluster: string,
  programs: Programs,
  account: Account,
  password: string,
  durable: boolean,
) {
  await removeAbandoned(cluster);
  const fresh = `${cluster}.new-${process.pid}-${randomBytes(4).toString('hex')}`;
  await mkdir(fresh, { mode: 0o700 });
  await handOver(fresh, account);
  try {
    await initialise(fresh, programs, account, password, durable);
    await rename(fresh, cluster);
  } catch (error) {
    await rm(fresh, { recursive: true, force: true });
    if (await clusterExists(cluster)) return;
    const said = (error as { stderr?: string }).stderr?.trim() || (error as Error).message;
    throw new Error(`The embedded PostgreSQL could not make its cluster in ${cluster}: ${said}`);
  }
}

async function initialise(folder: string, programs: Programs, account: Account, password: string, durable: boolean) {
  const directory = dataDirectory(folder, account);
  const options = { ...account, cwd: folder, env: childEnvironment() };
  const flags = ['--encoding=UTF8', '--locale=C', '--data-checksums', '--auth=reject', '--no-instructions'];
  if (!durable) flags.push('--no-sync');
  await run(programs.initdb, ['-D', directory, '-U', NAME, ...flags], options);

  const single = run(programs.postgres, ['--single', '-D', directory, 'postgres'], options);
  single.child.stdin?.end(`ALTER ROLE ${NAME} PASSWORD '${password}'\nCREATE DATABASE ${NAME}\n`);
  const { stderr } = await single;
  if (/\b(ERROR|FATAL|PANIC):/.test(stderr)) throw new Error(stderr);

  const access = path.join(folder, ACCESS_FILE);
  await writeFile(access, 'host all all 127.0.0.1/32 scram-sha-256\n');
  await handOver(access, account);
}

async function removeAbandoned(cluster: string): Promise<void> {
  const prefix = `${path.basename(cluster)}.new-`;
  for (const name of await readdir(path.dirname(cluster))) {
    if (!name.startsWith(prefix)) continue;
    const [maker] = name.slice(prefix.length).split('-');
    if (isAlive(Number(maker))) continue;
    await rm(path.join(path.dirname(cluster), name), { recursive: true, force: true });
  }
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** What a running PostgreSQL says about itself in its lock file. */
export interface LockFile {
  pid: number;
  port: number;
  /** `starting`, `ready`, `stopping` */
  status: string;
}

export async function readLockFile(cluster: string): Promise<LockFile | undefined> {
  const text = await readFile(path.join(cluster, 'postmaster.pid'), 'utf8').catch(() => '');
  const lines = text.split('\n');
  const pid = Math.abs(Number(lines[0]));
  if (!pid) return undefined;
  return { pid, port: Number(lines[3]), status: lines[7]?.trim() ?? 'starting' };
}

/** Removes what a server left that has gone, or what came along with a copy of another one's folder: its lock and its sockets. */
export async function removeLockFiles(cluster: string): Promise<void> {
  const sockets = (await readdir(cluster)).filter((name) => name.startsWith('.s.PGSQL.'));
  for (const name of [...sockets, 'postmaster.pid']) await rm(path.join(cluster, name), { force: true });
}
