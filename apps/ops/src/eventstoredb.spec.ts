import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { projections } from '../../../projections/index.ts';
import { type Activity, someActivity } from '../../../test/activity.ts';
import { freshDatabase } from '../../../test/database.ts';
import { startEventStoreServer } from '../../../test/eventstoredb/server.ts';
import { startTestPlatform, type TestPlatform } from '../../../test/platform.ts';
import { openEngine } from '../../shared/engine.ts';
import { opsOn, runOps } from './ops.examples.ts';
import type { Status } from './status.ts';
import { verify } from './verify.ts';

/** The command line on a log whose positions have gaps. */
const masterKey = Buffer.alloc(32, 5);
let platform: TestPlatform;
let activity: Activity;
beforeAll(async () => {
  platform = await startTestPlatform({ eventStore: 'eventstoredb', masterKey });
  activity = await someActivity(platform);
}, 60_000);
afterAll(() => platform.stop());

const { ops, json } = opsOn(() => platform);

test('verifies, balances, inspects and shows the status on EventStoreDB', async () => {
  expect((await ops('verify')).out.match(/^ok {6}.+$/gm)).toHaveLength(8);
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
}, 60_000);

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
}, 60_000);
