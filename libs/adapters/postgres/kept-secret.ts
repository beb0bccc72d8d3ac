import { randomBytes } from 'node:crypto';
import { link, open, readFile, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { GIVE_IT, makeFolder, requireUsable } from './data-folder.ts';

/** The folder of the secrets that belong to a DATA_DIR; a backup is worthless without it. */
export const keysFolder = (dataDir: string): string => path.join(dataDir, 'keys');

/** The text of a kept secret; undefined when there is none yet. */
export async function readSecret(file: string): Promise<string | undefined> {
  try {
    return (await readFile(file, 'utf8')).trim();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    throw code === 'EACCES' ? new Error(`${file} cannot be read. ${GIVE_IT}`) : error;
  }
}

/**
 * The text of the file, which is made by `generate` the first time and readable for its owner only. Of two processes that
 * start at once both get the same text, and a crash leaves the whole file or none.
 */
export async function keptSecret(file: string, generate: () => string): Promise<string> {
  const kept = await readSecret(file);
  if (kept !== undefined) return kept;
  const folder = path.dirname(file);
  await makeFolder(folder, 0o700).catch((error: Error) => {
    throw new Error(`${folder} cannot be made: ${error.message}`);
  });
  await requireUsable(folder);
  const fresh = `${file}.new-${randomBytes(4).toString('hex')}`;
  const handle = await open(fresh, 'wx', 0o600);
  try {
    await handle.writeFile(`${generate()}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
  try {
    await link(fresh, file);
    await rm(fresh);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') await rm(fresh);
    else await rename(fresh, file);
  }
  await syncFolder(folder);
  return (await readSecret(file)) as string;
}

/** Makes a new name in the folder survive a power failure; systems that cannot sync a folder do without. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r').catch(() => undefined);
  await handle?.sync().catch(() => {});
  await handle?.close();
}
