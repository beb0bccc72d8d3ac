import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { type Database, openDatabase } from '../../apps/shared/database.ts';
import { type Engine, openEngine } from '../../apps/shared/engine.ts';
import { createPlatform, issueToken } from '../../apps/shared/provision.ts';
import { account, OpenAccount, ReceiveDeposit } from '../../libs/domain/accounts/account.ts';
import { ConfigurePlatform, platform, platformPublicId, tenantIdOf } from '../../libs/domain/platforms/platform.ts';
import type { AnyDecider } from '../../libs/kernel/decider.ts';
import { uuidV7 } from '../../libs/kernel/ids.ts';
import type { Command, Tenant } from '../../libs/kernel/messages.ts';
import { loadConfig } from '../../libs/runtime/config.ts';
import { createLogger } from '../../libs/runtime/http/index.ts';
import { basic, freePort, type Program, type ProgramOptions, postgresPid, startProgram } from './program.ts';

/** What every account starts with, in cents. */
const FIRST_DEPOSIT = 1_000_000_000n;
const AT_ONCE = 2_000;

/** A platform on a data folder of its own, with the program that serves it and a way to look into its database. */
export interface Deployment {
  dataDir: string;
  database: Database;
  sql: pg.Pool;
  tenant: Tenant;
  authorization: string;
  /** Uuids of internal accounts in USD with money on them. */
  accounts: readonly string[];
  program: Program;
  /** Starts the program again; the one before must have ended. */
  restart(): Promise<Program>;
  stop(): Promise<void>;
}

/** Starts the program on an empty data folder and makes a platform with that many funded accounts. */
export async function deploy(
  accountCount: number,
  options: Pick<ProgramOptions, 'env' | 'nodeArgs'> = {},
): Promise<Deployment> {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'ledgerline-bench-'));
  const port = await freePort();
  let program = await startProgram({ dataDir, port, ...options });
  try {
    const config = loadConfig({ DATA_DIR: dataDir });
    const database = await openDatabase(config, { logger: createLogger({ level: 'error' }), join: true });
    const made = await withEngine(database, (engine) => makePlatform(engine, accountCount));
    const sql = new pg.Pool({ connectionString: database.url, max: 2, application_name: 'bench' });
    sql.on('error', () => {}); // a connection that is lost is made anew
    const deployment: Deployment = {
      dataDir,
      database,
      sql,
      ...made,
      program,
      async restart() {
        program = await startProgram({ dataDir, port, ...options, authorization: made.authorization });
        deployment.program = program;
        return program;
      },
      async stop() {
        await sql.end();
        await program.stop();
        await endLeftBehind(dataDir);
        await rm(dataDir, { recursive: true, force: true, maxRetries: 50, retryDelay: 100 });
      },
    };
    return deployment;
  } catch (error) {
    await program.stop();
    await endLeftBehind(dataDir);
    throw error;
  }
}

/** A PostgreSQL that the program did not end, because it was killed. */
async function endLeftBehind(dataDir: string): Promise<void> {
  for (let pid = await postgresPid(dataDir); pid; pid = await postgresPid(dataDir)) {
    try {
      process.kill(pid, 'SIGQUIT');
    } catch {
      return; // gone, and only its lock file is left
    }
    await sleep(50);
  }
}

/** Opens an engine beside the one of the program, for set-up. */
export async function withEngine<T>(
  { url, masterKey }: Pick<Database, 'url' | 'masterKey'>,
  work: (engine: Engine) => Promise<T>,
): Promise<T> {
  const engine = await openEngine({ databaseUrl: url, masterKey, logger: createLogger({ level: 'error' }) });
  try {
    return await work(engine);
  } finally {
    await engine.close();
  }
}

/** A platform with credentials and so many funded accounts in US dollars. */
export async function makePlatform(engine: Engine, accountCount: number) {
  const id = () => uuidV7(Date.now(), randomBytes(10));
  const tenant: Tenant = { platform: id(), environment: 'sandbox' };
  await createPlatform(engine, tenant, { name: 'Bench' });
  const credentials = await issueToken(engine, tenant, { name: 'bench', tokenId: id() });
  const accounts = Array.from({ length: accountCount }, id);
  const holder = { tenantId: tenantIdOf(tenant), platformCustomerId: platformPublicId(tenant), currency: 'USD' };
  await sendAll(
    engine,
    tenant,
    account,
    accounts.map((accountId) => new OpenAccount({ accountId, ...holder, type: 'INTERNAL_FIAT' })),
  );
  await sendAll(
    engine,
    tenant,
    account,
    accounts.map((accountId) => {
      const money = { amountMinor: FIRST_DEPOSIT, counterpart: 'mint:USD', paymentId: id(), reference: 'FIRST' };
      return new ReceiveDeposit({ accountId, ...holder, ...money });
    }),
  );
  return { tenant, authorization: basic(credentials), accounts };
}

async function sendAll(
  engine: Engine,
  tenant: Tenant,
  decider: AnyDecider,
  commands: readonly Command[],
): Promise<void> {
  for (let from = 0; from < commands.length; from += AT_ONCE) {
    await Promise.all(
      commands.slice(from, from + AT_ONCE).map((command) => {
        const commandId = randomUUID();
        return engine.writePath.execute(decider, command, {
          commandId,
          correlationId: commandId,
          actor: 'bench',
          tenant,
        });
      }),
    );
  }
}

/** Has the platform's webhooks sent there from now on. */
export async function setWebhookEndpoint({ database, tenant }: Deployment, webhookEndpoint: string): Promise<void> {
  const configure = new ConfigurePlatform({ tenantId: tenantIdOf(tenant), changes: { webhookEndpoint } });
  await withEngine(database, (engine) => sendAll(engine, tenant, platform, [configure]));
}

/** How far the read models are behind the log. */
export interface Lag {
  events: number;
  seconds: number;
}

export async function projectionLag(sql: pg.Pool): Promise<Lag> {
  const { rows } = await sql.query<{ behind: string; since: string | null }>({
    name: 'bench_lag',
    text: `SELECT h.position - c.position AS behind,
                  (SELECT metadata::json ->> 'at' FROM events e WHERE e.position = c.position + 1) AS since
             FROM log_head h, (SELECT COALESCE(max(position), 0) AS position FROM checkpoints WHERE name = 'live') c`,
  });
  const { behind, since } = rows[0]!;
  return { events: Number(behind), seconds: since ? Math.max(0, (Date.now() - Date.parse(since)) / 1_000) : 0 };
}

/** Waits until everything is projected and, where webhooks are sent, delivered. */
export async function settled(
  { sql }: Pick<Deployment, 'sql'>,
  { webhooks = false, patienceMs = 120_000 } = {},
): Promise<void> {
  const giveUpMs = performance.now() + patienceMs;
  const waiting = async () =>
    webhooks
      ? (await sql.query(`SELECT 1 FROM deliveries WHERE status = 'PENDING' AND attempts = 0 LIMIT 1`)).rowCount! > 0
      : false;
  while ((await projectionLag(sql)).events > 0 || (await waiting())) {
    if (performance.now() > giveUpMs) throw new Error(`not settled within ${patienceMs / 1_000} s`);
    await sleep(50);
  }
}
