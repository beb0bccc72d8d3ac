import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { loadConfig } from '../../../libs/runtime/config.ts';
import { type Activity, someActivity } from '../../../test/activity.ts';
import { freshDatabase } from '../../../test/database.ts';
import { eventually } from '../../../test/eventually.ts';
import { startTestPlatform, type TestPlatform } from '../../../test/platform.ts';
import type { Diagnosis } from './diagnosis.ts';
import { work } from './doctor.ts';
import { opsOn, runOps } from './ops.examples.ts';
import { relay } from './servers.ts';
import type { Status } from './status.ts';

let platform: TestPlatform;
let activity: Activity;
let folder: string;
const masterKey = Buffer.alloc(32, 7);
beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'ledgerline-doctor-'));
  platform = await startTestPlatform({ masterKey });
  await platform.api('patch', '/config').send({ webhookEndpoint: 'http://127.0.0.1:9/' }).expect(200);
  activity = await someActivity(platform);
});
afterAll(async () => {
  await platform.stop();
  rmSync(folder, { recursive: true });
});

const { ops, json } = opsOn(() => platform);

describe('status', () => {
  test('says where everything stands, and who works on it', async () => {
    const head = await platform.engine.store.head();
    const status: Status = await eventually(
      () => json('status', '--sample', '0'),
      ({ followers }: Status) => followers.length > 8 && followers.every(({ lagEvents }) => lagEvents === 0),
    );
    expect(status.head).toBe(head);
    const live = status.followers.find(({ name }) => name === 'live')!;
    expect(live).toEqual({
      name: 'live',
      kind: 'read models',
      position: head,
      head,
      lagEvents: 0,
      lagSeconds: 0,
      rate: 0,
      advancedAt: expect.any(String),
      owner: expect.stringMatching(/:projector$/),
      heartbeatSeconds: expect.any(Number),
    });
    expect(status.followers.filter(({ kind }) => kind === 'processes').map(({ name }) => name)).toEqual(
      Array.from({ length: 8 }, (_, shard) => `processes/${shard}`),
    );
    expect(status.timers).toEqual([
      { process: 'completePayment', waiting: 1, due: 0, lateSeconds: 0, nextAt: expect.any(String) },
    ]);
    expect(activity.pending).toMatch(/^Transaction:/);
    const [queue] = status.deliveries;
    expect(queue).toMatchObject({ ...platform.tenant, failed: 0 });
    expect(queue!.pending).toBeGreaterThan(5);
    expect(status).toMatchObject({ parked: 0, skipped: [] });
  });

  test('says what is behind, since when and why', async () => {
    const { pool, store } = platform.engine;
    const head = await store.head();
    await pool.query(
      `INSERT INTO checkpoints (name, position, last_error, failed_at) VALUES ('processes/99', $1, 'no such column', now())`,
      [head - 2],
    );
    const status: Status = await json('status', '--sample', '50');
    const stuck = status.followers.find(({ name }) => name === 'processes/99')!;
    expect(stuck).toMatchObject({ position: head - 2, lagEvents: 2, rate: 0, lastError: 'no such column' });
    expect(stuck.lagSeconds).toBeGreaterThan(0);
    const { out } = await ops('status', '--sample', '0');
    expect(out).toMatch(/^processes\/99 {2,}processes +\d+ +2 .* no such column$/m);
    await pool.query(`DELETE FROM checkpoints WHERE name = 'processes/99'`);
  });
});

const isRoot = process.getuid?.() === 0;
if (isRoot) console.info('skipped: doctor on a folder that cannot be written, because root may write anywhere');

describe('doctor', () => {
  const settings = (more: NodeJS.ProcessEnv = {}) => ({
    config: () =>
      loadConfig({
        DATABASE_URL: platform.engine.url,
        MASTER_KEY: masterKey.toString('hex'),
        DATA_DIR: folder,
        ...more,
      }),
  });
  const outcomes = (out: string) =>
    Object.fromEntries((JSON.parse(out) as Diagnosis[]).map(({ check, outcome }) => [check, outcome]));

  test('finds a running platform well', async () => {
    const { code, out, err } = await runOps(['doctor', '--json'], settings());
    const { disk, durability, ...rest } = outcomes(out);
    expect(['ok', 'warn']).toContain(disk);
    const { rows } = await platform.engine.pool.query('SHOW fsync'); // off in a database for tests
    expect([code, durability]).toEqual(rows[0].fsync === 'on' ? [0, 'ok'] : [1, 'fail']);
    expect([err, rest]).toEqual([
      '',
      {
        configuration: 'ok',
        'data folder': 'ok',
        connectivity: 'ok',
        connections: expect.stringMatching(/^(ok|warn)$/),
        clocks: 'ok',
        migrations: 'ok',
        'event store': 'ok',
        'master key': 'ok',
        'read models': 'ok',
        lag: 'ok',
        timers: 'ok',
        deliveries: 'ok',
        'dead letters': 'ok',
      },
    ]);
    const told = await runOps(['doctor'], settings());
    expect(told.out).toMatch(/^ok {4}migrations: the schema is the newest$/m);
  });

  test('names what is wrong, says what to do, and answers 1', async () => {
    const wrong = await runOps(['doctor'], settings({ PORT: 'x', LOG_LEVEL: 'loud' }));
    expect(wrong.code).toBe(1);
    expect(wrong.out).toMatch(
      /^fail {2}configuration: The configuration is wrong:\n {2}PORT must be .*\n {2}LOG_LEVEL /,
    );
    expect(wrong.out).toMatch(/→ Correct the variables/);
    const nowhere = await runOps(['doctor'], settings({ DATABASE_URL: 'postgres://u:secret@127.0.0.1:1/x' }));
    expect(nowhere.code).toBe(1);
    expect(nowhere.out).toMatch(/^fail {2}connectivity: The PostgreSQL of DATABASE_URL cannot be used/m);
    expect(nowhere.out).not.toContain('secret');
    const other = await runOps(['doctor', '--json'], settings({ MASTER_KEY: Buffer.alloc(32, 8).toString('hex') }));
    expect([other.code, outcomes(other.out)['master key']]).toEqual([1, 'fail']);
  });

  (isRoot ? test.skip : test)('asks for a folder that can be written only when something is kept there', async () => {
    const readOnly = await mkdtemp(path.join(tmpdir(), 'ledgerline-read-only-'));
    await chmod(readOnly, 0o500);
    const inIt = outcomes((await runOps(['doctor', '--json'], settings({ DATA_DIR: readOnly }))).out);
    expect([inIt['data folder'], inIt.disk]).toEqual([undefined, undefined]);
    const keyInIt = settings({ DATA_DIR: readOnly, MASTER_KEY: '' });
    expect(outcomes((await runOps(['doctor', '--json'], keyInIt)).out)).toEqual({
      configuration: 'ok',
      'data folder': 'fail',
    });
    const status = await runOps(['status'], settings({ DATA_DIR: readOnly, DATABASE_URL: '' }));
    expect(status).toEqual({
      code: 1,
      out: '',
      err: `${readOnly} cannot be written. Give it to the user that runs the platform.\n`,
    });
    await rm(readOnly, { recursive: true });
  });

  test('sees migrations that are to come and does not run them; migrate does', async () => {
    const database = await freshDatabase();
    const on = settings({ DATABASE_URL: database.url });
    const before = await runOps(['doctor'], on);
    expect(before.code).toBe(1);
    expect(before.out).toMatch(/^fail {2}migrations: 0001_event_log, .* to come\n {6}→ Run `ops migrate`\.\n$/m);
    const migrated = await runOps(['migrate', '--json'], on);
    expect(JSON.parse(migrated.out).migrations.slice(0, 2)).toEqual(['0001_event_log', '0002_read_side']);
    expect(await runOps(['migrate'], on)).toEqual({ code: 0, out: 'The schema is the newest.\n', err: '' });
    expect((await runOps(['doctor'], on)).out).toMatch(/^ok {4}migrations: the schema is the newest$/m);
    await database.drop();
  });

  test('makes nothing in a folder where nothing is', async () => {
    const nothing = path.join(folder, 'nothing');
    const on = settings({ DATABASE_URL: '', DATA_DIR: nothing });
    const { code, out } = await runOps(['doctor', '--json'], on);
    expect([code, JSON.parse(out)]).toEqual([
      0,
      [
        { check: 'configuration', outcome: 'ok', message: 'every variable is allowed' },
        {
          check: 'data folder',
          outcome: 'warn',
          message: `${nothing} is not there yet`,
          advice: 'The first start makes it.',
        },
        {
          check: 'connectivity',
          outcome: 'warn',
          message: `there is no data in ${nothing} yet`,
          advice: 'The first start makes it. If there should be some already, check DATA_DIR.',
        },
      ],
    ]);
    const fresh = await freshDatabase();
    const keyless = settings({ DATABASE_URL: fresh.url, MASTER_KEY: '', DATA_DIR: nothing });
    expect((await runOps(['doctor'], keyless)).out).toMatch(/^fail {2}migrations: .* to come$/m);
    await fresh.drop();
    expect(existsSync(nothing)).toBe(false);
  });

  test('waits for no lock that is not given back', async () => {
    const { engine } = platform;
    const client = await engine.pool.connect();
    try {
      await client.query('BEGIN');
      await client.query('LOCK TABLE dead_letters IN ACCESS EXCLUSIVE MODE');
      const { code, out, err } = await runOps(['doctor'], settings());
      expect([code, err]).toEqual([1, '']);
      expect(out).toMatch(/^ok {4}read models: .*\nfail {2}connectivity: Query read timeout\n {6}→ .*\n$/m);
    } finally {
      await client.query('ROLLBACK');
      client.release();
    }
  });

  test('judges who brings the log into a topic', () => {
    const lease = { name: 'relay/events', owner: 'a:1:relay', heartbeatSeconds: 1 };
    const standing = {
      kind: 'relay',
      position: 7,
      head: 9,
      lagEvents: 2,
      lagSeconds: 3,
      rate: 0,
      advancedAt: '',
    } as const;
    const judged = (of: Partial<Parameters<typeof relay>[0]>) => {
      const { outcome, message } = relay({ followers: [], leases: [], ...of }, 'events');
      return `${outcome} ${message}`;
    };
    const nobody = 'fail nobody brings the log into events';
    expect(judged({})).toBe(nobody);
    expect(judged({ leases: [{ ...lease, name: 'relay/former' }] })).toBe(nobody);
    expect(judged({ leases: [{ ...lease, heartbeatSeconds: 11 }] })).toBe(nobody);
    expect(judged({ followers: [{ ...standing, name: lease.name }] })).toBe(nobody);
    expect(judged({ leases: [lease] })).toBe('ok a:1:relay brings the log into events: nothing is there yet');
    expect(judged({ followers: [{ ...standing, ...lease }] })).toBe(
      'ok a:1:relay brings the log into events: 2 events, 3.0 s behind',
    );
  });

  test('judges lag, heartbeats, timers and deliveries', () => {
    const follower = { name: 'live', kind: 'read models', position: 1, head: 9, rate: 0, advancedAt: '' } as const;
    const status: Status = {
      head: 9,
      followers: [
        { ...follower, lagEvents: 8, lagSeconds: 61, lastError: 'stuck' },
        { ...follower, lagEvents: 8, lagSeconds: 11, owner: 'a:1:projector', heartbeatSeconds: 12 },
        { ...follower, lagEvents: 0, lagSeconds: 0 },
      ],
      leases: [],
      timers: [{ process: 'completePayment', waiting: 3, due: 2, lateSeconds: 30, nextAt: '' }],
      deliveries: [{ platform: 'p', environment: 'sandbox', pending: 5, due: 4, lateSeconds: 90, failed: 2 }],
      parked: 1,
      skipped: [5, 7],
    };
    expect([...work(status)].map(({ check, outcome, message }) => [check, outcome, message])).toEqual([
      ['lag', 'fail', 'live is 8 events, 61 s behind (stuck)'],
      ['lag', 'warn', 'live is 8 events, 11 s behind'],
      ['leases', 'warn', 'a:1:projector has held live without a heartbeat for 12 s'],
      ['skipped events', 'warn', 'read models pass over position 5, 7'],
      ['lag', 'ok', 'up to date: live'],
      ['timers', 'warn', '2 of completePayment are due, the earliest for 30 s'],
      ['deliveries', 'warn', 'p sandbox: 4 due for 90 s, 2 given up'],
      ['dead letters', 'warn', '1 parked'],
    ]);
  });
});
