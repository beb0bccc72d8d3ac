import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { migrate } from '../../../migrations/index.ts';
import { freshDatabase, type TestDatabase } from '../../../test/database.ts';
import { eventually } from '../../../test/eventually.ts';
import { holdsLease, Lease, LeaseLost, type LeaseOptions, leaseHeld, limitStandstill, ownerOf } from './lease.ts';

let database: TestDatabase;
let pool: pg.Pool;
let made: Lease[] = [];
beforeAll(async () => {
  database = await freshDatabase();
  await migrate(database.url);
  pool = new pg.Pool({ connectionString: database.url, max: 5 });
});
afterEach(async () => {
  for (const lease of made) await lease.release();
  made = [];
  await pool.query('DELETE FROM leases');
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});

function lease(options: Partial<LeaseOptions> = {}): Lease {
  const one = new Lease(pool, 'work', { role: 'test', pollMs: 20, ...options });
  made.push(one);
  return one;
}
/** As if its holder had been silent for a minute. */
const silence = () => pool.query(`UPDATE leases SET heartbeat_at = now() - interval '1 minute'`);

/** A holder of long ago: its timers stand still. */
const stopped = () => lease({ heartbeatMs: 3_600_000 });

async function inTransaction<T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
    return await work(client);
  } finally {
    await client.query('ROLLBACK');
    client.release();
  }
}

test('one at a time: the next one gets it when it is given back, under the next token', async () => {
  const [one, other] = [lease(), lease()];
  expect([await one.tryAcquire(), await other.tryAcquire()]).toEqual([true, false]);
  expect([one.token, other.token]).toEqual([1, undefined]);
  const { rows } = await pool.query('SELECT name, owner, token::int FROM leases');
  expect(rows).toEqual([{ name: 'work', owner: ownerOf('test'), token: 1 }]);
  const waiting = other.acquire();
  await one.release();
  expect([await waiting, one.token, other.token]).toEqual([true, undefined, 2]);
});

test('a holder whose process has ended is not waited for', async () => {
  const child = spawn(process.execPath, ['-e', '']);
  await once(child, 'close');
  await lease().acquire();
  await pool.query('UPDATE leases SET pid = $1', [child.pid]);
  const next = lease();
  expect([await next.tryAcquire(), next.token, next.isSure]).toEqual([true, 2, true]);
  await pool.query(`UPDATE leases SET pid = $1, machine = 'another one'`, [child.pid]);
  expect(await lease().tryAcquire()).toBe(false);
});

test('a wait is ended by its signal', async () => {
  await lease().acquire();
  const ending = new AbortController();
  const waiting = lease().acquire(ending.signal);
  ending.abort();
  expect(await waiting).toBe(false);
});

test('work that is stopped before it begins gives back what was taken for it', async () => {
  const [one, other] = [lease(), lease()];
  await one.tryAcquire();
  expect(await one.run(async () => 'worked', AbortSignal.abort())).toBeUndefined();
  expect([one.token, await other.tryAcquire(), other.token]).toEqual([undefined, true, 2]);
});

test('whoever is silent for too long loses it, is told at its next heartbeat, and proves nothing by its token', async () => {
  const old = lease({ heartbeatMs: 50 });
  await old.acquire();
  const { lost, held } = old;
  const before = stopped();
  await before.seize();
  expect(before.token).toBe(2);
  await eventually(
    async () => lost.aborted,
    (isLost) => isLost,
  );
  expect(lost.reason).toEqual(new LeaseLost('work'));
  expect(() => old.held).toThrow(LeaseLost);
  expect(await inTransaction((client) => holdsLease(client, held))).toBe(false);
  expect(await inTransaction((client) => holdsLease(client, before.held))).toBe(true);
  await silence();
  const after = lease();
  expect([await after.tryAcquire(), after.token]).toEqual([true, 3]);
  expect(await inTransaction((client) => holdsLease(client, { name: 'work', token: 2 }))).toBe(false);
  await before.release();
  expect(await inTransaction((client) => holdsLease(client, after.held))).toBe(true);
});

test('heartbeats keep it', async () => {
  const one = lease({ heartbeatMs: 20 });
  await one.acquire();
  await silence();
  await eventually(
    () => pool.query(`SELECT heartbeat_at > now() - interval '30 seconds' AS fresh FROM leases`),
    ({ rows }) => rows[0].fresh,
  );
  expect(await lease().tryAcquire()).toBe(false);
});

test('where no heartbeat succeeds it is taken to be lost', async () => {
  const cut = { query: (...args: Parameters<typeof pool.query>) => pool.query(...args) } as unknown as pg.Pool;
  const one = new Lease(cut, 'work', { role: 'test', heartbeatMs: 10, expiresMs: 200 });
  await one.acquire();
  const { lost } = one;
  cut.query = () => Promise.reject(new Error('no connection'));
  await eventually(
    async () => lost.aborted,
    (isLost) => isLost,
  );
  expect(one.token).toBeUndefined();
});

test('a takeover waits for the transaction that has proved the token; a heartbeat does not', async () => {
  const old = stopped();
  await old.acquire();
  let hasEnded = false;
  const other = lease();
  let taking: Promise<boolean> | undefined;
  await inTransaction(async (client) => {
    const { rowCount } = await client.query(
      `WITH mine AS (${leaseHeld('$2', '$3')}) UPDATE log_head SET position = $1 FROM mine`,
      [7, 'work', 1],
    );
    expect(rowCount).toBe(1);
    await silence(); // does what a heartbeat does
    taking = other.tryAcquire().finally(() => {
      hasEnded = true;
    });
    await eventually(
      () =>
        pool.query(`SELECT 1 FROM pg_stat_activity
                     WHERE datname = current_database() AND wait_event_type = 'Lock' AND query ~ 'INTO leases'`),
      ({ rowCount: waiting }) => waiting === 1,
    );
    expect(hasEnded).toBe(false);
  });
  expect([await taking, other.token]).toEqual([true, 2]);
});

test('a holder that stands still in the middle of a transaction is cut off', async () => {
  const old = stopped();
  await old.acquire();
  const client = new pg.Client({ connectionString: database.url });
  const ended = new Promise((resolve) => client.on('error', resolve));
  await client.connect();
  await limitStandstill(client, 100);
  await client.query('BEGIN');
  expect(await holdsLease(client, old.held)).toBe(true);
  const other = lease();
  await other.seize();
  expect(other.token).toBe(2);
  expect(await ended).toMatchObject({ code: '25P03' });
});

test('work that runs under it gives it back, failed or not', async () => {
  const one = lease();
  expect(await one.run(async ({ token }) => token)).toBe(1);
  await expect(one.run(() => Promise.reject(new Error('failed')))).rejects.toThrow('failed');
  const other = lease();
  expect([await other.tryAcquire(), other.token]).toEqual([true, 3]);
});
