import { randomBytes } from 'node:crypto';
import pg from 'pg';
import type { EngineName, Servers } from '../faults/servers.ts';
import { startServers } from '../faults/servers.ts';
import { RoleDeployment } from '../roles/deployment.ts';
import { freshDatabase } from './databases.ts';
import { makePlatform, withEngine } from './deployment.ts';

/** A platform whose parts are processes of their own, on a database of its own. */
export interface Parts {
  roles: RoleDeployment;
  /** The PostgreSQL lies in it. */
  dataDir: string;
  databaseUrl: string;
  sql: pg.Pool;
  platform: Awaited<ReturnType<typeof makePlatform>>;
}

/** Starts the servers of an engine and ends them after the work; answers why where they cannot run on this machine. */
export async function withServers<T>(
  engine: EngineName,
  work: (servers: Servers) => Promise<T>,
): Promise<T | { reason: string }> {
  const servers = await startServers(engine);
  if ('reason' in servers) return servers;
  try {
    return await work(servers);
  } finally {
    await servers.stop();
  }
}

/** A platform with that many funded accounts; of its parts none is started yet. */
export async function withParts<T>(
  servers: Servers,
  name: string,
  accountCount: number,
  work: (parts: Parts) => Promise<T>,
): Promise<T> {
  const databaseUrl = await freshDatabase(servers.databaseUrl, name);
  const masterKey = randomBytes(32);
  const platform = await withEngine({ url: databaseUrl, masterKey }, (engine) => makePlatform(engine, accountCount));
  const env = { ...servers.env, KAFKA_TOPIC: `ledgerline.${name}`, LOG_LEVEL: 'error' };
  const roles = new RoleDeployment({ databaseUrl, masterKey, env });
  const sql = new pg.Pool({ connectionString: databaseUrl, max: 2, application_name: 'bench' });
  sql.on('error', () => {}); // a connection that is lost is made anew
  try {
    return await work({ roles, dataDir: servers.dataDir, databaseUrl, sql, platform });
  } finally {
    await sql.end();
    await roles.stop();
  }
}
