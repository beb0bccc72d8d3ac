import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import pg from 'pg';
import { PostgresEventStore } from '../../../libs/adapters/postgres/event-store.ts';
import type { AnyProcess } from '../../../libs/kernel/process.ts';
import type { Driver } from '../../../libs/runtime/drive.ts';
import { migrate } from '../../../migrations/index.ts';
import { freshDatabase, type TestDatabase } from '../../../test/database.ts';
import { eventually } from '../../../test/eventually.ts';
import { park, Retries } from './dead-letters.ts';
import { ProcessRunner } from './process-runner.ts';

let database: TestDatabase;
let pool: pg.Pool;
let store: PostgresEventStore;
beforeEach(async () => {
  database = await freshDatabase();
  await migrate(database.url);
  pool = new pg.Pool({ connectionString: database.url, max: 6 });
  store = new PostgresEventStore(database.url, pool);
});
afterEach(async () => {
  await store.close();
  await pool.end();
  await database.drop();
});

const goOn = { name: 'goOn', startsOn: ['Begun'] } as unknown as AnyProcess;
const metadata = JSON.stringify({ platform: 'p', environment: 'sandbox', correlationId: 'req_1' });
const [bad, good] = [randomUUID(), randomUUID()];

/** Drives by writing down which streams it was to drive; the bad one fails until it is well. */
function driving() {
  const driven: string[] = [];
  const health = { isWell: false };
  const drive = async (_: AnyProcess, id: string) => {
    driven.push(id);
    if (id === bad && !health.isWell) throw new Error('the rail does not answer');
    return undefined as never;
  };
  return { driven, health, driver: { drive } as unknown as Driver };
}

const parked = async () =>
  (await pool.query('SELECT process, stream, position::int, revision::int, attempts, error, status FROM dead_letters'))
    .rows;

test('work that fails until its last try is parked; the worker goes on, and takes it up again when it is asked to', async () => {
  const event = () => ({ id: randomUUID(), type: 'Begun', payload: '{}', metadata });
  await store.append(
    [bad, good].map((id) => ({ stream: `thing-${id}`, expectedRevision: -1, events: [event()], answers: [] })),
  );
  const { driven, health, driver } = driving();
  const common = { driver, processes: [goOn], calls: {}, pool, log: () => {} };
  const runner = new ProcessRunner({ ...common, store, park: (letter) => park(pool, letter), tries: 3 });
  await runner.start();
  const letters = await eventually(parked, (rows) => rows.length > 0);
  const letter = {
    process: 'goOn',
    stream: `thing-${bad}`,
    position: 1,
    revision: 0,
    error: 'the rail does not answer',
  };
  expect(letters).toEqual([{ ...letter, attempts: 3, status: 'PARKED' }]);
  await eventually(
    async () => driven.includes(good),
    (isDriven) => isDriven,
  );
  expect(driven.filter((id) => id === bad)).toHaveLength(3);
  await runner.stop();

  const retries = new Retries({ ...common, pollMs: 20 });
  retries.start();
  const ask = () => pool.query(`UPDATE dead_letters SET status = 'RETRY'`);
  await ask();
  await eventually(parked, ([row]) => row?.attempts === 4 && row.status === 'PARKED');
  health.isWell = true;
  await ask();
  await eventually(parked, (rows) => rows.length === 0);
  await retries.stop();
  expect(driven.filter((id) => id === bad)).toHaveLength(5);
});

test('work that a worker took and did not finish is taken by another one', async () => {
  const { driven, health, driver } = driving();
  health.isWell = true;
  const tenant = { platform: 'p', environment: 'sandbox' } as const;
  const letter = { process: 'goOn', position: 1, revision: 0, tenant, correlationId: 'req_1', attempts: 3 };
  for (const id of [bad, good]) {
    await park(pool, { ...letter, stream: `thing-${id}`, firstFailedAt: new Date(), error: new Error('x') });
  }
  await pool.query(`UPDATE dead_letters SET status = 'RETRYING', taken_at = now() - interval '1 second'`);
  await pool.query(`UPDATE dead_letters SET taken_at = now() - interval '61 seconds' WHERE stream = $1`, [
    `thing-${bad}`,
  ]);
  const retries = new Retries({ driver, processes: [goOn], calls: {}, pool, log: () => {}, pollMs: 20 });
  retries.start();
  await eventually(parked, (rows) => rows.length === 1);
  await retries.stop();
  expect(driven).toEqual([bad]);
});
