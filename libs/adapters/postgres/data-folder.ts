import { access, constants, mkdir, stat } from 'node:fs/promises';
import path from 'node:path';

/** What to do about a folder that cannot be used. */
export const GIVE_IT = 'Give it to the user that runs the platform.';

/** Whether this process may enter a folder, read it and write to it; undefined: there is none. */
export async function isUsable(folder: string): Promise<boolean | undefined> {
  try {
    await access(folder, constants.R_OK | constants.W_OK | constants.X_OK);
    return true;
  } catch (error) {
    return isMissing(error) ? undefined : false;
  }
}

/** Refuses a folder that is there and cannot be used. */
export async function requireUsable(folder: string): Promise<void> {
  if ((await isUsable(folder)) === false) throw new Error(`${folder} cannot be written. ${GIVE_IT}`);
}

/**
 * Makes a folder with those above it, from the nearest one that is there on, so that the first one that cannot be made is told: Node's own
 * recursive mkdir tries for ever below /proc.
 */
export async function makeFolder(folder: string, mode = 0o777): Promise<void> {
  const found = await stat(folder).catch((error) => {
    if (!isMissing(error)) throw error;
  });
  if (found?.isDirectory()) return;
  if (!found) await makeFolder(path.dirname(folder), mode);
  await mkdir(folder, { mode }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST' || found) throw error; // another process was faster
  });
}

const isMissing = (error: unknown): boolean =>
  ['ENOENT', 'ENOTDIR'].includes(String((error as NodeJS.ErrnoException).code));
