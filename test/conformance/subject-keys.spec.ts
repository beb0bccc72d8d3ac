import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { MemorySubjectKeys } from '../../libs/adapters/memory/subject-keys.ts';
import { PostgresSubjectKeys } from '../../libs/adapters/postgres/subject-keys.ts';
import type { SubjectKeys } from '../../libs/kernel/subject-keys.port.ts';
import { migrate } from '../../migrations/index.ts';
import { freshDatabase, type TestDatabase } from '../database.ts';

let database: TestDatabase;
let pool: pg.Pool;
const masterKey = randomBytes(32);
beforeAll(async () => {
  database = await freshDatabase();
  await migrate(database.url);
  pool = new pg.Pool({ connectionString: database.url, max: 5 });
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});

const adapters: Record<string, () => SubjectKeys> = {
  memory: () => new MemorySubjectKeys(),
  postgres: () => new PostgresSubjectKeys(pool, masterKey),
};

/** One suite for every adapter of the port (architecture §6, personal data). */
describe.each(Object.entries(adapters))('subject keys: %s', (_, open) => {
  test('a key is made once and found again', async () => {
    const keys = open();
    const [one, other] = [randomUUID(), randomUUID()];
    expect((await keys.find([one])).size).toBe(0);
    const made = await keys.ensure([one, other, one]);
    expect([...made.keys()].sort()).toEqual([one, other].sort());
    expect(made.get(one)).toHaveLength(32);
    expect(made.get(one)!.equals(made.get(other)!)).toBe(false);
    expect(await keys.ensure([one])).toEqual(new Map([[one, made.get(one)]]));
    expect(await keys.find([one, randomUUID()])).toEqual(new Map([[one, made.get(one)]]));
  });

  test('asked for at the same moment, it is one key', async () => {
    const keys = open();
    const subject = randomUUID();
    const made = await Promise.all(Array.from({ length: 8 }, () => keys.ensure([subject])));
    expect(new Set(made.map((map) => map.get(subject)!.toString('hex'))).size).toBe(1);
  });

  test('a destroyed key is gone for good, also one that was never made', async () => {
    const keys = open();
    const [used, unused] = [randomUUID(), randomUUID()];
    await keys.ensure([used]);
    for (const subject of [used, unused]) {
      await keys.destroy(subject);
      await keys.destroy(subject);
      expect((await keys.find([subject])).size).toBe(0);
      expect((await keys.ensure([subject])).size).toBe(0);
    }
  });
});

test('in Postgres keys are wrapped: bound to the master key and to the subject', async () => {
  const [one, other] = [randomUUID(), randomUUID()];
  const made = await new PostgresSubjectKeys(pool, masterKey).ensure([one, other]);
  const { rows } = await pool.query<{ wrapped: Buffer }>('SELECT wrapped FROM subject_keys WHERE subject = $1', [one]);
  expect(rows[0]!.wrapped.includes(made.get(one)!)).toBe(false);
  await expect(new PostgresSubjectKeys(pool, randomBytes(32)).find([one])).rejects.toThrow();
  await pool.query(
    'UPDATE subject_keys SET wrapped = (SELECT wrapped FROM subject_keys WHERE subject = $1) WHERE subject = $2',
    [one, other],
  );
  await expect(new PostgresSubjectKeys(pool, masterKey).find([other])).rejects.toThrow();
});

test('a key made or destroyed by one process is so for another', async () => {
  const subject = randomUUID();
  const [here, there] = [new PostgresSubjectKeys(pool, masterKey), new PostgresSubjectKeys(pool, masterKey)];
  const [mine, theirs] = await Promise.all([here.ensure([subject]), there.ensure([subject])]);
  expect(mine.get(subject)).toEqual(theirs.get(subject));
  await here.destroy(subject);
  expect((await new PostgresSubjectKeys(pool, masterKey).find([subject])).size).toBe(0);
});
