import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import pg from 'pg';
import { MemorySubjectKeys } from '../../../libs/adapters/memory/subject-keys.ts';
import { PostgresEventStore } from '../../../libs/adapters/postgres/event-store.ts';
import { deposit, opening } from '../../../libs/domain/accounts/account.examples.ts';
import { account, OpenAccount, ReceiveDeposit } from '../../../libs/domain/accounts/account.ts';
import { deciders } from '../../../libs/domain/index.ts';
import type { AnyProjection } from '../../../libs/kernel/projection.ts';
import { EventCodec } from '../../../libs/runtime/codec.ts';
import { envelope, writePathOn } from '../../../libs/runtime/execute.examples.ts';
import { onePartition } from '../../../libs/runtime/read-model.ts';
import { migrate } from '../../../migrations/index.ts';
import { internalAccounts } from '../../../projections/internal-accounts.ts';
import { journal } from '../../../projections/journal.ts';
import { freshDatabase, type TestDatabase } from '../../../test/database.ts';
import { eventually } from '../../../test/eventually.ts';
import { prepareReadTables } from './prepare.ts';
import { Projector, type ProjectorOptions } from './projector.ts';
import type { RebuildSource } from './rebuild.ts';

export const becomes = (ask: () => unknown, expected: unknown) =>
  eventually(
    async () => ask(),
    (found) => isDeepStrictEqual(found, expected),
  );

/** Every row of tables, as text. */
export async function dump(pool: pg.Pool, tables: readonly string[]): Promise<Record<string, string[]>> {
  const rowsOf = async (table: string) => {
    const { rows } = await pool.query<{ row: string }>(`SELECT t::text AS row FROM ${table} t ORDER BY 1`);
    return rows.map(({ row }) => row);
  };
  return Object.fromEntries(await Promise.all(tables.map(async (table) => [table, await rowsOf(table)] as const)));
}

/** A log of accounts in a database of its own, with the tables that are made of it. */
export class AccountLog {
  readonly projections: AnyProjection[] = [internalAccounts, journal];
  readonly tables = this.projections.map(({ name }) => name);
  /** What projectors have logged. */
  readonly logged: string[] = [];
  readonly database: TestDatabase;
  readonly pool: pg.Pool;
  readonly store: PostgresEventStore;
  readonly codec = new EventCodec(deciders, new MemorySubjectKeys());
  private readonly started: Projector[] = [];
  private readonly children: ChildProcess[] = [];

  private constructor(database: TestDatabase) {
    this.database = database;
    this.pool = new pg.Pool({ connectionString: database.url, max: 5 });
    this.store = new PostgresEventStore(database.url, this.pool);
  }

  static async open(): Promise<AccountLog> {
    const database = await freshDatabase();
    await migrate(database.url);
    const log = new AccountLog(database);
    await prepareReadTables(log.pool, log.projections);
    return log;
  }

  /** What rebuilds read. */
  get source(): RebuildSource {
    const { database, pool, store, codec } = this;
    return { url: database.url, pool, store, codec, partitions: onePartition };
  }

  async close(): Promise<void> {
    for (const child of this.children) child.kill('SIGKILL');
    for (const projector of this.started) await projector.stop();
    await this.store.close();
    await this.pool.end();
    await this.database.drop();
  }

  async start(options: { projections?: AnyProjection[] } & Partial<ProjectorOptions> = {}): Promise<Projector> {
    const { projections = this.projections, ...rest } = options;
    const projector = new Projector({
      url: this.database.url,
      store: this.store,
      codec: this.codec,
      catalogue: { projections, announcers: [], processes: [] },
      log: (level, message) => this.logged.push(`${level}: ${message}`),
      ...rest,
    });
    this.started.push(projector);
    await projector.start();
    return projector;
  }

  /** A projector in a process of its own, which sends itself a signal when an account holds so much; see projector.child.ts. */
  startChild(deadlyMinor: string, signal?: NodeJS.Signals): { child: ChildProcess; said: () => string } {
    const root = path.join(path.dirname(fileURLToPath(import.meta.url)), '../../..');
    const program = ['--import', './test/ts-loader.mjs', 'apps/projector/src/projector.child.ts'];
    const child = spawn(process.execPath, [...program, this.database.url, deadlyMinor, ...(signal ? [signal] : [])], {
      cwd: root,
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, NODE_OPTIONS: '--no-warnings' },
    });
    this.children.push(child);
    let said = '';
    child.stdout.setEncoding('utf8').on('data', (text) => {
      said += text;
    });
    return { child, said: () => said };
  }

  /** An account that gets `count` deposits of 1, all in one stream. */
  async deposits(count: number, platform?: string): Promise<string> {
    const accountId = randomUUID();
    const { path: writePath } = writePathOn(this.store, { codec: this.codec });
    const enveloped = () => ({
      ...envelope(),
      ...(platform && { tenant: { platform, environment: 'sandbox' as const } }),
    });
    await writePath.execute(account, new OpenAccount({ ...opening, accountId }), enveloped());
    const one = (i: number) => new ReceiveDeposit({ ...deposit(1n, `${accountId} ${i}`), accountId });
    await Promise.all(Array.from({ length: count }, (_, i) => writePath.execute(account, one(i), enveloped())));
    return accountId;
  }

  /** What the accounts hold, as the read model shows it, the most first. */
  async projected(): Promise<string[]> {
    const { rows } = await this.pool.query<{ state: string }>('SELECT state FROM internal_accounts');
    const held = rows.map(({ state }) => JSON.parse(state).postedMinor as string);
    return held.sort((a, b) => Number(b) - Number(a));
  }

  /** Where the checkpoints stand, by name. */
  async checkpoints(): Promise<Record<string, number>> {
    const { rows } = await this.pool.query<{ name: string; position: number }>(
      'SELECT name, position::int FROM checkpoints ORDER BY name',
    );
    return Object.fromEntries(rows.map(({ name, position }) => [name, position]));
  }
}
