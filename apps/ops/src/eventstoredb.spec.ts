import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { projections } from '../../../projections/index.ts';
import { type Activity, someActivity } from '../../../test/activity.ts';
import { freePort } from '../../../test/bench/program.ts';
import { freshDatabase } from '../../../test/database.ts';
import { startEventStoreServer } from '../../../test/eventstoredb/server.ts';
import { startTestPlatform, type TestPlatform } from '../../../test/platform.ts';
import { type RebuildProgress, rebuild } from '../../projector/src/rebuild.ts';
import { openEngine } from '../../shared/engine.ts';
import { doctorIn, opsOn, runOps } from './ops.examples.ts';
import type { Status } from './status.ts';
import { checks, verify } from './verify.ts';

/** The command line on a log whose positions have gaps. */
const masterKey = Buffer.alloc(32, 5);
let platform: TestPlatform;
let activity: Activity;
beforeAll(async () => {
  platform = await startTestPlatform({ eventStore: 'eventstoredb', masterKey });
  activity = await someActivity(platform);
});
afterAll(() => platform.stop());

const { ops, json } = opsOn(() => platform);

test('verifies, balances, inspects and shows the status on EventStoreDB', async () => {
  expect((await ops('verify')).out.match(/^ok {6}.+$/gm)).toHaveLength(checks.length);
  expect(await json('balance', activity.usd)).toMatchObject({ postedMinor: '65000', pendingMinor: '10000' });
  expect(await json('trial-balance')).toMatchObject({ isBalanced: true });
  const { trails } = await json('inspect', activity.completed);
  expect(trails[0].commands.length).toBe(4);
  const { followers }: Status = await json('status', '--sample', '0');
  expect(followers.find(({ name }) => name === 'live')).toMatchObject({ lagEvents: 0, lagSeconds: 0 });
});

test('counts what a follower has before it, where positions say nothing about that', async () => {
  const { pool, store } = platform.engine;
  const { events } = await store.readAll(0, 1_000);
  const [third] = events.slice(-3);
  await pool.query(`INSERT INTO checkpoints (name, position) VALUES ('processes/99', $1)`, [third!.position]);
  const { followers }: Status = await json('status', '--sample', '0');
  await pool.query(`DELETE FROM checkpoints WHERE name = 'processes/99'`);
  expect(followers.find(({ name }) => name === 'processes/99')).toMatchObject({ lagEvents: 2 });
});

test('says of long work how far it is by positions, of which there are more than events', async () => {
  const { engine } = platform;
  const works: ((progress: (at: RebuildProgress) => void) => Promise<unknown>)[] = [
    (progress) => verify(engine, projections, { progress: (at) => progress({ ...at, tables: [] }) }),
    (progress) => rebuild(engine, projections, { progress }),
  ];
  for (const work of works) {
    const startedMs = performance.now();
    let last: RebuildProgress | undefined;
    await work((at) => {
      last = at;
    });
    const seconds = (performance.now() - startedMs) / 1_000;
    expect(last!.position).toBe(await engine.store.head());
    expect(last!.rate * seconds).toBeGreaterThanOrEqual(last!.position);
  }
});

describe('doctor', () => {
  const asked = (esdbUrl: string) =>
    doctorIn({
      DATABASE_URL: platform.engine.url,
      MASTER_KEY: masterKey.toString('hex'),
      DATA_DIR: '/not/there',
      EVENT_STORE: 'eventstoredb',
      ESDB_URL: esdbUrl,
    });

  test('says that the event store answers', async () => {
    const { of } = await asked(platform.engine.esdbUrl!);
    expect(of('connectivity')[0]).toMatch(/^ok EventStoreDB answers in \d+ ms$/);
    expect(of('event store')).toEqual([expect.stringMatching(/^ok EventStoreDB, the log ends at [\d,]+$/)]);
  });

  test('says that nobody is there, and goes on with what is', async () => {
    const { code, found, printed } = await asked(`esdb://someone:hidden@127.0.0.1:${await freePort()}?tls=false`);
    expect([code, found[1], found.at(-1)]).toEqual([
      1,
      {
        check: 'connectivity',
        outcome: 'fail',
        message: expect.stringMatching(/^EventStoreDB: .*ECONNREFUSED/),
        advice: 'See that it runs, can be reached from here, and that the address and `tls` in ESDB_URL are right.',
      },
      { check: 'migrations', outcome: 'ok', message: 'the schema is the newest' },
    ]);
    expect(printed).not.toContain('hidden');
  });

  test('says that a server is silent, refuses the login, or has no certificate that it can trust', async () => {
    const folder = new URL('../../../test/eventstoredb/tls/', import.meta.url);
    const certificate = readFileSync(new URL('test-only.crt', folder));
    const key = readFileSync(new URL('test-only.key', folder));
    const server = await startEventStoreServer({ tls: { key, certificate } });
    server.weather.credentials = 'someone:else';
    const trusted = `tls=true&tlsCAFile=${encodeURIComponent(new URL('test-only.crt', folder).pathname)}`;
    const url = `esdb://someone:hidden@127.0.0.1:${server.port}`;
    const refused = await asked(`${url}?${trusted}`);
    const untrusted = await asked(`${url}?tls=true`);
    server.weather.isSilent = true;
    const silent = await asked(`${url}?${trusted}`);
    await server.stop();
    expect(refused.found[1]).toEqual({
      check: 'connectivity',
      outcome: 'fail',
      message: expect.stringMatching(/^EventStoreDB: .*denied/i),
      advice: 'Correct user and password in ESDB_URL, or give that user access to all streams.',
    });
    expect(untrusted.of('connectivity')[0]).toMatch(/^fail EventStoreDB: .*certificate/);
    expect(silent.of('connectivity')[0]).toBe('fail EventStoreDB: no answer within 5000 ms: reading the log');
    expect([refused, untrusted, silent].map(({ code, printed }) => [code, printed.includes('hidden')])).toEqual(
      Array(3).fill([1, false]),
    );
  });
});

test('an interrupted export goes on', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'ledgerline-export-'));
  const file = path.join(folder, 'log.ndjson');
  expect((await ops('export', '--output', file)).code).toBe(0);
  const whole = readFileSync(file, 'utf8');
  const lines = whole.split('\n');
  for (const count of [1, 2, 7, lines.length - 2]) {
    rmSync(file);
    writeFileSync(`${file}.part`, `${lines.slice(0, count).join('\n')}\n`);
    expect(await ops('export', '--output', file)).toMatchObject({ code: 0, err: '' });
    expect(readFileSync(file, 'utf8')).toBe(whole);
  }
  rmSync(folder, { recursive: true });
});

test('an export is imported into an empty EventStoreDB as it was, and everything is there again', async () => {
  const [log, keys] = [(await ops('export')).out, (await ops('keys', 'export')).out];
  const server = await startEventStoreServer();
  const database = await freshDatabase();
  const engine = await openEngine({
    databaseUrl: database.url,
    esdbUrl: server.url,
    masterKey,
    logger: platform.engine.logger,
  });
  const into = (args: string[], input: string) => runOps(args, { connect: (work) => work(engine) }, input);
  expect((await into(['keys', 'import', '-'], keys)).code).toBe(0);
  expect(await into(['import', '-'], log)).toMatchObject({ code: 0, err: '' });
  const logOf = async (store: typeof engine.store) =>
    (await store.readAll(0, 1_000)).events.map(({ position: _, ...event }) => event);
  expect(await logOf(engine.store)).toEqual(await logOf(platform.engine.store));
  expect((await verify(engine, projections)).findings).toEqual([]);
  await engine.close();
  await server.stop();
  await database.drop();
});

test('into PostgreSQL, events get new positions, if that is asked for', async () => {
  const [log, keys] = [(await ops('export')).out, (await ops('keys', 'export')).out];
  const database = await freshDatabase();
  const engine = await openEngine({ databaseUrl: database.url, masterKey, logger: platform.engine.logger });
  const into = (args: string[], input: string) => runOps(args, { connect: (work) => work(engine) }, input);
  await into(['keys', 'import', '-'], keys);
  expect(await into(['import', '-'], log)).toMatchObject({ code: 1, err: expect.stringContaining('--renumber') });
  expect(await engine.store.head()).toBe(0);
  expect(await into(['import', '-', '--renumber'], log)).toMatchObject({ code: 0, err: '' });
  const { events } = await engine.store.readAll(0, 1_000);
  expect(events.map(({ position }) => position)).toEqual(events.map((_, i) => i + 1));
  expect((await verify(engine, projections)).findings).toEqual([]);
  await engine.close();
  await database.drop();
});
