import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { keptSecret, keysFolder, readSecret } from './kept-secret.ts';

/** The name and secret of the first API token, made at the first start of a sandbox. */
export interface BootstrapCredentials {
  clientId: string;
  clientSecret: string;
}

/**
 * The key that wraps the keys of personal data: the configured one, or `DATA_DIR/keys/master.key`, generated once. Without it
 * stored personal data cannot be read, so a start with events but without the key is refused rather than given a new one.
 * `keep: false`: one that is made is not kept; it is for looking at what holds nothing yet.
 */
export async function loadMasterKey(options: {
  configured?: Buffer | undefined;
  dataDir: string;
  eventsExist: boolean;
  keep?: boolean;
}): Promise<Buffer> {
  const file = path.join(keysFolder(options.dataDir), 'master.key');
  const kept = await readSecret(file);
  if (options.configured) {
    if (options.eventsExist && kept !== undefined && !decode(kept, file).equals(options.configured)) {
      throw new Error(
        `MASTER_KEY differs from ${file}, and events are stored. Take MASTER_KEY away to go on with the key of the file; ` +
          'if MASTER_KEY is the one used so far, move the file elsewhere.',
      );
    }
    return options.configured;
  }
  if (kept === undefined && options.eventsExist) {
    throw new Error(
      `The master key is missing: ${file} does not exist and MASTER_KEY is not set, but events are stored whose personal ` +
        'data it encrypts. Bring the file back from the backup, or set MASTER_KEY to the key used so far.',
    );
  }
  if (kept === undefined && options.keep === false) return randomBytes(32);
  return decode(await keptSecret(file, () => randomBytes(32).toString('base64')), file);
}

function decode(text: string, file: string): Buffer {
  const key = Buffer.from(text, 'base64');
  if (key.length !== 32 || key.toString('base64') !== text) {
    throw new Error(`${file} is damaged: it must hold 32 bytes as base64. Bring it back from the backup.`);
  }
  return key;
}

/** The configured credentials, or those in `DATA_DIR/keys/bootstrap.json`, generated once and kept. */
export async function loadBootstrapCredentials(options: {
  configured?: BootstrapCredentials | undefined;
  dataDir: string;
}): Promise<BootstrapCredentials> {
  if (options.configured) return options.configured;
  const file = path.join(keysFolder(options.dataDir), 'bootstrap.json');
  const text = await keptSecret(file, () =>
    JSON.stringify({ clientId: randomBytes(16).toString('hex'), clientSecret: randomBytes(32).toString('hex') }),
  );
  const { clientId, clientSecret } = readCredentials(text);
  if (typeof clientId !== 'string' || typeof clientSecret !== 'string') {
    throw new Error(`${file} is damaged: it must hold {"clientId": …, "clientSecret": …}. Repair or delete it.`);
  }
  return { clientId, clientSecret };
}

function readCredentials(text: string): { clientId?: unknown; clientSecret?: unknown } {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}
