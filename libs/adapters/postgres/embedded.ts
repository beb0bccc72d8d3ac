import { randomBytes, randomInt } from 'node:crypto';
import { readFile, realpath, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { makeFolder, requireUsable } from './data-folder.ts';
import { accountFor } from './embedded-account.ts';
import { clusterExists, clusterOf, createCluster, NAME, socketFolder } from './embedded-cluster.ts';
import { findPrograms } from './embedded-programs.ts';
import {
  connect,
  findRunning,
  interrupt,
  LaunchFailure,
  launch,
  OWNER_NAME,
  type Running,
  type Site,
  shutDown,
  trimLog,
} from './embedded-server.ts';
import { keptSecret, keysFolder, readSecret } from './kept-secret.ts';

const OWNER_LOCK = [1_818_585_964, 1];
const OWNER_PATIENCE_MS = 3_000;
const LAUNCH_ATTEMPTS = 100;
const RETRY_MS = 100;
const TRIM_LOG_EVERY_MS = 60_000;

export interface EmbeddedPostgresOptions {
  /** The cluster lies in its subfolder `postgres`, the password in `keys`, the log in `postgres.log`. */
  dataDir: string;
  /** Default: a free port, picked once and kept in `dataDir`. */
  port?: number | undefined;
  log: (message: string) => void;
  /** Use a server that another process owns, and leave it running at `stop`; without one, own it as usual. */
  join?: boolean;
  /** Only on a cluster that is there: a folder without one is refused, and nothing is made. */
  existing?: boolean;
  /** false: a throwaway cluster for tests, which a power failure may destroy. */
  durable?: boolean;
  /** Most clients at once, for several processes on one server; enough for one when absent. */
  connections?: number;
}

export interface EmbeddedPostgres {
  /** Of the database `ledgerline`, password included; by the server's socket where it has one. */
  url: string;
  port: number;
  /** Of the server as it runs now: another one after a crash. */
  readonly pid: number;
  /** Ends the server when this process owns it, and resolves when it has ended. */
  stop(): Promise<void>;
}

/**
 * Starts a real PostgreSQL on `dataDir`, or takes over the one that a killed process left running there. It works for root and
 * for ordinary users, listens on 127.0.0.1 only, and is started again when it dies. One process at a time owns a `dataDir`.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const site = await prepare(options);
  const shared = options.join ? await findRunning(site) : undefined;
  if (shared) return { ...shared, url: urlOf(site, shared.port), stop: async () => {} };
  return own(site, options.port);
}

async function prepare(options: EmbeddedPostgresOptions): Promise<Site> {
  const { dataDir, log, durable = true, connections } = options;
  for (const folder of [dataDir, clusterOf(dataDir)]) await requireUsable(folder);
  if (options.existing && !(await clusterExists(clusterOf(dataDir)))) {
    throw new Error(`There is no data in ${dataDir}: check DATA_DIR.`);
  }
  await makeFolder(dataDir).catch((error: Error) => {
    throw new Error(`DATA_DIR ${dataDir} cannot be made: ${error.message}`);
  });
  const folder = await realpath(dataDir);
  const cluster = clusterOf(folder);
  const passwordFile = path.join(keysFolder(folder), 'postgres.password');
  const account = await accountFor(cluster);
  const programs = await findPrograms(folder, account);
  const exists = await clusterExists(cluster);
  if (exists && (await readSecret(passwordFile)) === undefined) {
    throw new Error(
      `${passwordFile} is missing, but ${cluster} exists. Bring back the keys folder that belongs to this DATA_DIR.`,
    );
  }
  const password = await keptSecret(passwordFile, () => randomBytes(32).toString('base64url'));
  if (!exists) {
    log(`making a PostgreSQL cluster in ${cluster}`);
    await createCluster(cluster, programs, account, password, durable);
  }
  const logFile = path.join(folder, 'postgres.log');
  const { dev, ino } = await stat(cluster);
  const clusterName = `${NAME}-${dev}-${ino}`;
  return { cluster, clusterName, logFile, passwordFile, password, account, programs, durable, connections, log };
}

async function own(site: Site, configuredPort: number | undefined): Promise<EmbeddedPostgres> {
  await trimLog(site.logFile);
  let running = await bringUp(site, configuredPort);
  let owner = await claim(site, running);
  await endSessions(owner);
  if (configuredPort !== undefined && running.port !== configuredPort) {
    await owner.end();
    await shutDown(site, running.pid);
    running = await bringUp(site, configuredPort);
    owner = await claim(site, running);
  }

  const { port } = running;
  let stopping = false;
  let recovery = Promise.resolve();
  const recover = async () => {
    site.log('the connection to PostgreSQL was lost: bringing it back');
    for (let attempt = 1; !stopping; attempt += 1) {
      try {
        running = await bringUp(site, port);
        watch(await claim(site, running));
        return site.log('PostgreSQL is back');
      } catch (error) {
        site.log(`PostgreSQL is not back yet: ${(error as Error).message}`);
        await sleep(Math.min(RETRY_MS * attempt, 5_000));
      }
    }
  };
  const watch = (client: pg.Client) => {
    owner = client;
    client.once('end', () => {
      if (!stopping) recovery = recover();
    });
  };
  watch(owner);

  const trimming = setInterval(() => void trimLog(site.logFile).catch(() => {}), TRIM_LOG_EVERY_MS).unref();
  const lastResort = () => interrupt(site, running.pid);
  process.once('exit', lastResort);
  let stopped: Promise<void> | undefined;
  const stop = async () => {
    stopping = true;
    clearInterval(trimming);
    await recovery;
    await owner.end().catch(() => {});
    await shutDown(site, running.pid);
    process.removeListener('exit', lastResort);
  };
  return {
    url: urlOf(site, port),
    port,
    get pid() {
      return running.pid;
    },
    stop: () => {
      stopped ??= stop();
      return stopped;
    },
  };
}

function urlOf(site: Site, port: number): string {
  const url = new URL(`postgres://${NAME}:${site.password}@127.0.0.1:${port}/${NAME}`);
  const folder = socketFolder(site.cluster, port);
  if (folder) url.searchParams.set('host', folder);
  return url.href;
}

/** Finds the server running on the cluster or starts one; a port that nobody asked for is exchanged when it is taken. */
async function bringUp(site: Site, configuredPort: number | undefined): Promise<Running> {
  const portFile = path.join(path.dirname(site.cluster), 'postgres.port');
  let port = configuredPort ?? ((Number(await readFile(portFile, 'utf8').catch(() => '')) || anyPort()) as number);
  for (let attempt = 1; ; attempt += 1) {
    const running = (await findRunning(site)) ?? (await launch(site, port).catch(asFailure));
    if (!(running instanceof LaunchFailure)) {
      if (configuredPort === undefined) await writeFile(portFile, `${running.port}\n`);
      return running;
    }
    const busy = running.reason === 'PORT_BUSY';
    if (busy && configuredPort !== undefined) {
      throw new Error(
        `Port ${port} of 127.0.0.1 is taken. Set POSTGRES_PORT to a free port for the embedded PostgreSQL.`,
      );
    }
    if (running.reason === 'OTHER' || attempt === LAUNCH_ATTEMPTS) {
      throw new Error(`The embedded PostgreSQL does not start on ${site.cluster}:\n${running.message}`);
    }
    if (busy) port = anyPort();
    else await sleep(RETRY_MS);
  }
}

/** Below the range that systems take for outgoing connections. */
const anyPort = () => randomInt(20_000, 30_000);

function asFailure(error: unknown): LaunchFailure {
  if (error instanceof LaunchFailure) return error;
  throw error;
}

/**
 * The connection whose lock makes this process the only owner: it ends with the process, however that ends. One that is cut while it
 * asks (a new owner ends all sessions that it cannot tell yet) asks again.
 */
async function claim(site: Site, running: Running): Promise<pg.Client> {
  const deadline = Date.now() + OWNER_PATIENCE_MS;
  for (;;) {
    const client = connect(site, running.port);
    client.on('error', () => {});
    try {
      await client.connect();
      if (await isOwner(client, deadline)) return client;
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await sleep(RETRY_MS);
      continue;
    }
    await client.end();
    throw new Error(
      `Another Ledgerline process is running on ${path.dirname(site.cluster)}. End it, or set another DATA_DIR.`,
    );
  }
}

async function isOwner(client: pg.Client, deadline: number): Promise<boolean> {
  for (;;) {
    const { rows } = await client.query('SELECT pg_try_advisory_lock($1, $2) AS mine', OWNER_LOCK);
    if (rows[0]?.mine) return true;
    if (Date.now() > deadline) return false;
    await sleep(RETRY_MS);
  }
}

/**
 * What a killed owner left unfinished is ended before anything is read, so that nothing of it is committed later. Others that
 * only ask whether they may own the server are left alone.
 */
async function endSessions(owner: pg.Client): Promise<void> {
  await owner.query(
    `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
      WHERE backend_type = 'client backend' AND application_name <> $1`,
    [OWNER_NAME],
  );
}
