import { type Kysely, sql } from 'kysely';

/** What an unfinished rebuild was stopped by, when it was an event that cannot be projected: nothing else may be passed over. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE rebuilds ADD COLUMN last_error text`.execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE rebuilds DROP COLUMN last_error`.execute(db);
}
