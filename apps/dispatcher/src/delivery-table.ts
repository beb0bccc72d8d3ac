import type pg from 'pg';
import type { Cursor, Delivery } from './lane.ts';

type Queryable = Pick<pg.ClientBase, 'query'>;

/** How much of a receiver's answer is kept, in characters. */
const EXCERPT_LENGTH = 1_024;

/** What a lane asks for. */
export interface Claim {
  tenantId: string;
  size: number;
  after: Cursor | undefined;
}

/** What a lane gets: the platform's configuration, and what is due, oldest first. */
export interface Claimed {
  url: string | undefined;
  revision: string;
  deliveries: (Delivery & Cursor)[];
}

/** One attempt that is over, or a delivery that was given up without one. */
export interface Outcome {
  delivery: Delivery;
  status: 'DELIVERED' | 'PENDING' | 'FAILED';
  attemptedMs: number;
  /** HTTP status of the answer. */
  httpStatus?: number;
  /** Why there is no answer. */
  error?: string;
  durationMs: number;
  responseText?: string;
  /** When the next attempt is due, for `PENDING`. */
  nextAttemptMs?: number;
}

/** How much waits. */
export interface Backlog {
  /** Deliveries that are not over; counted up to 100,000. */
  pending: number;
  /** How long the oldest one that is due has been waiting. */
  oldestDueSeconds: number;
}

/**
 * Prepares a connection for the queries below. They are made to walk along indexes; statistics of a queue are always wrong, so the
 * planner is not asked. An outcome lost in a crash of the database means one more attempt, which at-least-once allows.
 */
export async function prepareSession(client: Queryable): Promise<void> {
  await client.query(`SET TimeZone = 'UTC'`);
  await client.query('SET synchronous_commit = off');
  for (const method of ['seqscan', 'hashjoin', 'mergejoin']) await client.query(`SET enable_${method} = off`);
  await client.query('SET jit = off');
}

/** The platforms that have an endpoint, as `<platform>.<environment>`. */
export async function tenantsWithEndpoint(client: Queryable): Promise<string[]> {
  const { rows } = await client.query<{ id: string }>({
    name: 'tenants_with_endpoint',
    text: 'SELECT id FROM platforms WHERE webhook_endpoint IS NOT NULL',
  });
  return rows.map((row) => row.id);
}

interface ClaimRow {
  tenant: string;
  url: string | null;
  revision: string;
  webhook_id: string | null;
  due_at: string;
  attempts: number;
  failures: number;
  started_at: Date;
  schedule: string;
  type: string;
  body: string;
}

/**
 * What is due for each lane after its cursor, of the shards whose bits are set (share.ts). One query, however many lanes; a platform that
 * is gone is missing in the answer.
 */
export async function claim(
  client: Queryable,
  claims: readonly Claim[],
  bits: number,
  nowMs: number,
): Promise<ReadonlyMap<string, Claimed>> {
  const { rows } = await client.query<ClaimRow>({
    name: 'claim_deliveries',
    text: `SELECT p.id AS tenant, p.webhook_endpoint AS url, p.revision, d.webhook_id, d.due_at, d.attempts, d.failures,
                  d.started_at, d.started_at::text AS schedule, w.type, w.body
             FROM unnest($1::text[], $2::int[], $3::timestamptz[], $4::uuid[]) AS lane(id, size, due_at, webhook_id)
             JOIN platforms p ON p.id = lane.id
             LEFT JOIN LATERAL (
               SELECT webhook_id, next_attempt_at::text AS due_at, next_attempt_at, attempts, failures, started_at
                 FROM deliveries
                WHERE platform = p.platform AND environment = p.environment AND status = 'PENDING'
                  AND p.webhook_endpoint IS NOT NULL
                  AND (next_attempt_at, webhook_id) > (lane.due_at, lane.webhook_id) AND next_attempt_at <= $5
                  AND ($6 & (1 << (get_byte(uuid_send(webhook_id), 15) & 7))) <> 0
                ORDER BY next_attempt_at, webhook_id LIMIT lane.size
             ) d ON true
             LEFT JOIN webhooks w ON w.id = d.webhook_id
            ORDER BY p.id, d.next_attempt_at, d.webhook_id`,
    values: [
      claims.map((c) => c.tenantId),
      claims.map((c) => c.size),
      claims.map((c) => c.after?.dueAt ?? '-infinity'),
      claims.map((c) => c.after?.webhookId ?? '00000000-0000-0000-0000-000000000000'),
      new Date(nowMs),
      bits,
    ],
  });
  const claimed = new Map<string, Claimed>();
  for (const row of rows) {
    const one = claimed.get(row.tenant) ?? { url: row.url ?? undefined, revision: row.revision, deliveries: [] };
    claimed.set(row.tenant, one);
    if (row.webhook_id === null) continue;
    const { webhook_id: webhookId, due_at: dueAt, attempts, failures, schedule, type, body } = row;
    const startedMs = row.started_at.getTime();
    one.deliveries.push({ webhookId, dueAt, attempts, failures, startedMs, schedule, type, body });
  }
  return claimed;
}

/**
 * Writes outcomes, in one statement. One whose delivery has seen another attempt since it was claimed is left out: it was written
 * already, or another dispatcher took over. Where a redelivery was asked for meanwhile, a failure is kept as an attempt and no more: it
 * says nothing of the new schedule.
 */
export async function record(client: Queryable, outcomes: readonly Outcome[]): Promise<void> {
  const isRepeated = outcomes.some(({ delivery }) => delivery.attempts > 0);
  await client.query({
    name: isRepeated ? 'record_attempts' : 'record_first_attempts',
    text: isRepeated
      ? `WITH ${OUTCOME}, recorded AS (${RECORD} RETURNING d.webhook_id) ${KEEP_EARLIER}`
      : `WITH ${OUTCOME} ${RECORD}`,
    values: [
      outcomes.map((o) => o.delivery.webhookId),
      outcomes.map((o) => o.delivery.attempts),
      outcomes.map((o) => o.delivery.failures + (o.status === 'DELIVERED' ? 0 : 1)),
      outcomes.map((o) => o.status),
      outcomes.map((o) => (o.nextAttemptMs === undefined ? null : new Date(o.nextAttemptMs))),
      outcomes.map((o) => new Date(o.attemptedMs)),
      outcomes.map((o) => o.httpStatus ?? null),
      outcomes.map((o) => o.error ?? null),
      outcomes.map((o) => o.durationMs),
      outcomes.map((o) => o.responseText?.slice(0, EXCERPT_LENGTH) || null),
      outcomes.map((o) => o.delivery.schedule),
    ],
  });
}

/**
 * A condition that no index has: each delivery is to be found by its id. With `d.status = 'PENDING'` the planner, which takes the queue to
 * be short, reads the whole index of what is due for each of them.
 */
const IS_PENDING = `d.status || '' = 'PENDING'`;

/** The attempt failed, under a schedule that a redelivery has taken the place of. */
const IS_ASKED_ANEW = `o.status <> 'DELIVERED' AND d.started_at <> o.schedule`;

const OUTCOME = `outcome AS (
             SELECT * FROM unnest($1::uuid[], $2::int[], $3::int[], $4::text[], $5::timestamptz[], $6::timestamptz[],
                                  $7::int[], $8::text[], $9::int[], $10::text[], $11::timestamptz[])
               AS o(webhook_id, attempts, failures, status, next_attempt_at, attempted_at,
                    http_status, error, duration_ms, response, schedule)
           )`;

const RECORD = `UPDATE deliveries d
              SET status = CASE WHEN ${IS_ASKED_ANEW} THEN d.status ELSE o.status END, attempts = d.attempts + 1,
                  failures = CASE WHEN ${IS_ASKED_ANEW} THEN d.failures ELSE o.failures END,
                  next_attempt_at = CASE WHEN ${IS_ASKED_ANEW} THEN d.next_attempt_at
                                    ELSE COALESCE(o.next_attempt_at, d.next_attempt_at) END, last_attempt_at = o.attempted_at,
                  last_status = o.http_status, last_error = o.error, last_duration_ms = o.duration_ms,
                  last_response = o.response
             FROM outcome o WHERE d.webhook_id = o.webhook_id AND d.attempts = o.attempts AND ${IS_PENDING}`;

/** The last attempt until now, of what was recorded only: what a delivery says that was erased meanwhile is not to come back. */
const KEEP_EARLIER = `INSERT INTO delivery_attempts (webhook_id, number, attempted_at, status, error, duration_ms, response)
           SELECT d.webhook_id, d.attempts, d.last_attempt_at, d.last_status, d.last_error, d.last_duration_ms, d.last_response
             FROM recorded JOIN deliveries d USING (webhook_id) WHERE d.attempts > 0
           ON CONFLICT DO NOTHING`;

/** How much waits now. */
export async function backlog(client: Queryable, nowMs: number): Promise<Backlog> {
  const { rows } = await client.query<{ pending: string; oldest: Date | null }>({
    name: 'delivery_backlog',
    text: `SELECT (SELECT count(*) FROM (SELECT 1 FROM deliveries WHERE status = 'PENDING' LIMIT 100000) counted) AS pending,
                  (SELECT min(first.next_attempt_at)
                     FROM platforms p
                    CROSS JOIN LATERAL (
                      SELECT next_attempt_at FROM deliveries
                       WHERE platform = p.platform AND environment = p.environment AND status = 'PENDING'
                       ORDER BY next_attempt_at LIMIT 1
                    ) first
                    WHERE p.webhook_endpoint IS NOT NULL) AS oldest`,
  });
  const { pending, oldest } = rows[0]!;
  return {
    pending: Number(pending),
    oldestDueSeconds: oldest ? Math.max(0, (nowMs - oldest.getTime()) / 1_000) : 0,
  };
}
