import { Kysely, type Migration, Migrator, PostgresDialect, sql } from 'kysely';
import pg from 'pg';
import * as eventLog from './0001_event_log.ts';
import * as readSide from './0002_read_side.ts';
import * as webhooks from './0003_webhooks.ts';
import * as leases from './0004_leases.ts';
import * as deadLetters from './0005_dead_letters.ts';
import * as relays from './0006_relays.ts';
import * as keyReservations from './0007_key_reservations.ts';
import * as sandboxClocks from './0008_sandbox_clocks.ts';
import * as shortStreams from './0009_short_streams.ts';
import * as stuckRebuilds from './0010_stuck_rebuilds.ts';

const migrations: Record<string, Migration> = {
  '0001_event_log': eventLog,
  '0002_read_side': readSide,
  '0003_webhooks': webhooks,
  '0004_leases': leases,
  '0005_dead_letters': deadLetters,
  '0006_relays': relays,
  '0007_key_reservations': keyReservations,
  '0008_sandbox_clocks': sandboxClocks,
  '0009_short_streams': shortStreams,
  '0010_stuck_rebuilds': stuckRebuilds,
};

const LAST = Object.keys(migrations).at(-1)!;
/** What every database of ours has had. */
export const FIRST_MIGRATION = Object.keys(migrations)[0]!;

/**
 * Those of this version, and the names of those that a later version has made: migrations only add, so there is nothing to be done about
 * them, and a program of this version may be started beside that one, or instead of it again.
 */
async function withLater(db: Kysely<unknown>): Promise<Record<string, Migration>> {
  const { rows } = await sql<{ name: string }>`SELECT name FROM kysely_migration WHERE name > ${LAST}`.execute(db);
  return { ...migrations, ...Object.fromEntries(rows.map(({ name }) => [name, { up: async () => {} }])) };
}

/** The migrations that a database has not had yet, oldest first. It is not changed. */
export async function pendingMigrations(url: string): Promise<string[]> {
  const db = new Kysely({ dialect: new PostgresDialect({ pool: new pg.Pool({ connectionString: url, max: 1 }) }) });
  try {
    const migrator = new Migrator({ db, provider: { getMigrations: async () => migrations } });
    return (await migrator.getMigrations()).filter(({ executedAt }) => !executedAt).map(({ name }) => name);
  } finally {
    await db.destroy();
  }
}

/** Brings a database to the newest schema; several programs may call it at once. Throws what the failing migration threw. */
export async function migrate(url: string): Promise<readonly string[]> {
  const db = new Kysely<unknown>({
    dialect: new PostgresDialect({ pool: new pg.Pool({ connectionString: url, max: 2 }) }),
  });
  try {
    const migrator = new Migrator({ db, provider: { getMigrations: () => withLater(db) } });
    const { error, results } = await migrator.migrateToLatest();
    if (error) throw error;
    return (results ?? []).map((result) => result.migrationName);
  } finally {
    await db.destroy();
  }
}
