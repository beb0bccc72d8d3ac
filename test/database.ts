import { randomBytes } from 'node:crypto';
import pg from 'pg';

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
  await execute(admin, `CREATE DATABASE ${name}`);
  const url = new URL(admin);
  url.pathname = `/${name}`;
  return { url: url.href, drop: () => execute(admin, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`) };
}

async function execute(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
