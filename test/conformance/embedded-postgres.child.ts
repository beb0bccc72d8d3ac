import pg from 'pg';
import { startEmbeddedPostgres } from '../../libs/adapters/postgres/embedded.ts';

/** A process that owns the embedded PostgreSQL of a folder, for tests that kill it: `… <dataDir>`. Says where it is, then waits. */
const postgres = await startEmbeddedPostgres({ dataDir: process.argv[2] as string, log: () => {} });
const client = new pg.Client({ connectionString: postgres.url });
client.on('error', () => {});
await client.connect();
await client.query('CREATE TABLE IF NOT EXISTS note (text text)');
await client.query('BEGIN');
await client.query(`INSERT INTO note VALUES ('not committed')`);

process.once('SIGTERM', () => process.exit(0));
process.once('SIGINT', async () => {
  await client.query('COMMIT');
  await client.end();
  await postgres.stop();
  process.exit(0);
});
process.stdout.write(`${JSON.stringify({ url: postgres.url, pid: postgres.pid })}\n`);
