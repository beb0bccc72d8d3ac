import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { MemorySubjectKeys } from '../../../libs/adapters/memory/subject-keys.ts';
import { PostgresEventStore } from '../../../libs/adapters/postgres/event-store.ts';
import { deposit, opening } from '../../../libs/domain/accounts/account.examples.ts';
import { account, OpenAccount, ReceiveDeposit } from '../../../libs/domain/accounts/account.ts';
import { deciders } from '../../../libs/domain/index.ts';
import type { EventStore } from '../../../libs/kernel/event-store.port.ts';
import type { AnyProjection } from '../../../libs/kernel/projection.ts';
import { EventCodec } from '../../../libs/runtime/codec.ts';
import { envelope, writePathOn } from '../../../libs/runtime/execute.examples.ts';
import { migrate } from '../../../migrations/index.ts';
import { announcers, processes, projections } from '../../../projections/index.ts';
import { internalAccounts } from '../../../projections/internal-accounts.ts';
import { journal } from '../../../projections/journal.ts';
import { someActivity } from '../../../test/activity.ts';
import { freshDatabase, type TestDatabase } from '../../../test/database.ts';
import { eventually } from '../../../test/eventually.ts';
import { startTestPlatform, type TestPlatform } from '../../../test/platform.ts';
import { prepareReadTables } from './prepare.ts';
import { Projector, type ProjectorOptions } from './projector.ts';

const becomes = (ask: () => unknown, expected: unknown) =>
  eventually(
    async () => ask(),
    (found) => isDeepStrictEqual(found, expected),
  );

const BESIDE = ['timers', 'webhooks', 'deliveries'];

/** Every row of every table that the projector writes, as text. */
async function dump(pool: pg.Pool, tables: readonly string[]): Promise<Record<string, string[]>> {
  const rowsOf = async (table: string) => {
    const { rows } = await pool.query<{ row: string }>(`SELECT t::text AS row FROM ${table} t ORDER BY 1`);
    return rows.map(({ row }) => row);
  };
  return Object.fromEntries(await Promise.all(tables.map(async (table) => [table, await rowsOf(table)] as const)));
}

/** Whatever fills a read table: with a webhook endpoint first, so that deliveries are due. */
async function everyKindOfRow(platform: TestPlatform): Promise<void> {
  const { api } = platform;
  await api('patch', '/config').send({ webhookEndpoint: 'https://receiver.test/hook' }).expect(200);
  const customer = async (platformCustomerId: string) => {
    const individual = { customerType: 'INDIVIDUAL', platformCustomerId, fullName: 'Amina Diop' };
    return (await api('post', '/customers').send(individual).expect(201)).body.id;
  };
  const [kept, deleted] = [await customer('kept'), await customer('deleted')];
  await api('patch', `/customers/${kept}`).send({ customerType: 'INDIVIDUAL', fullName: 'Amina D. Diop' }).expect(200);
  await api('delete', `/customers/${deleted}`).expect(200);
  const token = await api('post', '/tokens')
    .send({ name: 'Reports', permissions: ['VIEW'] })
    .expect(201);
  await api('delete', `/tokens/${token.body.id}`).expect(204);
  await someActivity(platform);
}

describe('with everything that the platform has', () => {
  const tables = [...projections.map(({ name }) => name), ...BESIDE];
  let platform: TestPlatform;
  let rows: Record<string, string[]>;
  let head: number;
  beforeAll(async () => {
    platform = await startTestPlatform();
    await everyKindOfRow(platform);
    head = await platform.engine.store.head();
    await becomes(() => platform.projector.position, head);
    await platform.projector.stop();
    rows = await dump(platform.engine.pool, tables);
  });
  afterAll(() => platform.stop());

  /** Projects the whole log once more, from its beginning. */
  async function projectAgain(options: Partial<ProjectorOptions> = {}): Promise<void> {
    const { pool, store, codec, url } = platform.engine;
    await pool.query('UPDATE checkpoints SET position = 0');
    const catalogue = { projections, announcers, processes };
    const failures: string[] = [];
    const log: ProjectorOptions['log'] = (level, message) => level === 'error' && failures.push(message);
    const projector = new Projector({ url, store, codec, catalogue, log, ...options });
    await projector.start();
    await becomes(() => [projector.position, failures], [head, []]);
    await projector.stop();
  }

  test('there is something in every table', () => {
    const empty = tables.filter((table) => rows[table]!.length === 0 && table !== 'timers');
    expect(empty).toEqual([]);
  });

  test('every event delivered twice more, one right after the other, changes no row', async () => {
    const { store } = platform.engine;
    const stuttering = Object.create(store) as EventStore;
    stuttering.readAll = async (...args) => {
      const { events, upTo } = await store.readAll(...args);
      return { events: events.flatMap((event) => [event, event]), upTo };
    };
    await projectAgain({ store: stuttering });
    expect(await dump(platform.engine.pool, tables)).toEqual(rows);
  });

  test('the whole log delivered again in small batches changes no row', async () => {
    await projectAgain({ batchSize: 3 });
    expect(await dump(platform.engine.pool, tables)).toEqual(rows);
  });

  test.each([1, 7, 1_000])(
    'empty tables filled from the log, %d events at a time, hold identical rows',
    async (batchSize) => {
      await platform.engine.pool.query(`TRUNCATE ${projections.map(({ name }) => name).join(', ')}`);
      await projectAgain({ batchSize });
      expect(await dump(platform.engine.pool, tables)).toEqual(rows);
    },
  );
});

describe('on a log of accounts', () => {
  const read = [internalAccounts, journal];
  const tables = read.map(({ name }) => name);
  let database: TestDatabase;
  let pool: pg.Pool;
  let store: PostgresEventStore;
  let codec: EventCodec;
  let started: Projector[];
  let logged: string[];
  beforeEach(async () => {
    database = await freshDatabase();
    await migrate(database.url);
    pool = new pg.Pool({ connectionString: database.url, max: 5 });
    store = new PostgresEventStore(database.url, pool);
    codec = new EventCodec(deciders, new MemorySubjectKeys());
    await prepareReadTables(pool, read);
    started = [];
    logged = [];
  });
  afterEach(async () => {
    for (const projector of started) await projector.stop();
    await store.close();
    await pool.end();
    await database.drop();
  });

  async function start(options: { projections?: AnyProjection[]; batchSize?: number; url?: string } = {}) {
    const { projections: catalogue = read, ...rest } = options;
    const projector = new Projector({
      url: database.url,
      store,
      codec,
      catalogue: { projections: catalogue, announcers: [], processes: [] },
      log: (level, message) => logged.push(`${level}: ${message}`),
      ...rest,
    });
    started.push(projector);
    await projector.start();
    return projector;
  }

  /** An account that gets `count` deposits of 1, all in one stream. */
  async function deposits(count: number): Promise<string> {
    const accountId = randomUUID();
    const { path: writePath } = writePathOn(store, { codec });
    await writePath.execute(account, new OpenAccount({ ...opening, accountId }), envelope());
    const one = (i: number) => new ReceiveDeposit({ ...deposit(1n, `${accountId} ${i}`), accountId });
    await Promise.all(Array.from({ length: count }, (_, i) => writePath.execute(account, one(i), envelope())));
    return accountId;
  }
  const projected = async () => {
    const { rows } = await pool.query<{ state: string }>('SELECT state FROM internal_accounts');
    return rows.map(({ state }) => JSON.parse(state).postedMinor);
  };

  test('an event that cannot be applied stops it there, is told, and is not passed over; it goes on after the repair', async () => {
    let isBroken = true;
    const fragile: AnyProjection = {
      ...internalAccounts,
      apply(rows, event) {
        if (isBroken && event.revision === 37) throw new Error('a bug in the projection');
        internalAccounts.apply(rows, event);
      },
    };
    const accountId = await deposits(50);
    const projector = await start({ projections: [fragile, journal] });
    const failure = `DepositReceived of account-${accountId} at position 38 cannot be projected: a bug in the projection`;
    await becomes(() => [projector.position, projector.failure], [37, failure]);
    expect(logged[0]).toBe('error: the projector stands at position 37');
    expect(await projected()).toEqual(['36']);
    expect((await pool.query('SELECT position::int FROM checkpoints')).rows).toEqual([{ position: 37 }]);
    isBroken = false;
    await becomes(() => [projector.position, projector.failure], [51, undefined]);
    expect(await projected()).toEqual(['50']);
  });

  test('an event that cannot be decoded stops it as well', async () => {
    await deposits(3);
    const broken = { id: randomUUID(), type: 'DepositReceived', payload: '{"amountMinor":', metadata: '{}' };
    await store.append([{ stream: `account-${randomUUID()}`, expectedRevision: -1, events: [broken], answers: [] }]);
    const projector = await start();
    await eventually(
      async () => projector.failure,
      (failure) => /at position 5 cannot be projected/.test(failure ?? ''),
    );
    expect([projector.position, await projected()]).toEqual([4, ['3']]);
  });

  test('while it is stuck, new events do not make it try faster', async () => {
    await deposits(1);
    let tries = 0;
    const stuck: AnyProjection = {
      ...internalAccounts,
      apply() {
        tries += 1;
        throw new Error('stuck');
      },
    };
    await start({ projections: [stuck, journal] });
    await eventually(
      async () => tries,
      (made) => made > 0,
    );
    const before = tries;
    const { path: writePath } = writePathOn(store, { codec });
    for (let i = 0; i < 60; i += 1) {
      await writePath.execute(account, new OpenAccount({ ...opening, accountId: randomUUID() }), envelope());
    }
    expect(tries - before).toBeLessThan(30);
  });

  test('of two only one projects; the other takes over when it hands over the lease', async () => {
    const first = await start();
    await deposits(5);
    await becomes(() => first.position, 6);
    const second = await start();
    await deposits(5);
    await becomes(() => first.position, 12);
    expect(second.position).toBe(0);
    await first.stop();
    await deposits(5);
    await becomes(() => second.position, 18);
    expect([first.position, await projected(), logged]).toEqual([12, ['5', '5', '5'], []]);
  });

  test('one whose connection is cut starts again and goes on', async () => {
    const projector = await start();
    await deposits(5);
    await becomes(() => projector.position, 6);
    await pool.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'ledgerline-projector' AND datname = current_database()`,
    );
    await deposits(5);
    await becomes(() => [projector.position, projector.failure], [12, undefined]);
    expect(await projected()).toEqual(['5', '5']);
  });

  test('killed in the middle of a batch it leaves nothing of it behind, and another one takes over', async () => {
    await deposits(95);
    const root = path.join(path.dirname(fileURLToPath(import.meta.url)), '../../..');
    const args = ['--import', './test/ts-loader.mjs', 'apps/projector/src/projector.child.ts', database.url, '49'];
    const child = spawn(process.execPath, args, {
      cwd: root,
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, NODE_OPTIONS: '--no-warnings' },
    });
    let said = '';
    child.stdout.setEncoding('utf8').on('data', (text) => {
      said += text;
    });
    const [, signal] = await once(child, 'close');
    expect([signal, said]).toEqual(['SIGKILL', 'at 10\nat 20\nat 30\nat 40\n']);
    expect((await pool.query('SELECT position::int FROM checkpoints')).rows).toEqual([{ position: 40 }]);
    expect(await projected()).toEqual(['39']);

    const successor = await start({ batchSize: 10 });
    await becomes(() => successor.position, 96);
    const taken = await dump(pool, tables);
    await successor.stop();
    await pool.query(`TRUNCATE ${tables.join(', ')}, checkpoints`);
    const whole = await start();
    await becomes(() => whole.position, 96);
    expect(await dump(pool, tables)).toEqual(taken);
    expect(taken.journal).toHaveLength(95);
  });

  test('several programs may prepare the tables at once', async () => {
    await pool.query(`DROP TABLE ${tables.join(', ')}`);
    await pool.query('DELETE FROM read_tables');
    const outdated = await Promise.all(Array.from({ length: 4 }, () => prepareReadTables(pool, read)));
    expect(outdated).toEqual([[], [], [], []]);
    const { rows } = await pool.query('SELECT name, version FROM read_tables ORDER BY name');
    expect(rows).toEqual(
      read.map(({ name, version }) => ({ name, version })).sort((a, b) => (a.name < b.name ? -1 : 1)),
    );
  });

  test('tables of another shape are named, and missing ones too once there is something to fill them with', async () => {
    await deposits(1);
    const projector = await start();
    await becomes(() => projector.position, 2);
    const changed = { ...internalAccounts, version: internalAccounts.version + 1 };
    const added = { ...journal, name: 'journal_of_another_kind' };
    expect(await prepareReadTables(pool, [changed, journal, added])).toEqual([changed, added]);
  });
});
