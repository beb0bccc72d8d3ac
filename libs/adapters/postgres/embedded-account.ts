import { execFile } from 'node:child_process';
import { chown, lchown, readdir, stat } from 'node:fs/promises';
import { platform } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The system account that PostgreSQL runs under; empty: the one of this process. */
export interface Account {
  uid?: number;
  gid?: number;
}

/** What PostgreSQL's programs see: nothing of the user's own PG* variables and language. Windows programs need the system's. */
export const childEnvironment = (): Record<string, string> | undefined =>
  platform() === 'win32' ? undefined : { PATH: '/usr/local/bin:/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' };

/**
 * PostgreSQL refuses to run as root. For root it is the owner of the existing cluster, else the system's `postgres` account
 * (made when there is none), else `nobody`. A cluster that came back from a backup as root's is handed over.
 */
export async function accountFor(cluster: string): Promise<Account> {
  if (process.getuid?.() !== 0) return {};
  const existing = await stat(cluster).catch(() => undefined);
  if (existing && existing.uid !== 0) return { uid: existing.uid, gid: existing.gid };
  const account = (await lookUp('postgres')) ?? (await createPostgresAccount()) ?? (await lookUp('nobody'));
  if (!account) {
    throw new Error(
      'PostgreSQL does not run as root, and this system has neither a `postgres` nor a `nobody` account. ' +
        'Start as another user, or set DATABASE_URL.',
    );
  }
  if (existing) await handOver(cluster, account);
  return account;
}

/** Gives a file or a whole folder to the account. */
export async function handOver(file: string, { uid, gid }: Account): Promise<void> {
  if (uid === undefined || gid === undefined) return;
  const found = await stat(file);
  await chown(file, uid, gid);
  if (!found.isDirectory()) return;
  for (const entry of await readdir(file, { withFileTypes: true })) {
    const inner = path.join(file, entry.name);
    if (entry.isDirectory()) await handOver(inner, { uid, gid });
    else await lchown(inner, uid, gid);
  }
}

async function lookUp(name: string): Promise<Account | undefined> {
  try {
    const [uid, gid] = await Promise.all([run('id', ['-u', name]), run('id', ['-g', name])]);
    return { uid: Number(uid.stdout), gid: Number(gid.stdout) };
  } catch {
    return undefined;
  }
}

async function createPostgresAccount(): Promise<Account | undefined> {
  await run('useradd', [
    '--system',
    '--user-group',
    '--no-create-home',
    '--shell',
    '/usr/sbin/nologin',
    'postgres',
  ]).catch(() => undefined);
  return lookUp('postgres');
}
