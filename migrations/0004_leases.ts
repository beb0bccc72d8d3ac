import { type Kysely, sql } from 'kysely';

/**
 * Leases, and what operators are shown beside a checkpoint. A lease's token is part of a unique key on purpose: changing it then waits for
 * transactions that hold the row `FOR KEY SHARE` and have checked the token, while a heartbeat does not (libs/adapters/postgres/lease.ts).
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE leases (
      name         text PRIMARY KEY,
      owner        text,
      pid          int  NOT NULL,
      machine      text NOT NULL,
      token        bigint NOT NULL,
      acquired_at  timestamptz NOT NULL,
      heartbeat_at timestamptz NOT NULL,
      UNIQUE (name, token)
    ) WITH (fillfactor = 50)`.execute(db);
  await sql`ALTER TABLE checkpoints ADD COLUMN mark text, ADD COLUMN last_error text, ADD COLUMN failed_at timestamptz`.execute(
    db,
  );
  await sql`
    CREATE TABLE projection_skips (
      position   bigint PRIMARY KEY,
      ordered_by text NOT NULL,
      skipped_at timestamptz NOT NULL DEFAULT now()
    )`.execute(db);
  await sql`
    CREATE TABLE rebuilds (
      name       text PRIMARY KEY,
      version    int NOT NULL,
      position   bigint NOT NULL,
      skips      text NOT NULL,
      updated_at timestamptz NOT NULL DEFAULT now()
    )`.execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`DROP TABLE rebuilds, projection_skips, leases`.execute(db);
  await sql`ALTER TABLE checkpoints DROP COLUMN mark, DROP COLUMN last_error, DROP COLUMN failed_at`.execute(db);
}
