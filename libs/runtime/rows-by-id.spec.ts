import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import pg from 'pg';
import { freshDatabase, type TestDatabase } from '../../test/database.ts';
import type { Tenant } from '../kernel/messages.ts';
import { rowsById } from './rows-by-id.ts';

const ours: Tenant = { platform: 'ours', environment: 'sandbox' };
const theirs: Tenant = { platform: 'theirs', environment: 'sandbox' };

let database: TestDatabase;
let pool: pg.Pool;
/** The ids that each query asked for. */
let asked: string[][];
let rows: ReturnType<typeof rowsById>;
beforeAll(async () => {
  database = await freshDatabase();
  pool = new pg.Pool({ connectionString: database.url, max: 2 });
  await pool.query('CREATE TABLE things (id text PRIMARY KEY, platform text, environment text, state text)');
  await pool.query(
    `INSERT INTO things SELECT 'a-' || n, 'ours', 'sandbox', 'state ' || n FROM generate_series(1, 300) n`,
  );
  await pool.query(
    `INSERT INTO things VALUES ('b', 'theirs', 'sandbox', 'theirs'), ('c', 'ours', 'production', 'real')`,
  );
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});
beforeEach(() => {
  asked = [];
  rows = rowsById((query) => {
    asked.push(query.values[0]!);
    return pool.query(query);
  }, 'things');
});

const load = (id: string, tenant = ours) => rows.load({ id, tenant });

test('those that are wanted at the same moment share a query, and each gets its own', async () => {
  const wanted = [load('a-2'), load('nobody'), load('a-1'), load('a-2'), load('b', theirs)];
  expect(await Promise.all(wanted)).toEqual(['state 2', undefined, 'state 1', 'state 2', 'theirs']);
  expect(asked).toEqual([['a-2', 'nobody', 'a-1', 'a-2', 'b']]);
});

test('a row of another platform or environment is not there', async () => {
  expect(await Promise.all([load('b'), load('a-1', theirs), load('c')])).toEqual([undefined, undefined, undefined]);
});

test('nothing is remembered', async () => {
  expect(await load('a-3')).toBe('state 3');
  await pool.query(`UPDATE things SET state = 'newer' WHERE id = 'a-3'`);
  expect(await load('a-3')).toBe('newer');
  expect(asked).toEqual([['a-3'], ['a-3']]);
});

test('a query has at most 200 of them', async () => {
  const states = await Promise.all(Array.from({ length: 300 }, (_, i) => load(`a-${i + 1}`)));
  expect([states[0], states[299]]).toEqual(['state 1', 'state 300']);
  expect(asked.map(({ length }) => length)).toEqual([200, 100]);
});

test('when the database refuses, all of them hear it', async () => {
  await pool.query('ALTER TABLE things RENAME TO hidden');
  const outcomes = await Promise.allSettled([load('a-1'), load('a-2')]);
  await pool.query('ALTER TABLE hidden RENAME TO things');
  const missing = 'relation "things" does not exist';
  expect(outcomes.map((one) => one.status === 'rejected' && one.reason.message)).toEqual([missing, missing]);
});
