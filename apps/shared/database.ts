import pg from 'pg';
import { startEmbeddedPostgres } from '../../libs/adapters/postgres/embedded.ts';
import { loadMasterKey } from '../../libs/adapters/postgres/master-key.ts';
import type { Config } from '../../libs/runtime/config.ts';
import type { Logger } from '../../libs/runtime/http/logging.ts';

/** The database that a configuration names, ready for an engine. */
export interface Database {
  url: string;
  masterKey: Buffer;
  /** Ends the embedded PostgreSQL if this process owns it. */
  stop(): Promise<void>;
}

/**
 * The database of DATABASE_URL, else the embedded PostgreSQL in DATA_DIR, with the master key that belongs to it.
 * `join`: use an embedded PostgreSQL that another process owns, and leave it running. `existing`: refuse a folder without a cluster, and
 * keep no new key.
 */
export async function openDatabase(
  config: Config,
  { logger, join = false, existing = false }: { logger: Logger; join?: boolean; existing?: boolean },
): Promise<Database> {
  const { databaseUrl, dataDir, postgresPort: port } = config;
  const server = databaseUrl
    ? { url: databaseUrl, stop: async () => {} }
    : await startEmbeddedPostgres({ dataDir, port, join, existing, log: (message) => logger.info(message) });
  try {
    const eventsExist = await holdsEvents(server.url, databaseUrl !== undefined);
    const masterKey = await loadMasterKey({ configured: config.masterKey, dataDir, eventsExist, keep: !existing });
    return { url: server.url, masterKey, stop: () => server.stop() };
  } catch (error) {
    await server.stop();
    throw error;
  }
}

async function holdsEvents(url: string, isConfigured: boolean): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000 });
  client.on('error', () => {});
  try {
    await client.connect();
  } catch (error) {
    if (!isConfigured) throw error;
    throw new Error(`The PostgreSQL of DATABASE_URL cannot be used: ${(error as Error).message || String(error)}`);
  }
  try {
    const { rows } = await client.query<{ known: string | null }>(`SELECT to_regclass('checkpoints') AS known`);
    if (rows[0]?.known == null) return false;
    const { rowCount } = await client.query(
      'SELECT 1 FROM log_head WHERE position > 0 UNION ALL SELECT 1 FROM checkpoints WHERE position > 0 LIMIT 1',
    );
    return rowCount === 1;
  } finally {
    await client.end();
  }
}
