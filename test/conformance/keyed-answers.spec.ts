import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { PostgresKeyedAnswers } from '../../libs/adapters/postgres/keyed-answers.ts';
import { ReservedAnswers } from '../../libs/adapters/postgres/reserved-answers.ts';
import type { KeyedAnswer, KeyedAnswers } from '../../libs/kernel/event-store.port.ts';
import { migrate } from '../../migrations/index.ts';
import { freshDatabase, type TestDatabase } from '../database.ts';

let database: TestDatabase;
let pool: pg.Pool;
beforeAll(async () => {
  database = await freshDatabase();
  await migrate(database.url);
  pool = new pg.Pool({ connectionString: database.url, max: 2 });
});
beforeEach(async () => {
  await pool.query('TRUNCATE keyed_answers, key_reservations');
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});

const answer = (key: string, body = '{"id":"x"}'): KeyedAnswer => ({ key, bodyHash: `of ${key}`, status: 201, body });

/** How the answers of keyed requests are kept beside each kind of event store. */
const kinds: [string, (on: pg.Pool) => KeyedAnswers][] = [
  ['written with the commit', (on) => new PostgresKeyedAnswers(on)],
  ['reserved before it', (on) => new ReservedAnswers(on, () => 0)],
];

describe.each(kinds)('keyed answers %s', (_, make) => {
  test('an answer is found as it was remembered, and the first one stays', async () => {
    const answers = make(pool);
    expect(await answers.find('k1')).toBeUndefined();
    const isFirst = await answers.remember(answer('k1', '"first \u2028 \\u0000"'));
    expect([isFirst, await answers.remember({ ...answer('k1', '"second"'), status: 200 })]).toEqual([true, false]);
    expect(await answers.find('k1')).toEqual(answer('k1', '"first \u2028 \\u0000"'));
  });

  test('look-ups of the same moment are answered each on its own, more than one query holds too', async () => {
    const answers = make(pool);
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
    const answers = make(flaky as unknown as pg.Pool);
    const failed = await Promise.allSettled([answers.find('a'), answers.find('b')]);
    expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    isDown = false;
    expect(await answers.find('a')).toBeUndefined();
  });

  test('answers are forgotten after the retention, which is never less than a day', async () => {
    const answers = make(pool);
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
});

describe('a reservation', () => {
  let reached: number;
  let answers: ReservedAnswers;
  beforeEach(() => {
    reached = 100;
    answers = new ReservedAnswers(pool, () => reached);
  });
  const placed = (key: string, body?: string) => ({ ...answer(key, body), stream: 'thing-1', position: 7 });

  test('is the first one once; whoever comes later is told where the log stood then', async () => {
    expect(await answers.reserve('k', 'body')).toEqual({ state: 'first' });
    reached = 200;
    const elsewhere = new ReservedAnswers(pool, () => 300);
    for (const one of [answers, elsewhere]) {
      expect(await one.reserve('k', 'other body')).toEqual({ state: 'begun', bodyHash: 'body', since: 100 });
    }
    expect(await answers.reserve('k2', 'body')).toEqual({ state: 'first' });
  });

  test('that is refused may come with another body, and still looks from where the first one began', async () => {
    await answers.reserve('k', 'body');
    await answers.release('k');
    reached = 200;
    expect(await answers.reserve('k', 'other body')).toEqual({ state: 'begun', bodyHash: 'other body', since: 100 });
    expect(await answers.reserve('k', 'third')).toEqual({ state: 'begun', bodyHash: 'other body', since: 100 });
  });

  test('of an answered key is its answer, whether it was reserved or not', async () => {
    await answers.reserve('k', 'of k');
    expect(await answers.record([placed('k'), placed('never reserved')])).toEqual(new Set());
    for (const key of ['k', 'never reserved']) {
      expect(await answers.reserve(key, 'of k')).toEqual({ state: 'answered', answer: answer(key) });
    }
  });

  test('answers are recorded once, and those that others have recorded are told', async () => {
    await answers.record([placed('a', '"first"')]);
    expect(await answers.taken(['a', 'b'])).toEqual(new Set(['a']));
    expect(await answers.record([placed('a', '"second"'), placed('b')])).toEqual(new Set(['a']));
    expect([await answers.find('a'), await answers.find('b')]).toEqual([answer('a', '"first"'), answer('b')]);
    const { rows } = await pool.query(`SELECT stream, position::int FROM keyed_answers WHERE key = 'b'`);
    expect(rows).toEqual([{ stream: 'thing-1', position: 7 }]);
  });

  test('many of the same moment, several of one key among them, are each told what they are', async () => {
    const keys = Array.from({ length: 1_200 }, (_, i) => `k${i % 1_000}`);
    const found = await Promise.all(keys.map((key) => answers.reserve(key, 'body')));
    const firsts = Array.from({ length: 1_000 }, () => 'first');
    expect(found.map(({ state }) => state)).toEqual([...firsts, ...Array.from({ length: 200 }, () => 'begun')]);
  });

  test('of two processes at the same moment is the first one for one of them', async () => {
    const elsewhere = new ReservedAnswers(pool, () => 50);
    for (let i = 0; i < 20; i += 1) {
      const both = await Promise.all([answers.reserve(`k${i}`, 'body'), elsewhere.reserve(`k${i}`, 'body')]);
      expect(both.map(({ state }) => state).sort()).toEqual(['begun', 'first']);
    }
  });

  test('is forgotten after the retention', async () => {
    await answers.reserve('old', 'body');
    await answers.reserve('young', 'body');
    await pool.query(`UPDATE key_reservations SET created_at = now() - interval '49 hours' WHERE key = 'old'`);
    await answers.forgetOld();
    const { rows } = await pool.query('SELECT key FROM key_reservations');
    expect(rows).toEqual([{ key: 'young' }]);
  });
});
