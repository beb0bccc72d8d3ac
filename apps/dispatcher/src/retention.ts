import type pg from 'pg';

/** How long a webhook that is done with, delivered or given up, can still be looked at and sent again. */
export const KEPT_DAYS = 30;

const BATCH = 5_000;

/**
 * Deletes webhooks that were done with long ago, with their attempts, in small transactions; says how many. Pending ones stay, and those
 * that somebody asks for at this very moment.
 */
export async function forgetOldWebhooks(pool: Pick<pg.Pool, 'query'>, days = KEPT_DAYS): Promise<number> {
  for (let forgotten = 0; ; ) {
    const { rows } = await pool.query<{ count: string }>(
      `WITH old AS (
         SELECT w.id FROM webhooks w JOIN deliveries d ON d.webhook_id = w.id
          WHERE w.created_at < now() - make_interval(days => $1) AND d.status <> 'PENDING' LIMIT $2 FOR UPDATE OF d SKIP LOCKED
       ), attempts AS (
         DELETE FROM delivery_attempts USING old WHERE webhook_id = old.id
       ), sent AS (
         DELETE FROM deliveries USING old WHERE webhook_id = old.id
       ), gone AS (
         DELETE FROM webhooks USING old WHERE webhooks.id = old.id RETURNING 1
       )
       SELECT count(*) FROM gone`,
      [days, BATCH],
    );
    const count = Number(rows[0]!.count);
    forgotten += count;
    if (count < BATCH) return forgotten;
  }
}
