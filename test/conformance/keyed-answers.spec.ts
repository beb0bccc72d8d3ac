import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { PostgresKeyedAnswers } from '../../libs/adapters/postgres/keyed-answers.ts';
import type { KeyedAnswer } from '../../libs/kernel/event-store.port.ts';
import { migrate } from '../../migrations/index.ts';
import { freshDatabase, type TestDatabase } from '../database.ts';

let database: TestDatabase;
let pool: pg.Pool;
beforeAll(async () => {
  database = await freshDatabase();
  await migrate(database.url);
  pool = new pg.Pool({ connectionString: database.url, max: 2 });
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});

const answer = (key: string, body = '{"id":"x"}'): KeyedAnswer => ({ key, bodyHash: `of ${key}`, status: 201, body });

test('an answer is found as it was remembered, and the first one stays', async () => {
  const answers = new PostgresKeyedAnswers(pool);
  expect(await answers.find('k1')).toBeUndefined();
  const isFirst = await answers.remember(answer('k1', '"first \u2028 \\u0000"'));
  expect([isFirst, await answers.remember({ ...answer('k1', '"second"'), status: 200 })]).toEqual([true, false]);
  expect(await answers.find('k1')).toEqual(answer('k1', '"first \u2028 \\u0000"'));
});

test('look-ups of the same moment are answered each on its own, more than one query holds too', async () => {
  const answers = new PostgresKeyedAnswers(pool);
  await answers.remember(answer('many-7'));
  const keys = Array.from({ length: 1_200 }, (_, i) => `many-${i}`);
  const found = await Promise.all([...keys, 'many-7'].map((key) => answers.find(key)));
  expect(found.flatMap((one, i) => (one ? [i] : []))).toEqual([7, 1_200]);
  expect(found[7]).toEqual(answer('many-7'));
});

test('a look-up that fails says so, and the next one works', async () => {
  let isDown = true;
  const query = pool.query.bind(pool) as (...args: unknown[]) => Promise<unknown>;
  const flaky = {
    query: (...args: unknown[]) => (isDown ? Promise.reject(new Error('down')) : query(...args)),
  };
  const answers = new PostgresKeyedAnswers(flaky as unknown as pg.Pool);
  const failed = await Promise.allSettled([answers.find('a'), answers.find('b')]);
  expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  isDown = false;
  expect(await answers.find('a')).toBeUndefined();
});

test('answers are forgotten after the retention, which is never less than a day', async () => {
  const answers = new PostgresKeyedAnswers(pool);
  await answers.remember(answer('old'));
  await answers.remember(answer('older'));
  await answers.remember(answer('young'));
  await pool.query(`UPDATE keyed_answers SET created_at = now() - interval '25 hours' WHERE key = 'old'`);
  await pool.query(`UPDATE keyed_answers SET created_at = now() - interval '49 hours' WHERE key = 'older'`);
  expect(await answers.forgetOld()).toBe(1);
  expect(await answers.forgetOld(1)).toBe(1);
  expect(await Promise.all(['older', 'old', 'young'].map(async (key) => (await answers.find(key))?.key))).toEqual([
    undefined,
    undefined,
    'young',
  ]);
});
