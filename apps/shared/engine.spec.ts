import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import pg from 'pg';
import { createLogger } from '../../libs/runtime/http/logging.ts';
import { isUnreachable } from '../../libs/runtime/unreachable.ts';
import { freePort } from '../../test/bench/program.ts';
import { freshDatabase, type TestDatabase } from '../../test/database.ts';
import { eventually } from '../../test/eventually.ts';
import { Gate } from '../../test/gate.ts';
import { openEngine } from './engine.ts';

let database: TestDatabase;
let pool: pg.Pool;
beforeEach(async () => {
  database = await freshDatabase();
  pool = new pg.Pool({ connectionString: database.url, max: 1 });
});
afterEach(async () => {
  await pool.end();
  await database.drop();
});

/** Connections to the database beside the one that asks. */
async function others(): Promise<number> {
  const { rows } = await pool.query(
    'SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
  );
  return rows.length;
}

test('an engine whose event store cannot be reached says so, and leaves no connection behind', async () => {
  const esdbUrl = `esdb://127.0.0.1:${await freePort()}?tls=false`;
  const options = { databaseUrl: database.url, masterKey: randomBytes(32), logger: createLogger({ level: 'silent' }) };
  const error = await openEngine({ ...options, esdbUrl }).catch((thrown: unknown) => thrown);
  expect(isUnreachable(error)).toBe(true);
  expect(await eventually(others, (count) => count === 0)).toBe(0);
});

test('a database that takes connections and says nothing cannot be reached, until it answers again', async () => {
  const { gate, url } = await Gate.before(database.url);
  const options = { masterKey: randomBytes(32), logger: createLogger({ level: 'silent' }), silenceMs: 300 };
  const engine = await openEngine({ ...options, databaseUrl: url });
  const asked = () => engine.pool.query('SELECT 1').then(({ rowCount }) => rowCount, isUnreachable);
  try {
    gate.silence();
    expect([await asked(), await asked()]).toEqual([true, true]); // on a connection that there was, and on a new one
    gate.open();
    expect(await eventually(asked, (answer) => answer === 1)).toBe(1); // one that is slow is taken for silent
  } finally {
    await engine.close();
    await gate.close();
  }
});

test('reads do not go by what a crash of the database has undone of the read models', async () => {
  const options = { masterKey: randomBytes(32), logger: createLogger({ level: 'silent' }) };
  const engine = await openEngine({ ...options, databaseUrl: database.url });
  const tenant = { platform: 'p', environment: 'sandbox' } as const;
  const shown = async () => engine.readModel.shown(tenant);
  try {
    await pool.query(`INSERT INTO checkpoints (name, position) VALUES ('live', 100)`);
    await pool.query(`SELECT pg_notify('projected', '0 100')`);
    expect(await eventually(shown, (position) => position === 100)).toBe(100);
    await pool.query(`UPDATE checkpoints SET position = 60`);
    await pool.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                       WHERE datname = current_database() AND application_name = 'ledgerline-listener'`);
    expect(await eventually(shown, (position) => position === 60)).toBe(60);
  } finally {
    await engine.close();
  }
});

test('with several partitions, a platform of which nothing is missing shows all there is up to the end of the log', async () => {
  const partitions = { partitions: 2, partitionOf: (platform: string) => Number(platform) };
  const options = {
    masterKey: randomBytes(32),
    logger: createLogger({ level: 'silent' }),
    partitions,
    readWaitMs: 1_000,
  };
  const engine = await openEngine({ ...options, databaseUrl: database.url });
  const caughtUp = (position: number, platform = '0') =>
    engine.readModel.caughtUp(position, { platform, environment: 'sandbox' });
  try {
    await pool.query(`INSERT INTO checkpoints (name, position) VALUES ('live/0', 60), ('live/1', 80)`);
    await pool.query(`INSERT INTO relays (topic, partitions, position, last_positions)
                      VALUES ('events', 2, 100, '{60,100}'), ('other', 3, 999, '{0,0,0}')`);
    expect(
      await eventually(
        () => caughtUp(100),
        (is) => is,
      ),
    ).toBe(true); // its last event is at 60, and it is shown
    expect(await caughtUp(90, '1')).toBe(false); // its last one is at 100, and is not shown
    expect(await caughtUp(101)).toBe(false); // nobody knows whose event that is
  } finally {
    await engine.close();
  }
});
