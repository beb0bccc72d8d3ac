import type { Engine } from '../../shared/engine.ts';
import { IS_DEAD, listDeliveries, redeliver, webhookId } from './deliveries.ts';

/** What was parked after its last try. */
export interface DeadLetter {
  /** `<process>/<stream>`, or `Webhook:<uuid>`. */
  id: string;
  kind: 'process' | 'delivery';
  /** What it is about: a stream, or a type of webhook and its resource. */
  about: string;
  platform: string;
  environment: string;
  attempts: number;
  parkedAt: string;
  error: string;
  status: 'PARKED' | 'RETRYING' | 'GIVEN_UP';
  givenUp?: { at: string; by: string; reason: string };
}

interface ProcessRow {
  process: string;
  stream: string;
  platform: string;
  environment: string;
  attempts: number;
  parked_at: Date;
  error: string;
  status: string;
  given_up_at: Date | null;
  given_up_by: string | null;
  given_up_reason: string | null;
}

export interface DeadLetterFilter {
  kind?: 'process' | 'delivery';
  platform?: string;
  /** Also what was given up. */
  all?: boolean;
}

/** Parked work of processes, oldest first, then failed deliveries, newest first; of each at most `limit`. */
export async function listDeadLetters(engine: Engine, filter: DeadLetterFilter, limit: number): Promise<DeadLetter[]> {
  const { kind, platform, all = false } = filter;
  const letters: DeadLetter[] = [];
  if (kind !== 'delivery') {
    const { rows } = await engine.pool.query<ProcessRow>(
      `SELECT * FROM dead_letters WHERE ($1::text IS NULL OR platform = $1) AND ($2 OR status <> 'GIVEN_UP')
        ORDER BY parked_at LIMIT $3`,
      [platform ?? null, all, limit],
    );
    letters.push(...rows.map(parkedWork));
  }
  if (kind !== 'process') {
    const wanted = { ...(all ? { status: 'FAILED' } : { isDead: true }), ...(platform && { platform }) };
    for (const one of await listDeliveries(engine, wanted, limit)) {
      const { id, type, resource, attemptCount, attempts, givenUp } = one;
      const last = attempts.at(-1);
      letters.push({
        id,
        kind: 'delivery',
        about: `${type} of ${resource}`,
        platform: one.platform,
        environment: one.environment,
        attempts: attemptCount,
        parkedAt: last?.attemptedAt ?? one.createdAt,
        error: last?.error ?? `HTTP ${last?.responseStatus}`,
        status: givenUp ? 'GIVEN_UP' : 'PARKED',
        ...(givenUp && { givenUp }),
      });
    }
  }
  return letters;
}

function parkedWork(row: ProcessRow): DeadLetter {
  const { process, stream, platform, environment, attempts, error, given_up_at: givenUpAt } = row;
  return {
    id: `${process}/${stream}`,
    kind: 'process',
    about: stream,
    platform,
    environment,
    attempts,
    parkedAt: row.parked_at.toISOString(),
    error,
    status: row.status.startsWith('RETRY') ? 'RETRYING' : (row.status as DeadLetter['status']),
    ...(givenUpAt && {
      givenUp: { at: givenUpAt.toISOString(), by: row.given_up_by!, reason: row.given_up_reason! },
    }),
  };
}

/** What became of parked work that was asked for again, as far as it is known. */
export type Retried = { outcome: 'DONE' | 'ASKED' } | { outcome: 'PARKED_AGAIN'; error: string };

const ASK_EVERY_MS = 100;

/**
 * Asks for one more try: of a delivery by the dispatcher, of a process's work by a worker. Waits for the worker at most `waitMs`.
 * Throws when there is no such dead letter.
 */
export async function retryDeadLetter(engine: Engine, id: string, waitMs: number): Promise<Retried> {
  const key = processKey(id);
  if (!key) {
    await redeliver(engine, webhookId(id));
    return { outcome: 'ASKED' };
  }
  const { rowCount } = await engine.pool.query(
    `UPDATE dead_letters SET status = 'RETRY', given_up_at = NULL, given_up_by = NULL, given_up_reason = NULL
      WHERE process = $1 AND stream = $2 AND status NOT LIKE 'RETRY%'`,
    key,
  );
  if (rowCount === 0 && !(await statusOf(engine, key))) throw new Error(`There is no dead letter ${id}.`);
  const deadline = performance.now() + waitMs;
  for (;;) {
    const found = await statusOf(engine, key);
    if (!found) return { outcome: 'DONE' };
    if (found.status === 'PARKED') return { outcome: 'PARKED_AGAIN', error: found.error };
    if (performance.now() > deadline) return { outcome: 'ASKED' };
    await new Promise((resolve) => setTimeout(resolve, ASK_EVERY_MS));
  }
}

async function statusOf({ pool }: Engine, key: [string, string]) {
  const { rows } = await pool.query<{ status: string; error: string }>(
    'SELECT status, error FROM dead_letters WHERE process = $1 AND stream = $2',
    key,
  );
  return rows[0];
}

/** Ends a dead letter without its work being done. Throws when there is none that waits. */
export async function giveUp(engine: Engine, id: string, why: { by: string; reason: string }): Promise<void> {
  const key = processKey(id);
  const { rowCount } = key
    ? await engine.pool.query(
        `UPDATE dead_letters SET status = 'GIVEN_UP', given_up_at = now(), given_up_by = $3, given_up_reason = $4
          WHERE process = $1 AND stream = $2 AND status = 'PARKED'`,
        [...key, why.by, why.reason],
      )
    : await engine.pool.query(
        `UPDATE deliveries d SET given_up_at = now(), given_up_by = $2, given_up_reason = $3
          WHERE webhook_id = $1 AND ${IS_DEAD}`,
        [webhookId(id), why.by, why.reason],
      );
  if (rowCount === 0) throw new Error(`There is no dead letter ${id} that waits.`);
}

/** `completePayment/payment-0195…` */
function processKey(id: string): [string, string] | undefined {
  const slash = id.indexOf('/');
  return slash < 0 ? undefined : [id.slice(0, slash), id.slice(slash + 1)];
}
