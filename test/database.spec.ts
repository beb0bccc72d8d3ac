import { expect, test } from '@jest/globals';
import pg from 'pg';
import { freshDatabase } from './database.ts';

test('each database is empty, apart from the others, and can be dropped while in use', async () => {
  const [one, other] = await Promise.all([freshDatabase(), freshDatabase()]);
  expect(one.url).not.toBe(other.url);
  const client = new pg.Client({ connectionString: one.url });
  client.on('error', () => {});
  await client.connect();
  const tables = await client.query(`SELECT count(*)::int AS n FROM pg_tables WHERE schemaname = 'public'`);
  expect(tables.rows).toEqual([{ n: 0 }]);
  await Promise.all([one.drop(), other.drop()]);
  await expect(client.query('SELECT 1')).rejects.toThrow();
  await expect(new pg.Client({ connectionString: other.url }).connect()).rejects.toMatchObject({ code: '3D000' });
});
