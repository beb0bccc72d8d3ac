import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { loadConfig } from '../../../libs/runtime/config.ts';
import { createLogger } from '../../../libs/runtime/http/index.ts';
import { freePort } from '../../../test/bench/program.ts';
import { freshDatabase, type TestDatabase } from '../../../test/database.ts';
import { openEngine } from '../../shared/engine.ts';
import { createPlatform } from '../../shared/provision.ts';
import { startPlatform } from './platform.ts';

const logger = createLogger({ level: 'silent' });
const tenant = { platform: '0199dd29-0000-7000-8000-000000000001', environment: 'sandbox' } as const;

let database: TestDatabase;
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'ledgerline-start-'));
  database = await freshDatabase();
  const engine = await openEngine({ databaseUrl: database.url, masterKey: randomBytes(32), logger });
  await createPlatform(engine, tenant, { name: 'Acme' });
  await engine.close();
});
afterAll(async () => {
  await database.drop();
  rmSync(folder, { recursive: true });
});

test('a start is refused with another key than the one that the stored data is encrypted with', async () => {
  const config = loadConfig({
    DATABASE_URL: database.url,
    MASTER_KEY: 'f'.repeat(64),
    DATA_DIR: folder,
    PORT: String(await freePort()),
  });
  const started = startPlatform(config, { logger }).then(async ({ stop }) => {
    await stop();
    return 'started';
  });
  await expect(started).rejects.toThrow(
    'MASTER_KEY is not the key that the personal data in this database is encrypted with.',
  );
});
