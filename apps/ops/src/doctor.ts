import { stat, statfs } from 'node:fs/promises';
import path from 'node:path';
import pg from 'pg';
import { GIVE_IT, isUsable } from '../../../libs/adapters/postgres/data-folder.ts';
import { clusterExists, clusterOf } from '../../../libs/adapters/postgres/embedded-cluster.ts';
import type { Config } from '../../../libs/runtime/config.ts';
import { pendingMigrations } from '../../../migrations/index.ts';
import { projections } from '../../../projections/index.ts';
import { strangeTables } from '../../projector/src/prepare.ts';
import { leaseOf } from '../../relay/src/relay.ts';
import { type Database, openDatabase } from '../../shared/database.ts';
import type { Engine } from '../../shared/engine.ts';
import { isRightMasterKey } from '../../shared/right-master-key.ts';
import { engineOn, loggerOf } from './connection.ts';
import { type Diagnosis, fail, messageOf, ok, warn } from './diagnosis.ts';
import { NOTHING_IS_SENT } from './import.ts';
import { count, duration, type Output } from './output.ts';
import { eventStoreDb, HEARTBEAT_SECONDS, kafka, relay } from './servers.ts';
import { readStatus, type Status } from './status.ts';

const MB = 1024 ** 2;
const CLOCKS_WARN_MS = 1_000;
const CLOCKS_FAIL_MS = 30_000;
const DISK_WARN_MB = 5_000;
const DISK_FAIL_MB = 500;
const LAG_WARN_SECONDS = 10;
const LAG_FAIL_SECONDS = 60;
const ANSWER_MS = 15_000;
const CONNECTIONS_WARN = 0.8;

/** Looks at everything a deployment stands on, from the configuration up; stops where nothing further can be seen. */
export async function* diagnose(configure: () => Config, out: Pick<Output, 'note'>): AsyncGenerator<Diagnosis> {
  let config: Config;
  try {
    config = configure();
  } catch (error) {
    yield fail('configuration', messageOf(error), 'Correct the variables that are named; README.md lists all of them.');
    return;
  }
  yield ok('configuration', 'every variable is allowed');
  const canGoOn = yield* folder(config);
  if (config.kafka) yield* kafka(config.kafka);
  const log = config.esdbUrl === undefined ? undefined : await eventStoreDb(config.esdbUrl);
  if (log) yield log;
  if (!canGoOn) return;
  const { databaseUrl, dataDir } = config;
  if (databaseUrl === undefined && !(await clusterExists(clusterOf(dataDir)))) {
    const advice = 'The first start makes it. If there should be some already, check DATA_DIR.';
    yield warn('connectivity', `there is no data in ${dataDir} yet`, advice);
    return;
  }
  let database: Database;
  try {
    const hurried = { ...config, databaseUrl: databaseUrl && impatient(databaseUrl) };
    const opened = await openDatabase(hurried, { logger: loggerOf(out), join: true, existing: true });
    database = { ...opened, url: impatient(opened.url) };
  } catch (error) {
    yield fail(
      'connectivity',
      messageOf(error),
      'See that PostgreSQL runs, can be reached from here, and that its keys are there.',
    );
    return;
  }
  try {
    yield* server(database.url);
    const pending = await pendingMigrations(database.url);
    if (pending.length > 0) {
      yield fail('migrations', `${pending.join(', ')} to come`, 'Run `ops migrate`.');
      return;
    }
    yield ok('migrations', 'the schema is the newest');
    if (log?.outcome !== 'fail') yield* deployment(database, config, out);
  } catch (error) {
    yield fail('connectivity', messageOf(error), 'See the log of PostgreSQL, and what else works on it.');
  } finally {
    await database.stop();
  }
}

/** Each query has its time: something that holds a lock for hours does not hold the doctor up. */
function impatient(databaseUrl: string): string {
  const url = new URL(databaseUrl);
  url.searchParams.set('query_timeout', String(ANSWER_MS));
  return url.href;
}

/** Says whether it is worth looking at what stands on the folder. */
async function* folder({ dataDir, databaseUrl, masterKey }: Config): AsyncGenerator<Diagnosis, boolean> {
  const isNeeded = databaseUrl === undefined || masterKey === undefined;
  const isWritable = await isUsable(dataDir);
  if (isWritable === undefined) {
    if (isNeeded) yield warn('data folder', `${dataDir} is not there yet`, 'The first start makes it.');
    return true;
  }
  if (isWritable) yield ok('data folder', dataDir);
  else if (isNeeded) yield fail('data folder', `${dataDir} cannot be written`, GIVE_IT);
  const keys = await stat(path.join(dataDir, 'keys')).catch(() => undefined);
  if (keys && (keys.mode & 0o077) !== 0)
    yield fail('keys', `${path.join(dataDir, 'keys')} can be read by others`, 'chmod -R go= on it.');
  if (!isWritable) return !isNeeded; // a container's read-only folder, in which nothing is kept
  const { bavail, bsize } = await statfs(dataDir);
  yield disk((bavail * bsize) / MB);
  return true;
}

function disk(freeMb: number): Diagnosis {
  const message = `${count(freeMb)} MB free in the data folder`;
  const advice = 'Make room before it is full: PostgreSQL stops when it cannot write.';
  if (freeMb < DISK_FAIL_MB) return fail('disk', message, advice);
  return freeMb < DISK_WARN_MB ? warn('disk', message, advice) : ok('disk', message);
}

async function* server(url: string): AsyncGenerator<Diagnosis> {
  const client = new pg.Client({
    connectionString: url,
    application_name: 'ledgerline-doctor',
    connectionTimeoutMillis: ANSWER_MS,
  });
  client.on('error', () => {});
  await client.connect();
  try {
    const askedMs = Date.now();
    const { rows } = await client.query<{ now: Date; version: string; size: string; used: number; most: number }>(
      `SELECT clock_timestamp() AS now, current_setting('server_version') AS version,
              pg_database_size(current_database()) AS size, (SELECT count(*)::int FROM pg_stat_activity) AS used,
              current_setting('max_connections')::int AS most`,
    );
    const answeredMs = Date.now();
    const { now, version, size, used, most } = rows[0]!;
    const told = `PostgreSQL ${version}, answers in ${answeredMs - askedMs} ms, ${count(Number(size) / MB)} MB`;
    yield ok('connectivity', told);
    yield used > most * CONNECTIONS_WARN
      ? warn('connections', `${used} of ${most} are in use`, 'Raise max_connections, or run fewer processes.')
      : ok('connections', `${used} of ${most} are in use`);
    yield clocks((askedMs + answeredMs) / 2 - now.getTime());
    const unsafe = await client.query<{ name: string; setting: string }>(
      `SELECT name, setting FROM pg_settings WHERE name IN ('fsync', 'full_page_writes', 'synchronous_commit') AND setting = 'off'`,
    );
    yield unsafe.rows.length > 0
      ? fail(
          'durability',
          unsafe.rows.map(({ name }) => `${name} is off`).join(', '),
          'Switch it on: acknowledged payments could be lost.',
        )
      : ok('durability', 'commits are on disk before they are answered');
  } finally {
    await client.end();
  }
}

function clocks(differenceMs: number): Diagnosis {
  const apart = Math.abs(differenceMs);
  const message = `this machine is ${duration(apart / 1_000)} ${differenceMs < 0 ? 'behind' : 'ahead of'} the database`;
  const advice = 'Synchronise both by NTP: expiries, timers and signatures go by these clocks.';
  if (apart > CLOCKS_FAIL_MS) return fail('clocks', message, advice);
  return apart > CLOCKS_WARN_MS ? warn('clocks', message, advice) : ok('clocks', 'this machine and the database agree');
}

async function* deployment(database: Database, config: Config, out: Pick<Output, 'note'>): AsyncGenerator<Diagnosis> {
  let engine: Engine;
  try {
    engine = await engineOn(database, config, loggerOf(out));
  } catch (error) {
    yield fail('event store', messageOf(error), 'See that it runs and can be reached from here.');
    return;
  }
  try {
    const log = await eventStore(engine);
    yield log;
    if (log.outcome === 'fail') return;
    const isRight = await isRightMasterKey(engine);
    if (isRight === false) {
      const advice = 'Set MASTER_KEY to the key used so far: personal data cannot be read without it.';
      yield fail('master key', 'it does not open the keys of personal data', advice);
    } else yield ok('master key', isRight ? 'it opens the keys of personal data' : 'nothing is encrypted yet');
    const strange = await strangeTables(engine.pool, projections);
    yield strange.length > 0
      ? warn(
          'read models',
          `${strange.join(', ')}: of another version or not there`,
          'Start the platform once, or run `ops rebuild --all`.',
        )
      : ok('read models', 'all have the shape of this version');
    const status = await readStatus(engine, 0);
    if (status.deliveriesFrom === NOTHING_IS_SENT) {
      const message = 'an import has not come to its end: events are missing, and no webhook is sent';
      yield fail('event store', message, 'Run `ops import` with `--resume` before any part is started.');
    }
    if (config.kafka) yield relay(status, config.kafka.topic);
    yield* work(withoutFormer(status, config.kafka?.topic));
  } finally {
    await engine.close();
  }
}

async function eventStore({ store, esdbUrl }: Engine): Promise<Diagnosis> {
  try {
    const head = await store.head();
    return ok('event store', `${esdbUrl ? 'EventStoreDB' : 'PostgreSQL'}, the log ends at ${count(head)}`);
  } catch (error) {
    return fail('event store', messageOf(error), 'See that it runs and can be reached from here.');
  }
}

/** Nobody brings the log into a topic that another one has taken the place of: that it is behind is as it should be. */
function withoutFormer(status: Status, topic: string | undefined): Status {
  const isFormer = ({ kind, name }: Status['followers'][number]) =>
    kind === 'relay' && (topic === undefined || name !== leaseOf(topic));
  return { ...status, followers: status.followers.filter((one) => !isFormer(one)) };
}

/** What the status of the background work means. */
export function* work(status: Status): Generator<Diagnosis> {
  const upToDate: string[] = [];
  for (const one of status.followers) {
    const message = `${one.name} is ${count(one.lagEvents)} events, ${duration(one.lagSeconds)} behind`;
    const why = one.lastError && one.lagEvents > 0 ? ` (${one.lastError})` : '';
    const advice = one.owner ? 'See the log of its owner.' : 'See that its role runs.';
    if (one.lagSeconds > LAG_FAIL_SECONDS) yield fail('lag', message + why, advice);
    else if (one.lagSeconds > LAG_WARN_SECONDS) yield warn('lag', message + why, advice);
    else upToDate.push(one.name);
    if (one.heartbeatSeconds !== undefined && one.heartbeatSeconds > HEARTBEAT_SECONDS) {
      const silent = `${one.owner} has held ${one.name} without a heartbeat for ${duration(one.heartbeatSeconds)}`;
      yield warn('leases', silent, 'Start its role: whoever starts takes it over.');
    }
  }
  if (status.skipped.length > 0) {
    const advice = 'Where the reason is gone: `ops rebuild --all --unskip <position>`.';
    yield warn('skipped events', `read models pass over position ${status.skipped.join(', ')}`, advice);
  }
  if (upToDate.length > 0) yield ok('lag', `up to date: ${upToDate.join(', ')}`);
  const late = status.timers.filter(({ lateSeconds }) => lateSeconds > LAG_WARN_SECONDS);
  for (const { process, due, lateSeconds } of late) {
    const advice = 'See that a worker runs, and what its log says.';
    yield warn('timers', `${count(due)} of ${process} are due, the earliest for ${duration(lateSeconds)}`, advice);
  }
  if (late.length === 0) yield ok('timers', 'none is late');
  const behind = status.deliveries.filter(({ lateSeconds, failed }) => lateSeconds > LAG_FAIL_SECONDS || failed > 0);
  for (const { platform, environment, due, lateSeconds, failed, lastError } of behind) {
    const waiting = due > 0 ? `${count(due)} due for ${duration(lateSeconds)}, ` : '';
    const told = `${waiting}${count(failed)} given up${lastError ? ` (${lastError})` : ''}`;
    const advice = 'See `ops deliveries`; when the receiver is well again, `ops recover --since …`.';
    yield warn('deliveries', `${platform} ${environment}: ${told}`, advice);
  }
  if (behind.length === 0) yield ok('deliveries', 'none is late or given up');
  yield status.parked > 0
    ? warn('dead letters', `${count(status.parked)} parked`, 'See `ops dead-letters`.')
    : ok('dead letters', 'nothing is parked');
}
