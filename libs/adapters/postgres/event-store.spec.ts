import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { migrate } from '../../../migrations/index.ts';
import { freshDatabase, type TestDatabase } from '../../../test/database.ts';
import { eventually } from '../../../test/eventually.ts';
import { envelope, OpenPurse, type Purse, PutIn, purse, writePathOn } from '../../runtime/execute.examples.ts';
import { PostgresEventStore } from './event-store.ts';

let database: TestDatabase;
let pool: pg.Pool;
beforeAll(async () => {
  database = await freshDatabase();
  await migrate(database.url);
  pool = new pg.Pool({ connectionString: database.url, max: 5 });
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});

const append = (stream: string) => ({
  stream,
  expectedRevision: -1,
  events: [{ id: randomUUID(), type: 'Happened', payload: '{}', metadata: '{}' }],
  answers: [],
});

test('connections that are cut in the middle of flushes lose, double and reorder nothing', async () => {
  const store = new PostgresEventStore(database.url, pool);
  const { path, logged } = writePathOn(store);
  const purseId = randomUUID();
  await path.execute(purse, new OpenPurse({ purseId, limit: 0 }), envelope());
  let isOver = false;
  const cutting = (async () => {
    while (!isOver) {
      await pool.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'ledgerline-writer' AND datname = current_database()`,
      );
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
  })();
  for (let coin = 1; coin <= 1_000; coin += 5) {
    const sent = Array.from({ length: 5 }, (_, i) =>
      path.execute(purse, new PutIn({ purseId, coin: coin + i }), envelope()),
    );
    await Promise.all(sent);
  }
  isOver = true;
  await cutting;
  const { state } = await writePathOn(store).path.state<Purse>(purse, purseId);
  expect(state.coins).toEqual(Array.from({ length: 1_000 }, (_, i) => i + 1));
  expect(logged.length).toBeGreaterThan(0);
  await store.close();
});

test('a writer that hangs while it holds the lock of the log gives way at its deadline', async () => {
  const [hanging, other] = [300, 5_000].map((deadlineMs) => new PostgresEventStore(database.url, pool, { deadlineMs }));
  const [mine, theirs] = [`thing-${randomUUID()}`, `thing-${randomUUID()}`];
  let wakeUp = () => {};
  let isHanging = () => {};
  const hangs = new Promise<void>((resolve) => {
    isHanging = resolve;
  });
  const exclusive = hanging!.appendExclusively(mine, -1, async () => {
    isHanging();
    await new Promise<void>((resolve) => {
      wakeUp = resolve;
    });
    return append(mine);
  });
  await hangs;
  expect((await other!.append([append(theirs)])).map(({ outcome }) => outcome)).toEqual(['appended']);
  wakeUp();
  await expect(exclusive).rejects.toThrow();
  expect(await other!.readStream(mine, -1)).toEqual([]);
  await hanging!.close();
  await other!.close();
});

test('a write that waits for the lock longer than its deadline is ended on the server as well', async () => {
  const store = new PostgresEventStore(database.url, pool, { deadlineMs: 200 });
  const holder = await pool.connect();
  await holder.query('BEGIN');
  await holder.query('SELECT position FROM log_head FOR UPDATE');
  const stream = `thing-${randomUUID()}`;
  await expect(store.append([append(stream)])).rejects.toThrow();
  const waiting = `SELECT 1 FROM pg_stat_activity
                    WHERE application_name = 'ledgerline-writer' AND datname = current_database() AND wait_event_type = 'Lock'`;
  await eventually(
    () => pool.query(waiting),
    ({ rowCount }) => rowCount === 0,
  );
  await holder.query('ROLLBACK');
  holder.release();
  expect(await store.readStream(stream, -1)).toEqual([]);
  expect((await store.append([append(stream)])).map(({ outcome }) => outcome)).toEqual(['appended']);
  await store.close();
});

describe('streams are read by the index', () => {
  const event = () => ({ id: randomUUID(), type: 'Happened', payload: `"${'x'.repeat(200)}"`, metadata: '{}' });
  const logs = {
    'when the planner knows nothing of the log': async () => {},
    'when all that it knows is one stream': async (store: PostgresEventStore, one: pg.Pool) => {
      await store.append([{ ...append('only'), events: Array.from({ length: 3_000 }, event) }]);
      await one.query('ANALYZE events');
    },
  };

  test.each(Object.entries(logs))('%s', async (_, begin) => {
    const fresh = await freshDatabase();
    const one = new pg.Pool({ connectionString: fresh.url, max: 1 });
    const store = new PostgresEventStore(fresh.url, one);
    try {
      await migrate(fresh.url);
      await one.query('ALTER TABLE events SET (autovacuum_enabled = false)');
      await begin(store, one);
      const names = Array.from({ length: 30_000 }, (_, n) => `long-${n}`);
      await store.append(names.map((name) => ({ ...append(name), events: [event()] })));
      await one.query('SET plan_cache_mode = force_generic_plan');
      await one.query('BEGIN');
      const found = await store.loadStreams(['long-7', 'long-2999', 'nobody']);
      const read = [await store.readStream('long-7', -1), await store.readStreamSince('long-2999', 0)];
      const { rows } = await one.query(`SELECT seq_scan FROM pg_stat_xact_user_tables WHERE relname = 'events'`);
      await one.query('COMMIT');
      const counts = [...found].map(([name, { events }]) => [name, events.length]);
      expect(counts).toEqual(Object.entries({ 'long-7': 1, 'long-2999': 1, nobody: 0 }));
      expect(read.map(({ length }) => length)).toEqual([1, 1]);
      expect(rows).toEqual([{ seq_scan: '0' }]);
    } finally {
      await store.close();
      await one.end();
      await fresh.drop();
    }
  });
});
