import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach } from '@jest/globals';
import pg from 'pg';
import { PostgresEventStore } from '../../../libs/adapters/postgres/event-store.ts';
import type { AnyProcess } from '../../../libs/kernel/process.ts';
import type { Driver } from '../../../libs/runtime/drive.ts';
import { migrate } from '../../../migrations/index.ts';
import { freshDatabase, type TestDatabase } from '../../../test/database.ts';
import { eventually } from '../../../test/eventually.ts';
import { ProcessRunner, type ProcessRunnerOptions } from './process-runner.ts';

let database: TestDatabase;
export let pool: pg.Pool;
export let store: PostgresEventStore;
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
export function worker(options: Partial<ProcessRunnerOptions> = {}) {
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
export async function begin(count: number, platform = 'p'): Promise<string[]> {
  const ids = Array.from({ length: count }, () => randomUUID());
  const metadata = JSON.stringify({ platform, environment: 'sandbox', correlationId: 'c' });
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
export async function held(): Promise<number> {
  const { rows } = await pool.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM leases WHERE name ~ '^processes/\\d+$' AND owner IS NOT NULL`,
  );
  return rows[0]!.count;
}

/** Where each shard has come to. */
export const checkpoints = async () => {
  const { rows } = await pool.query<{ position: number }>(
    `SELECT position::int FROM checkpoints WHERE name ~ '^processes/\\d+$' ORDER BY name`,
  );
  return rows.map(({ position }) => position);
};

/** A runner may be stopped when all was driven and it has not seen yet that nothing comes after it. */
export const comeTo = (position: number, shards = 8) =>
  eventually(checkpoints, (all) => all.filter((one) => one === position).length === shards);

export const sorted = (ids: readonly string[]) => [...ids].sort();
