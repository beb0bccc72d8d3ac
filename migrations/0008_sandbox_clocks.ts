import { type Kysely, sql } from 'kysely';

/**
 * How far each sandbox platform has moved its clock, as the projector has come to know it; platforms that never did have no row. Timers
 * are due by wall time: they are written, and moved, by what stands here.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE sandbox_clocks (
      platform    text NOT NULL,
      environment text NOT NULL,
      ahead_ms    bigint NOT NULL,
      PRIMARY KEY (platform, environment)
    )`.execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`DROP TABLE sandbox_clocks`.execute(db);
}
