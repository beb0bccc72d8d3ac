import { type Kysely, sql } from 'kysely';

/**
 * How far the log was brought into a topic. `last_positions` holds, for each partition, the position of its last event up to there, which
 * the next message of that partition names as its predecessor.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE relays (
      topic          text PRIMARY KEY,
      partitions     int NOT NULL,
      position       bigint NOT NULL,
      last_positions bigint[] NOT NULL,
      advanced_at    timestamptz NOT NULL DEFAULT now()
    ) WITH (fillfactor = 50)`.execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`DROP TABLE relays`.execute(db);
}
