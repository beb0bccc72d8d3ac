import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { platform, tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import {
  type EmbeddedPostgres,
  type EmbeddedPostgresOptions,
  startEmbeddedPostgres,
} from '../../libs/adapters/postgres/embedded.ts';
import { freePort } from '../bench/program.ts';
import { eventually } from '../eventually.ts';

const ROOT = path.join(import.meta.dirname, '../..');

let folder: string;
let dataDir: string;
let cleanUps: (() => Promise<unknown>)[];

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'ledgerline-embedded-'));
  dataDir = path.join(folder, 'data');
  cleanUps = [];
});
afterEach(async () => {
  for (const cleanUp of cleanUps.reverse()) await cleanUp();
  await rm(folder, { recursive: true, force: true, maxRetries: 50, retryDelay: 100 }); // a server that is ending still writes
});

async function start(options: Partial<EmbeddedPostgresOptions> = {}): Promise<EmbeddedPostgres> {
  const postgres = await startEmbeddedPostgres({ dataDir, log: () => {}, ...options });
  cleanUps.push(() => postgres.stop());
  return postgres;
}

/** Another Node process that owns the folder's PostgreSQL and holds a transaction open; see embedded-postgres.child.ts. */
async function startInChild(): Promise<{ child: ChildProcess; url: string; pid: number }> {
  const program = path.join(ROOT, 'test/conformance/embedded-postgres.child.ts');
  const loader = path.join(ROOT, 'test/ts-loader.mjs');
  const child = spawn(process.execPath, ['--import', loader, program, dataDir], {
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, NODE_OPTIONS: '' },
  });
  const [line] = await once(child.stdout as NodeJS.ReadableStream, 'data');
  return { child, ...JSON.parse(String(line)) };
}

async function kill(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL');
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
}

async function query(url: string, text: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query({ text, rowMode: 'array' })).rows.map(([value]) => value);
  } finally {
    await client.end();
  }
}

const happens = (check: () => Promise<boolean>) =>
  eventually(
    () => check().catch(() => false),
    (isSo) => isSo,
  );

/** Its socket is removed when it ends, and left when it is killed. */
const gone = { code: expect.stringMatching(/^(ENOENT|ECONNREFUSED)$/) };

const takesConnections = (url: string) => query(url, 'SELECT 1').then(() => true);

/** Listens on that port, or on any; answers it. */
async function occupy(port = 0): Promise<number> {
  const server: Server = createServer().listen(port, '127.0.0.1');
  await once(server, 'listening');
  cleanUps.push(async () => server.close());
  return (server.address() as AddressInfo).port;
}

describe('the embedded PostgreSQL', () => {
  test('keeps what was stored, its port and its password over a restart', async () => {
    const first = await start();
    await query(first.url, 'CREATE TABLE note (text text)');
    await query(first.url, `INSERT INTO note VALUES ('kept')`);
    await first.stop();
    await expect(takesConnections(first.url)).rejects.toMatchObject(gone);

    const second = await start();
    expect(second.url).toBe(first.url);
    expect(second.pid).not.toBe(first.pid);
    expect(await query(second.url, 'SELECT text FROM note')).toEqual(['kept']);
  });

  test('is set up for money: durable, checked, local and closed', async () => {
    const { url } = await start();
    const settings = [
      'fsync',
      'synchronous_commit',
      'full_page_writes',
      'data_checksums',
      'listen_addresses',
      'server_encoding',
    ];
    const rows = await Promise.all(settings.map((name) => query(url, `SHOW ${name}`)));
    expect(rows.flat()).toEqual(['on', 'on', 'on', 'on', '127.0.0.1', 'UTF8']);
    expect(await query(url, 'SELECT datcollate FROM pg_database WHERE datname = current_database()')).toEqual(['C']);
    const mode = async (name: string) => (await stat(path.join(dataDir, name))).mode & 0o777;
    expect(await Promise.all(['keys', 'keys/postgres.password', 'postgres', 'postgres.log'].map(mode))).toEqual([
      0o700, 0o600, 0o700, 0o600,
    ]);
    const wrong = new URL(url);
    wrong.password = 'guessed';
    await expect(takesConnections(wrong.href)).rejects.toMatchObject({ code: '28P01' });
  });

  test('after kill -9 of its owner is taken over as it runs, without what the owner left unfinished', async () => {
    const killed = await startInChild();
    await kill(killed.child);
    const next = await start();
    expect(next.pid).toBe(killed.pid);
    expect(next.url).toBe(killed.url);
    expect(await query(next.url, 'SELECT text FROM note')).toEqual([]);
    expect(
      await query(
        next.url,
        `SELECT count(*)::int FROM pg_stat_activity
          WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() AND application_name <> 'ledgerline-owner'`,
      ),
    ).toEqual([0]);
  });

  test('after kill -9 of its owner and itself starts again with all that was committed', async () => {
    const killed = await startInChild();
    await query(killed.url, `INSERT INTO note VALUES ('committed')`);
    process.kill(killed.pid, 'SIGKILL');
    await kill(killed.child);
    const next = await start();
    expect(await query(next.url, 'SELECT text FROM note')).toEqual(['committed']);
  });

  test('comes back by itself on the same port when it is killed', async () => {
    const postgres = await start();
    const { pid } = postgres;
    process.kill(pid, 'SIGKILL');
    await happens(async () => postgres.pid !== pid && (await takesConnections(postgres.url)));
    await postgres.stop();
    await expect(takesConnections(postgres.url)).rejects.toMatchObject(gone);
  });

  test('outlives a Ctrl-C, which its owner answers by ending it', async () => {
    const { child, url } = await startInChild();
    process.kill(-(child.pid as number), 'SIGINT');
    expect(await once(child, 'exit')).toEqual([0, null]);
    await expect(takesConnections(url)).rejects.toMatchObject(gone);
    const next = await start();
    expect(await query(next.url, 'SELECT text FROM note')).toEqual(['not committed']);
  });

  test('ends with an owner that exits without stopping it', async () => {
    const { child, url } = await startInChild();
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([0, null]);
    await happens(async () => !(await takesConnections(url).catch(() => false)));
  });

  test('has one owner at a time; others may join and leave it', async () => {
    const owner = await start();
    await expect(start()).rejects.toThrow(`Another Ledgerline process is running on ${dataDir}`);
    const guest = await start({ join: true });
    expect([guest.url, guest.pid]).toEqual([owner.url, owner.pid]);
    await guest.stop();
    expect(await takesConnections(owner.url)).toBe(true);
  });

  test('of several that start a fresh folder at once, one owns it and the others are told', async () => {
    const attempts = await Promise.allSettled([start(), start(), start()]);
    expect(attempts.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const attempt of attempts) {
      if (attempt.status === 'rejected')
        expect(String(attempt.reason)).toContain('Another Ledgerline process is running');
    }
  });
});

describe('the port of the embedded PostgreSQL', () => {
  test('is the configured one, also over an orphan on another', async () => {
    const killed = await startInChild();
    await kill(killed.child);
    const port = await freePort();
    const next = await start({ port });
    expect(new URL(next.url).port).toBe(String(port));
    expect(next.pid).not.toBe(killed.pid);
  });

  test('configured and taken: the message names the variable', async () => {
    const taken = await occupy();
    await expect(start({ port: taken })).rejects.toThrow(
      `Port ${taken} of 127.0.0.1 is taken. Set POSTGRES_PORT to a free port for the embedded PostgreSQL.`,
    );
  });

  test('picked by itself and taken since: another is picked', async () => {
    const first = await start();
    await first.stop();
    await occupy(first.port);
    const second = await start();
    expect(second.port).not.toBe(first.port);
    expect(await takesConnections(second.url)).toBe(true);
  });
});

describe('the socket of the embedded PostgreSQL', () => {
  const overTcp = (url: string) => {
    const plain = new URL(url);
    plain.search = '';
    return plain.href;
  };
  const way = `SELECT coalesce(host(inet_client_addr()), 'socket')`;

  test('is what the program connects by; TCP works as well', async () => {
    const { url } = await start();
    expect(await query(url, way)).toEqual(['socket']);
    expect(await query(overTcp(url), way)).toEqual(['127.0.0.1']);
    const wrong = new URL(url);
    wrong.password = 'guessed';
    await expect(takesConnections(wrong.href)).rejects.toMatchObject({ code: '28P01' });
  });

  test('is let in by clusters that were made without one', async () => {
    const first = await start();
    await first.stop();
    const access = path.join(dataDir, 'postgres/pg_hba.conf');
    await writeFile(access, 'host all all 127.0.0.1/32 scram-sha-256\n');
    const second = await start();
    expect(await query(second.url, way)).toEqual(['socket']);
    await second.stop();
    await start();
    expect(await readFile(access, 'utf8')).toBe(
      'host all all 127.0.0.1/32 scram-sha-256\nlocal all all scram-sha-256\n',
    );
  });

  test('whose path is too long for an address is left alone', async () => {
    const { url } = await start({ dataDir: path.join(folder, 'd'.repeat(60), 'd'.repeat(60)) });
    expect(url).toBe(overTcp(url));
    expect(await query(url, way)).toEqual(['127.0.0.1']);
  });

  test('that a killed server left, with the number of another process by now, is no hindrance', async () => {
    const first = await start();
    await first.stop();
    const socket = path.join(dataDir, `postgres/.s.PGSQL.${first.port}`);
    for (const lock of [`${socket}.lock`, path.join(dataDir, 'postgres/postmaster.pid')])
      await writeFile(lock, `${process.pid}\n/x\n1\n${first.port}\n\n\n\nready\n`);
    await writeFile(socket, '');
    const second = await start();
    expect(await query(second.url, way)).toEqual(['socket']);
  });
});

describe('a DATA_DIR', () => {
  test('whose lock file names a process that is something else by now starts', async () => {
    const first = await start();
    await first.stop();
    await writeFile(
      path.join(dataDir, 'postgres/postmaster.pid'),
      `${process.pid}\n/x\n1\n${first.port}\n\n\n\nready\n`,
    );
    const second = await start();
    expect(await takesConnections(second.url)).toBe(true);
  });

  test('copied from a running one starts a server of its own and leaves the other alone', async () => {
    const original = await start();
    const copy = path.join(folder, 'copy');
    await promisify(execFile)('cp', ['-a', dataDir, copy]);
    const copied = await start({ dataDir: copy });
    expect(copied.pid).not.toBe(original.pid);
    expect(copied.port).not.toBe(original.port);
    expect(await takesConnections(original.url)).toBe(true);
  });

  test('that is not there is refused, and not made, where a cluster must exist', async () => {
    await expect(start({ existing: true })).rejects.toThrow(`There is no data in ${dataDir}: check DATA_DIR.`);
    await expect(stat(dataDir)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  test('is made with the folders above it', async () => {
    dataDir = path.join(folder, 'a/b/data');
    expect(await takesConnections((await start()).url)).toBe(true);
  });

  test('that cannot be made is told', async () => {
    dataDir = path.join(folder, 'file/data');
    await writeFile(path.join(folder, 'file'), '');
    await expect(start()).rejects.toThrow(`DATA_DIR ${dataDir} cannot be made: EEXIST`);
    if (platform() !== 'linux') return; // where Node's own recursive mkdir tries for ever
    dataDir = '/proc/ledgerline/data';
    await expect(start()).rejects.toThrow(`DATA_DIR ${dataDir} cannot be made: E`);
  });

  test('that lost its keys is refused rather than given new ones', async () => {
    const first = await start();
    await first.stop();
    await rm(path.join(dataDir, 'keys'), { recursive: true });
    await expect(start()).rejects.toThrow('Bring back the keys folder that belongs to this DATA_DIR.');
  });

  test('whose postgres folder holds something else is left as it is', async () => {
    await start().then((postgres) => postgres.stop());
    await rm(path.join(dataDir, 'postgres/PG_VERSION'));
    await writeFile(path.join(dataDir, 'postgres/mine.txt'), 'mine');
    await expect(start()).rejects.toThrow('could not make its cluster');
    expect(await readFile(path.join(dataDir, 'postgres/mine.txt'), 'utf8')).toBe('mine');
  });
});
