import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { migrate } from '../../../migrations/index.ts';
import { freshDatabase, type TestDatabase } from '../../../test/database.ts';
import { eventually } from '../../../test/eventually.ts';
import { record } from './delivery-table.ts';

const ID = '00000000-0000-7000-8000-000000000001';

let database: TestDatabase;
let [writer, eraser]: pg.Client[] = [];

beforeAll(async () => {
  database = await freshDatabase();
  await migrate(database.url);
  [writer, eraser] = [database.url, database.url].map((connectionString) => new pg.Client({ connectionString }));
  await Promise.all([writer, eraser].map((client) => client!.connect()));
});
afterAll(async () => {
  await Promise.all([writer, eraser].map((client) => client!.end()));
  await database.drop();
});

test('of a delivery that is erased while an outcome is being written neither this answer nor the earlier one is kept', async () => {
  await eraser!.query(
    `INSERT INTO deliveries (webhook_id, platform, environment, status, attempts, last_attempt_at, last_duration_ms, last_response)
     VALUES ($1, 'p', 'sandbox', 'PENDING', 1, now(), 1, 'earlier')`,
    [ID],
  );
  await eraser!.query('BEGIN');
  await eraser!.query(`UPDATE deliveries SET status = 'FAILED', last_response = NULL`);
  const delivery = {
    webhookId: ID,
    type: 'TEST',
    body: '{}',
    attempts: 1,
    failures: 1,
    startedMs: 0,
    schedule: '2026-01-01T00:00:00Z',
  };
  const outcome = {
    status: 'DELIVERED' as const,
    attemptedMs: 0,
    durationMs: 1,
    httpStatus: 200,
    responseText: 'later',
  };
  const recording = record(writer!, [{ delivery, ...outcome }]);
  await eventually(
    () =>
      eraser!.query(`SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`),
    ({ rowCount }) => rowCount === 1,
  );
  await eraser!.query('COMMIT');
  await recording;
  const { rows } = await eraser!.query(
    `SELECT status, attempts, last_response, (SELECT count(*)::int FROM delivery_attempts) AS earlier FROM deliveries`,
  );
  expect(rows).toEqual([{ status: 'FAILED', attempts: 1, last_response: null, earlier: 0 }]);
});
