import { afterEach, beforeEach, expect, test } from '@jest/globals';
import pg from 'pg';
import { migrate, pendingMigrations } from '../migrations/index.ts';
import { freshDatabase, type TestDatabase } from './database.ts';

let database: TestDatabase;
let client: pg.Client;
beforeEach(async () => {
  database = await freshDatabase();
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
});
afterEach(async () => {
  await client.end();
  await database.drop();
});

test('several programs may migrate at once; each migration is made once', async () => {
  const all = await pendingMigrations(database.url);
  const made = await Promise.all([1, 2, 3].map(() => migrate(database.url)));
  expect(made.flat()).toEqual(all);
  expect(await pendingMigrations(database.url)).toEqual([]);
});

test('a program starts on a database that a later version has migrated, as it does during an upgrade and on the way back', async () => {
  await migrate(database.url);
  await client.query(
    `INSERT INTO kysely_migration (name, timestamp) VALUES ('9998_later', '2999-01-01'), ('9999_latest', '2999-01-02')`,
  );
  expect(await migrate(database.url)).toEqual([]);
  expect(await pendingMigrations(database.url)).toEqual([]);
});

test('a migration that was made once and is neither known nor later is an error', async () => {
  await migrate(database.url);
  await client.query(`INSERT INTO kysely_migration (name, timestamp) VALUES ('0003_another', '2000-01-01')`);
  await expect(migrate(database.url)).rejects.toThrow('0003_another is missing');
});
