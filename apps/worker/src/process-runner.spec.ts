import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import pg from 'pg';
import { PostgresEventStore } from '../../../libs/adapters/postgres/event-store.ts';
import type { AnyProcess } from '../../../libs/kernel/process.ts';
import type { Driver } from '../../../libs/runtime/drive.ts';
import { migrate } from '../../../migrations/index.ts';
import { freshDatabase, type TestDatabase } from '../../../test/database.ts';
import { eventually } from '../../../test/eventually.ts';
import { ProcessRunner, type ProcessRunnerOptions, shardOf } from './process-runner.ts';

let database: TestDatabase;
let pool: pg.Pool;
let store: PostgresEventStore;
let started: ProcessRunner[];
beforeEach(async () => {
  database = await freshDatabase();
  await migrate(database.url);
  pool = new pg.Pool({ connectionString: database.url, max: 8 });
  store = new PostgresEventStore(database.url, pool);
  started = [];
});
afterEach(async () => {
  for (const runner of started) await runner.stop();
  await store.close();
  await pool.end();
  await database.drop();
});

/** A worker that drives by writing down which streams it was to drive. */
function worker(options: Partial<ProcessRunnerOptions> = {}) {
  const driven: string[] = [];
  const drive = async (_: AnyProcess, id: string) => {
    driven.push(id);
    return undefined as never;
  };
  const runner = new ProcessRunner({
    store,
    driver: { drive } as unknown as Driver,
    processes: [{ name: 'goOn', startsOn: ['Begun'] } as unknown as AnyProcess],
    calls: {},
    pool,
    park: async () => {},
    log: () => {},
    lease: { pollMs: 20 },
    ...options,
  });
  started.push(runner);
  return { runner, driven };
}

/** Begins so many things, each a stream of its own; answers their ids. */
async function begin(count: number): Promise<string[]> {
  const ids = Array.from({ length: count }, () => randomUUID());
  const metadata = JSON.stringify({ platform: 'p', environment: 'sandbox', correlationId: 'c' });
  const append = (id: string) => ({
    stream: `thing-${id}`,
    expectedRevision: -1,
    events: [
      { id: randomUUID(), type: 'Begun', payload: '{}', metadata },
      { id: randomUUID(), type: 'OfNoInterest', payload: '{}', metadata },
    ],
    answers: [],
  });
  await store.append(ids.map(append));
  return ids;
}

/** How many shards are held, by whomever. */
async function held(): Promise<number> {
  const { rows } = await pool.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM leases WHERE name ~ '^processes/\\d+$' AND owner IS NOT NULL`,
  );
  return rows[0]!.count;
}
const checkpoints = async () => {
  const { rows } = await pool.query<{ position: number }>(
    `SELECT position::int FROM checkpoints WHERE name ~ '^processes/\\d+$' ORDER BY name`,
  );
  return rows.map(({ position }) => position);
};
const sorted = (ids: readonly string[]) => [...ids].sort();

test('the shard of a stream is for ever', () => {
  const streams = ['payment-0195f1c0-7b7e-7000-8000-000000000001', 'customer-1', '', 'é'];
  expect(streams.map(shardOf)).toEqual([0, 7, 5, 4]);
});

test('one alone does everything, and its checkpoints come to the end of the log', async () => {
  const { runner, driven } = worker();
  const early = await begin(20);
  await runner.start();
  await eventually(held, (count) => count === 8);
  const ids = [...early, ...(await begin(20))];
  await eventually(
    async () => driven.length,
    (count) => count === 40,
  );
  expect(sorted(driven)).toEqual(sorted(ids));
  await runner.stop();
  expect([await checkpoints(), await held()]).toEqual([Array(8).fill(80), 0]);
});

test('what was done before there were shards is not done again', async () => {
  await begin(3);
  await pool.query(`INSERT INTO checkpoints (name, position) VALUES ('processes', 4)`);
  const { runner, driven } = worker();
  await runner.start();
  await eventually(
    async () => driven.length,
    (count) => count > 0,
  );
  await runner.stop();
  expect([driven.length, await checkpoints()]).toEqual([1, Array(8).fill(6)]);
});

test('two share the streams; when one ends the other one does all', async () => {
  const [one, other] = [worker(), worker()];
  await one.runner.start();
  await eventually(held, (count) => count === 8);
  await other.runner.start();
  const sharesOf = (runner: ProcessRunner) => (runner as unknown as { shards: Map<number, unknown> }).shards.size;
  await eventually(
    async () => [sharesOf(one.runner), sharesOf(other.runner)],
    ([mine, theirs]) => mine === 4 && theirs === 4,
  );
  const ids = await begin(64);
  await eventually(
    async () => one.driven.length + other.driven.length,
    (count) => count >= 64,
  );
  expect(sorted([...one.driven, ...other.driven])).toEqual(sorted(ids));
  expect(Math.min(one.driven.length, other.driven.length)).toBeGreaterThan(0);
  await one.runner.stop();
  await eventually(
    async () => sharesOf(other.runner),
    (count) => count === 8,
  );
  const before = one.driven.length;
  const later = await begin(16);
  await eventually(
    async () => later.filter((id) => other.driven.includes(id)).length,
    (count) => count === 16,
  );
  expect(one.driven.length).toBe(before);
});

test('one that was stopped is replaced, and moves no checkpoint when it continues', async () => {
  const silent = worker({ lease: { heartbeatMs: 3_600_000, expiresMs: 3_600_000, pollMs: 3_600_000 } });
  await silent.runner.start();
  await eventually(held, (count) => count === 8);
  await pool.query(`UPDATE leases SET heartbeat_at = now() - interval '1 minute'`);
  const other = worker();
  await other.runner.start();
  await eventually(
    () => pool.query<{ token: number }>(`SELECT DISTINCT token::int FROM leases WHERE name ~ '^processes/\\d+$'`),
    ({ rows }) => rows.length === 1 && rows[0]!.token === 2,
  );
  const ids = await begin(16);
  await eventually(
    async () => ids.filter((id) => other.driven.includes(id)).length,
    (count) => count === 16,
  );
  await silent.runner.stop();
  const { rows } = await pool.query(`SELECT count(*)::int AS held FROM leases WHERE token = 2 AND owner IS NOT NULL`);
  expect(rows).toEqual([{ held: 8 }]);
  await other.runner.stop();
  expect(await checkpoints()).toEqual(Array(8).fill(32));
});
