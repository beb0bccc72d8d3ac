import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';

const LOOKS = 20;
const LOOK_MS = 20;

/** A database of its own for one test file. */
export interface TestDatabase {
  url: string;
  /** Ends what is still connected and deletes the database. */
  drop(): Promise<void>;
}

/** The superuser's URL of the run's PostgreSQL, which the first caller waits for (test/global-setup.mjs). */
export async function postgresUrl(): Promise<string> {
  const { TEST_POSTGRES_URL, TEST_POSTGRES_BROKER } = process.env;
  if (TEST_POSTGRES_URL) return TEST_POSTGRES_URL;
  if (!TEST_POSTGRES_BROKER) throw new Error('There is no PostgreSQL for tests: run them with the jest configuration.');
  const answer = await fetch(TEST_POSTGRES_BROKER);
  const text = await answer.text();
  if (!answer.ok) throw new Error(text);
  process.env.TEST_POSTGRES_URL = text;
  return text;
}

/** Makes an empty database with a name of its own. */
export async function freshDatabase(): Promise<TestDatabase> {
  const admin = await postgresUrl();
  const name = `test_${randomBytes(8).toString('hex')}`;
  await connected(admin, (client) => client.query(`CREATE DATABASE ${name}`));
  const url = new URL(admin);
  url.pathname = `/${name}`;
  return { url: url.href, drop: () => drop(admin, name) };
}

/** A pool says that it has ended before its connections have: those are let go first, and what stays is cut. */
async function drop(admin: string, name: string): Promise<void> {
  await connected(admin, async (client) => {
    for (let look = 0; look < LOOKS; look += 1) {
      const text = `SELECT 1 FROM pg_stat_activity WHERE datname = $1 AND backend_type = 'client backend'`;
      if ((await client.query(text, [name])).rowCount === 0) break;
      await sleep(LOOK_MS);
    }
    await client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
  });
}

async function connected(url: string, work: (client: pg.Client) => Promise<unknown>): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}
