import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import type { AnyProjection } from '../../../libs/kernel/projection.ts';
import { freshDatabase, type TestDatabase } from '../../../test/database.ts';
import { prepareSession, ReadTable } from './tables.ts';

let database: TestDatabase;
let client: pg.Client;
beforeAll(async () => {
  database = await freshDatabase();
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
});
afterAll(async () => {
  await client.end();
  await database.drop();
});

/** How often the table was gone through, as this transaction knows it. */
async function scans(): Promise<number> {
  const { rows } = await client.query(`SELECT seq_scan FROM pg_stat_xact_user_tables WHERE relname = 'things'`);
  return Number(rows[0].seq_scan);
}

const things = { name: 'things', columns: { amount: 'bigint' }, indexes: [] } as unknown as AnyProjection;
const row = (n: number) => ({ id: `thing-${n}`, amount: BigInt(n) });
const rowsFrom = (from: number, to: number) => Array.from({ length: to - from }, (_, n) => row(from + n));

test('rows are read by their ids, never by going through the table, whatever it was like when the plan was made', async () => {
  const table = new ReadTable(things);
  await table.create(client);
  await client.query('ALTER TABLE things SET (autovacuum_enabled = off)');
  await prepareSession(client);
  await table.write(client, rowsFrom(0, 10));
  await client.query('ANALYZE things');
  for (let time = 0; time < 10; time += 1) await table.read(client, ['thing-1']);
  await table.write(client, rowsFrom(10, 2_000));
  await client.query('BEGIN');
  const before = await scans();
  const found = await table.read(client, ['thing-7', 'thing-1999', 'nothing']);
  const scanned = (await scans()) - before;
  await client.query('COMMIT');
  expect(found.sort((a, b) => ((a.amount as bigint) < (b.amount as bigint) ? -1 : 1))).toEqual([row(7), row(1_999)]);
  expect(scanned).toBe(0);
});

test('rows that are added are the same as rows that are written', async () => {
  const columns = { note: 'text', count: 'int', is_so: 'boolean', at: 'timestamptz', tags: 'text[]', state: 'state' };
  const all = { name: 'kinds', columns: { ...columns, amount: 'bigint' }, indexes: [] } as unknown as AnyProjection;
  const special = 'a\tb\nc\rd\\e"f\'g{h,i}\\.\\N';
  const rows = [
    { id: 'none', state: {} },
    { id: 'empty', note: '', count: 0, is_so: false, tags: [], state: {}, amount: 0n },
    { id: special, note: special, tags: [special, '', 'NULL'], state: { text: special, amountMinor: -5n } },
    {
      id: 'full',
      note: 'é €',
      count: -3,
      is_so: true,
      at: '2026-02-28T23:59:59.999Z',
      tags: ['x'],
      state: {},
      amount: 9_007_199_254_740_993n,
    },
  ];
  const [written, added] = [new ReadTable(all, 'written'), new ReadTable(all, 'added')];
  for (const table of [written, added]) await table.create(client);
  await written.write(client, rows);
  await added.add(client, rows);
  const ids = rows.map(({ id }) => id);
  const found = async (table: ReadTable) => (await table.read(client, ids)).map((one) => [one.id, one]);
  expect(Object.fromEntries(await found(added))).toEqual(Object.fromEntries(await found(written)));
  expect(await found(added)).toHaveLength(4);
  await expect(added.add(client, [{ id: 'another', state: {} }, rows[3]!])).rejects.toMatchObject({ code: '23505' });
  expect(await found(added)).toHaveLength(4);
  expect(await added.read(client, ['another'])).toEqual([]);
});
