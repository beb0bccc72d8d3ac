import { type Kysely, sql } from 'kysely';

/** What stands beside the read tables (which the projector makes from their definitions): checkpoints, timers, webhooks, keys. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE checkpoints (
      name        text PRIMARY KEY,
      position    bigint NOT NULL,
      advanced_at timestamptz NOT NULL DEFAULT now()
    )`.execute(db);
  await sql`CREATE TABLE read_tables (name text PRIMARY KEY, version int NOT NULL)`.execute(db);
  await sql`
    CREATE TABLE timers (
      stream      text PRIMARY KEY,
      process     text NOT NULL,
      due_at      timestamptz NOT NULL,
      platform    text NOT NULL,
      environment text NOT NULL
    )`.execute(db);
  await sql`CREATE INDEX timers_due ON timers (due_at)`.execute(db);
  await sql`
    CREATE TABLE webhooks (
      id          uuid PRIMARY KEY,
      platform    text NOT NULL,
      environment text NOT NULL,
      type        text NOT NULL,
      resource    text NOT NULL,
      sequence    bigint NOT NULL,
      body        text NOT NULL,
      created_at  timestamptz NOT NULL,
      position    bigint NOT NULL
    )`.execute(db);
  await sql`CREATE INDEX webhooks_tenant ON webhooks (platform, environment, created_at DESC, id DESC)`.execute(db);
  await sql`
    CREATE TABLE deliveries (
      webhook_id      uuid PRIMARY KEY,
      platform        text NOT NULL,
      environment     text NOT NULL,
      status          text NOT NULL DEFAULT 'PENDING',
      attempts        int NOT NULL DEFAULT 0,
      next_attempt_at timestamptz NOT NULL DEFAULT now(),
      last_attempt_at timestamptz,
      last_status     int,
      last_error      text
    ) WITH (fillfactor = 70)`.execute(db);
  await sql`CREATE INDEX deliveries_due ON deliveries (platform, environment, next_attempt_at) WHERE status = 'PENDING'`.execute(
    db,
  );
  await sql`
    CREATE TABLE subject_keys (
      subject    text PRIMARY KEY,
      wrapped    bytea,
      created_at timestamptz NOT NULL DEFAULT now(),
      erased_at  timestamptz
    )`.execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`DROP TABLE subject_keys, deliveries, webhooks, timers, read_tables, checkpoints`.execute(db);
}
