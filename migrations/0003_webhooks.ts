import { type Kysely, sql } from 'kysely';

/**
 * Attempts of webhook deliveries. The last attempt of a delivery stands in its own row, so that the usual case, delivered at the
 * first attempt, costs one update; the earlier ones move to `delivery_attempts`. `failures` and `started_at` are the retry schedule,
 * which a redelivery starts anew; `attempts` counts on.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    ALTER TABLE deliveries
      ADD COLUMN failures int NOT NULL DEFAULT 0,
      ADD COLUMN started_at timestamptz NOT NULL DEFAULT now(),
      ADD COLUMN last_duration_ms int,
      ADD COLUMN last_response text`.execute(db);
  await sql`ALTER TABLE deliveries SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 50000)`.execute(
    db,
  );
  await sql`DROP INDEX deliveries_due`.execute(db);
  await sql`
    CREATE INDEX deliveries_due ON deliveries (platform, environment, next_attempt_at, webhook_id)
      WHERE status = 'PENDING'`.execute(db);
  await sql`CREATE INDEX deliveries_failed ON deliveries (platform, environment) WHERE status = 'FAILED'`.execute(db);
  await sql`
    CREATE TABLE delivery_attempts (
      webhook_id   uuid NOT NULL,
      number       int  NOT NULL,
      attempted_at timestamptz NOT NULL,
      status       int,
      error        text,
      duration_ms  int  NOT NULL,
      response     text,
      PRIMARY KEY (webhook_id, number)
    )`.execute(db);
  await sql`CREATE INDEX webhooks_resource ON webhooks (resource)`.execute(db);
  await sql`CREATE INDEX webhooks_created ON webhooks USING brin (created_at)`.execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`DROP INDEX webhooks_created, webhooks_resource, deliveries_failed, deliveries_due`.execute(db);
  await sql`DROP TABLE delivery_attempts`.execute(db);
  await sql`
    ALTER TABLE deliveries
      DROP COLUMN failures, DROP COLUMN started_at, DROP COLUMN last_duration_ms, DROP COLUMN last_response`.execute(
    db,
  );
  await sql`
    CREATE INDEX deliveries_due ON deliveries (platform, environment, next_attempt_at) WHERE status = 'PENDING'`.execute(
    db,
  );
}
