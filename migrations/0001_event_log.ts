import { type Kysely, sql } from 'kysely';

/** The log, its head, the answers of keyed requests, snapshots. See docs/why/event-log.md for the flush function. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE events (
      position  bigint PRIMARY KEY,
      stream    text   NOT NULL,
      revision  bigint NOT NULL,
      id        uuid   NOT NULL,
      type      text   NOT NULL,
      payload   text   NOT NULL,
      metadata  text   NOT NULL,
      UNIQUE (stream, revision)
    )`.execute(db);
  await sql`ALTER TABLE events SET (autovacuum_analyze_scale_factor = 0.2)`.execute(db);
  await sql`CREATE TABLE log_head (single boolean PRIMARY KEY DEFAULT true CHECK (single), position bigint NOT NULL)`.execute(
    db,
  );
  await sql`INSERT INTO log_head (position) VALUES (0)`.execute(db);
  await sql`
    CREATE TABLE keyed_answers (
      key        text PRIMARY KEY,
      body_hash  text NOT NULL,
      status     int  NOT NULL,
      body       text NOT NULL,
      stream     text NOT NULL,
      position   bigint NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now()
    )`.execute(db);
  await sql`CREATE INDEX keyed_answers_created ON keyed_answers USING brin (created_at)`.execute(db);
  await sql`
    CREATE TABLE snapshots (
      stream         text PRIMARY KEY,
      revision       bigint NOT NULL,
      position       bigint NOT NULL,
      version        int    NOT NULL,
      state          text   NOT NULL,
      command_window text   NOT NULL
    )`.execute(db);
  await sql.raw(APPEND_EVENTS).execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`DROP FUNCTION append_events`.execute(db);
  await sql`DROP TABLE snapshots, keyed_answers, log_head, events`.execute(db);
}

/**
 * One flush. Lists come as text joined by U+001E, which JSON text never holds; `e_append` and `k_append` count appends from 1.
 * The lock on log_head comes first and is a statement of its own, so that everything after it sees what the last flush wrote.
 */
const APPEND_EVENTS = `
CREATE FUNCTION append_events(
  a_stream text, a_expected bigint[],
  e_append int[], e_offset int[], e_stream text, e_id text, e_type text, e_payload text, e_metadata text,
  k_append int[], k_key text, k_body_hash text, k_status int[], k_body text
) RETURNS TABLE (first_position bigint, taken_key text) LANGUAGE plpgsql AS $$
DECLARE
  head bigint;
  ok boolean[];
  taken text[];
  firsts bigint[];
  inserted int;
BEGIN
  SELECT position INTO head FROM log_head FOR UPDATE;

  SELECT array_agg(t.key ORDER BY a.no) INTO taken
    FROM generate_series(1, cardinality(a_expected)) AS a(no)
    LEFT JOIN LATERAL (
      SELECT k.key FROM unnest(k_append, string_to_array(k_key, E'\\x1e')) AS k(append, key)
        JOIN keyed_answers USING (key) WHERE k.append = a.no LIMIT 1
    ) t ON cardinality(k_append) > 0;

  SELECT array_agg(
      COALESCE((SELECT e.revision FROM events e WHERE e.stream = a.stream ORDER BY e.revision DESC LIMIT 1), -1) = a.expected
      AND taken[a.no] IS NULL ORDER BY a.no)
    INTO ok
    FROM unnest(string_to_array(a_stream, E'\\x1e'), a_expected) WITH ORDINALITY AS a(stream, expected, no);

  WITH survivors AS (
    SELECT head + row_number() OVER (ORDER BY e.no) AS position, e.*
      FROM unnest(e_append, e_offset, string_to_array(e_stream, E'\\x1e'), string_to_array(e_id, E'\\x1e'),
                  string_to_array(e_type, E'\\x1e'), string_to_array(e_payload, E'\\x1e'), string_to_array(e_metadata, E'\\x1e'))
           WITH ORDINALITY AS e(append, step, stream, id, type, payload, metadata, no)
     WHERE ok[e.append]
  ), written AS (
    INSERT INTO events (position, stream, revision, id, type, payload, metadata)
    SELECT position, stream, a_expected[append] + 1 + step, id::uuid, type, payload, metadata FROM survivors ORDER BY no
    RETURNING 1
  )
  SELECT array_agg(f.first ORDER BY a.no), (SELECT count(*) FROM written) INTO firsts, inserted
    FROM generate_series(1, cardinality(a_expected)) AS a(no)
    LEFT JOIN (SELECT append, min(position) AS first FROM survivors GROUP BY append) f ON f.append = a.no;

  INSERT INTO keyed_answers (key, body_hash, status, body, stream, position)
  SELECT k.key, k.body_hash, k.status, k.body, (string_to_array(a_stream, E'\\x1e'))[k.append], COALESCE(firsts[k.append], head)
    FROM unnest(k_append, string_to_array(k_key, E'\\x1e'), string_to_array(k_body_hash, E'\\x1e'), k_status, string_to_array(k_body, E'\\x1e'))
         AS k(append, key, body_hash, status, body)
   WHERE ok[k.append];

  IF inserted > 0 THEN
    UPDATE log_head SET position = head + inserted;
    PERFORM pg_notify('events', (head + inserted)::text);
  END IF;

  RETURN QUERY SELECT CASE WHEN ok[a.no] THEN COALESCE(firsts[a.no], head) END, taken[a.no]
    FROM generate_series(1, cardinality(a_expected)) AS a(no) ORDER BY a.no;
END $$`;
