import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { PostgresEventStore } from '../../libs/adapters/postgres/event-store.ts';
import { envelope, OpenPurse, type Purse, purse, writePathOn } from '../../libs/runtime/execute.examples.ts';
import { migrate } from '../../migrations/index.ts';
import { freshDatabase, type TestDatabase } from '../database.ts';

const COINS = 300;
const WRITERS = 2;
const root = path.join(path.dirname(fileURLToPath(import.meta.url)), '../..');

let database: TestDatabase;
let pool: pg.Pool;
let store: PostgresEventStore;
beforeAll(async () => {
  database = await freshDatabase();
  await migrate(database.url);
  pool = new pg.Pool({ connectionString: database.url, max: 3 });
  store = new PostgresEventStore(database.url, pool);
});
afterAll(async () => {
  await store.close();
  await pool.end();
  await database.drop();
});

function startWriter(from: number, purses: readonly string[]): { child: ChildProcess; lines: string[] } {
  const args = ['--import', './test/ts-loader.mjs', 'test/conformance/writers.child.ts'];
  const child = spawn(process.execPath, [...args, database.url, String(from), String(COINS), ...purses], {
    cwd: root,
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, NODE_OPTIONS: '--no-warnings' },
  });
  const lines: string[] = [];
  let rest = '';
  child.stdout!.setEncoding('utf8').on('data', (text: string) => {
    const parts = (rest + text).split('\n');
    rest = parts.pop()!;
    lines.push(...parts);
  });
  return { child, lines };
}

test('two processes writing the same streams lose, double and reorder nothing, and leave no hole', async () => {
  const purses = Array.from({ length: 4 }, () => randomUUID());
  const { path: writePath } = writePathOn(store);
  for (const purseId of purses) await writePath.execute(purse, new OpenPurse({ purseId, limit: 0 }), envelope());

  const writers = Array.from({ length: WRITERS }, (_, w) => startWriter(w * 10_000 + 1, purses));
  await Promise.all(writers.map(({ child }) => once(child.stdout!, 'data')));
  const ended = writers.map(({ child }) => once(child, 'close'));
  for (const { child } of writers) child.stdin!.write('go\n');
  expect((await Promise.all(ended)).map(([code]) => code)).toEqual(writers.map(() => 0));

  const log = await pool.query(
    'SELECT count(*)::int AS count, max(position)::int AS last, min(position)::int AS first FROM events',
  );
  const total = purses.length * (1 + WRITERS * COINS);
  expect(log.rows[0]).toEqual({ count: total, last: total, first: 1 });
  const head = await pool.query('SELECT position::int FROM log_head');
  expect(head.rows).toEqual([{ position: total }]);
  const gaps = await pool.query(
    `SELECT stream FROM events GROUP BY stream HAVING count(*) <> max(revision) + 1 OR min(revision) <> 0`,
  );
  expect(gaps.rows).toEqual([]);
  const disorder = await pool.query(
    `SELECT position FROM (SELECT position, revision, lag(revision) OVER (PARTITION BY stream ORDER BY position) AS before FROM events) e
      WHERE before IS NOT NULL AND revision <> before + 1`,
  );
  expect(disorder.rows).toEqual([]);

  const acknowledged = writers.flatMap(({ lines }) => lines.filter((line) => line !== 'ready'));
  expect(acknowledged).toHaveLength(purses.length * WRITERS * COINS);
  for (const purseId of purses) {
    const { state } = await writePathOn(store).path.state<Purse>(purse, purseId);
    for (let w = 0; w < WRITERS; w += 1) {
      const mine = state.coins.filter((coin) => Math.trunc(coin / 10_000) === w);
      expect(mine).toEqual(Array.from({ length: COINS }, (_, i) => w * 10_000 + 1 + i));
    }
  }
  const interleaved = await pool.query(
    `SELECT count(*)::int AS turns FROM (
       SELECT writer, lag(writer) OVER (PARTITION BY stream ORDER BY revision) AS before
         FROM (SELECT stream, revision, (payload::json->>'coin')::int / 10000 AS writer FROM events WHERE type = 'CoinIn') c
     ) t WHERE writer <> before`,
  );
  expect(interleaved.rows[0].turns).toBeGreaterThan(purses.length);
});
