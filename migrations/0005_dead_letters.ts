import { type Kysely, sql } from 'kysely';

/**
 * What was parked after its last try: work of a process on a stream, with what is needed to take it up again. A delivery that failed is
 * its own dead letter; an operator who gives it up says why.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE dead_letters (
      process         text NOT NULL,
      stream          text NOT NULL,
      position        bigint NOT NULL,
      revision        bigint NOT NULL,
      platform        text NOT NULL,
      environment     text NOT NULL,
      correlation_id  text NOT NULL,
      attempts        int  NOT NULL,
      error           text NOT NULL,
      first_failed_at timestamptz NOT NULL,
      parked_at       timestamptz NOT NULL DEFAULT now(),
      status          text NOT NULL DEFAULT 'PARKED',
      taken_at        timestamptz,
      given_up_at     timestamptz,
      given_up_by     text,
      given_up_reason text,
      PRIMARY KEY (process, stream)
    )`.execute(db);
  await sql`CREATE INDEX dead_letters_to_retry ON dead_letters (parked_at) WHERE status LIKE 'RETRY%'`.execute(db);
  await sql`
    ALTER TABLE deliveries
      ADD COLUMN given_up_at timestamptz, ADD COLUMN given_up_by text, ADD COLUMN given_up_reason text`.execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE deliveries DROP COLUMN given_up_at, DROP COLUMN given_up_by, DROP COLUMN given_up_reason`.execute(
    db,
  );
  await sql`DROP TABLE dead_letters`.execute(db);
}
