import { expect, jest, test } from '@jest/globals';
import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import { freshDatabase } from '../../test/database.ts';
import { eventually } from '../../test/eventually.ts';
import type { Tenant } from '../kernel/messages.ts';
import type { AnyProjection } from '../kernel/projection.ts';
import { ReadModel, type ReadTables } from './read-model.ts';

const readModel = () => new ReadModel({} as pg.Pool, {} as Kysely<ReadTables>);
const tenant = (platform: string): Tenant => ({ platform, environment: 'sandbox' });

test('a platform has to see what was written for it last, whatever the order it is told in', () => {
  const model = readModel();
  expect(model.position(tenant('a'))).toBe(0);
  for (const position of [3, 9, 7]) model.noteWritten(tenant('a'), position);
  expect([model.position(tenant('a')), model.position(tenant('b'))]).toEqual([9, 0]);
});

test('a read waits until the tables have come to its position', async () => {
  const model = readModel();
  const order: string[] = [];
  const reads = [5, 3, 9].map((position) => model.caughtUp(position).then((done) => order.push(`${position} ${done}`)));
  model.noteProjected(2);
  model.noteProjected(5);
  await Promise.all(reads.slice(0, 2));
  expect(order).toEqual(['5 true', '3 true']);
  model.noteProjected(4);
  expect(model.projected).toBe(5);
  model.noteProjected(10);
  await Promise.all(reads);
  expect(order).toEqual(['5 true', '3 true', '9 true']);
  expect(await model.caughtUp(10)).toBe(true);
});

test('where the feed has partitions, a read waits for that of its platform', async () => {
  const partitions = { partitions: 3, partitionOf: (platform: string) => Number(platform) };
  const model = new ReadModel({} as pg.Pool, {} as Kysely<ReadTables>, partitions);
  model.noteProjected(9, 0);
  model.noteProjected(4, 2);
  model.noteProjected(50, 7); // of a feed that this process does not know
  expect(['0', '1', '2'].map((platform) => model.shown(tenant(platform)))).toEqual([9, 0, 4]);
  expect([await model.caughtUp(9, tenant('0')), await model.caughtUp(9)]).toEqual([true, true]);
  let isDone = false;
  const read = model.caughtUp(6, tenant('2')).finally(() => {
    isDone = true;
  });
  model.noteProjected(20, 1);
  await null;
  expect(isDone).toBe(false);
  model.noteProjected(6, 2);
  expect(await read).toBe(true);
});

test('a read that is to see an event of another partition waits until its own shows all there is up to there', async () => {
  const partitions = { partitions: 2, partitionOf: (platform: string) => Number(platform) };
  let isWhole = false;
  const asked: number[][] = [];
  const model = new ReadModel({} as pg.Pool, {} as Kysely<ReadTables>, partitions, 600_000, async (...what) => {
    asked.push(what);
    return isWhole;
  });
  model.noteProjected(40, 1);
  let isDone = false;
  const read = model.caughtUp(40, tenant('0')).finally(() => {
    isDone = true;
  });
  await eventually(
    async () => asked.length,
    (times) => times > 1,
  );
  expect([isDone, asked[0]]).toEqual([false, [0, 40]]);
  isWhole = true;
  expect(await read).toBe(true);
  expect([model.shown(tenant('0')), model.shown(tenant('1'))]).toEqual([40, 40]);
});

test('it waits two seconds at most, and leaves nothing behind', async () => {
  jest.useFakeTimers();
  try {
    const model = readModel();
    const read = model.caughtUp(5);
    jest.advanceTimersByTime(1_999);
    const other = model.caughtUp(6);
    jest.advanceTimersByTime(1);
    expect(await read).toBe(false);
    expect((model as unknown as { waiting: unknown[] }).waiting).toHaveLength(1);
    model.noteProjected(6);
    expect(await other).toBe(true);
    expect((model as unknown as { waiting: unknown[] }).waiting).toEqual([]);
    expect(jest.getTimerCount()).toBe(0);
  } finally {
    jest.useRealTimers();
  }
});

test('a page of the usual length is planned once, not each time', async () => {
  const database = await freshDatabase();
  const pool = new pg.Pool({ connectionString: database.url, max: 1 });
  try {
    await pool.query(
      'CREATE TABLE things (id text, platform text, environment text, state text, created_at timestamptz)',
    );
    await pool.query(
      `INSERT INTO things SELECT n, 'ours', 'sandbox', '{}', now() - n * interval '1 s' FROM generate_series(1, 5000) n`,
    );
    await pool.query('CREATE INDEX ON things (platform, environment, created_at DESC, id DESC)');
    await pool.query('ANALYZE things');
    const db = new Kysely<ReadTables>({ dialect: new PostgresDialect({ pool }) });
    const model = new ReadModel(pool, db);
    const read = (limit: number) =>
      model.page(
        { name: 'things' } as AnyProjection,
        tenant('ours'),
        { limit },
        (rows) => rows,
        () => 'shown',
      );
    for (let i = 0; i < 7; i += 1) expect((await read(20)).data).toHaveLength(20);
    const { rows } = await pool.query(
      `SELECT generic_plans, custom_plans FROM pg_prepared_statements WHERE statement LIKE '%"created_at" desc%'`,
    );
    expect(rows).toEqual([{ generic_plans: '2', custom_plans: '5' }]);
    expect((await read(33)).data).toHaveLength(33);
  } finally {
    await pool.end();
    await database.drop();
  }
});
