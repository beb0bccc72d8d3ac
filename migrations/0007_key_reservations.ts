import { type Kysely, sql } from 'kysely';

/**
 * Keyed requests that were begun, for event stores that cannot write an answer in the commit that it rests on. `position`: where the log
 * stood, or before, when the key was first reserved. `body_hash` is empty when the last attempt was refused.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE key_reservations (
      key        text PRIMARY KEY,
      body_hash  text,
      position   bigint NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now()
    )`.execute(db);
  await sql`CREATE INDEX key_reservations_created ON key_reservations USING brin (created_at)`.execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`DROP TABLE key_reservations`.execute(db);
}
