import { webhookEventTypes } from '../../../libs/domain/webhooks/event-types.ts';
import { isUuid, parsePublicId, publicId } from '../../../libs/kernel/ids.ts';
import {
  type AttemptRow,
  type DeliveryRow,
  deliveryStatuses,
  webhookDeliveryView,
} from '../../../projections/webhooks/delivery.view.ts';
import type { Engine } from '../../shared/engine.ts';
import { RESENT } from '../../shared/resent-webhooks.ts';
import { Misused } from './command.ts';
import type { Output } from './output.ts';

export { deliveryStatuses };

/** A webhook as the API shows it, and whose it is. */
export type ListedDelivery = ReturnType<typeof webhookDeliveryView> & {
  platform: string;
  environment: string;
  /** Why an operator gave it up. */
  givenUp?: { at: string; by: string; reason: string };
};

export interface DeliveryFilter {
  id?: string;
  status?: string;
  platform?: string;
  environment?: string;
  type?: string;
  /** Public ids of resources that it may be about. */
  resources?: readonly string[];
  sinceMs?: number;
  /** Positions of events that caused them. */
  positions?: readonly number[];
  /** Only what failed and nobody has given up. */
  isDead?: boolean;
}

type Row = DeliveryRow & {
  platform: string;
  environment: string;
  given_up_at: Date | null;
  given_up_by: string | null;
  given_up_reason: string | null;
};

/** Types that are sent once, such as the test of an endpoint: nobody waits for one that failed. */
const SENT_ONCE = webhookEventTypes.filter(({ isRetried }) => !isRetried).map(({ type }) => `'${type}'`);

/** Failed since it was last given up, if ever, and can be sent: nobody can send what was erased. Of a delivery `d`. */
export const IS_DEAD = `d.status = 'FAILED' AND (d.given_up_at IS NULL OR d.given_up_at < d.last_attempt_at)
  AND NOT EXISTS (SELECT 1 FROM webhooks one WHERE one.id = d.webhook_id AND (one.type IN (${SENT_ONCE}) OR one.body = ''))`;

/** Webhooks with how their deliveries stand and every attempt, newest first. Bodies are not shown: they may hold personal data. */
export async function listDeliveries(
  { pool }: Pick<Engine, 'pool'>,
  filter: DeliveryFilter,
  limit: number,
): Promise<ListedDelivery[]> {
  const { where, values } = conditions(filter);
  const { rows } = await pool.query<Row>(
    `SELECT w.id, w.platform, w.environment, w.type, w.resource, w.sequence, w.created_at, d.status, d.attempts, d.next_attempt_at,
            d.last_attempt_at, d.last_status, d.last_error, d.last_duration_ms, d.last_response,
            d.given_up_at, d.given_up_by, d.given_up_reason
       FROM webhooks w JOIN deliveries d ON d.webhook_id = w.id ${where}
      ORDER BY w.created_at DESC, w.id DESC LIMIT ${limit}`,
    values,
  );
  const { rows: attempts } = await pool.query<AttemptRow & { webhook_id: string }>(
    'SELECT * FROM delivery_attempts WHERE webhook_id = ANY($1) ORDER BY number',
    [rows.map(({ id }) => id)],
  );
  const earlier = new Map<string, AttemptRow[]>(rows.map(({ id }) => [id, []]));
  for (const { webhook_id: id, ...attempt } of attempts) earlier.get(id)!.push(attempt);
  return rows.map((row) => ({
    platform: row.platform,
    environment: row.environment,
    ...webhookDeliveryView(row, earlier.get(row.id) ?? []),
    ...(isGivenUp(row) && {
      givenUp: { at: row.given_up_at!.toISOString(), by: row.given_up_by!, reason: row.given_up_reason! },
    }),
  }));
}

/** Whether an operator's word still stands: it was not sent again since, by its platform for instance. */
const isGivenUp = ({ status, given_up_at: at, last_attempt_at: last }: Row): boolean =>
  status === 'FAILED' && at !== null && (last === null || last <= at);

function conditions(filter: DeliveryFilter): { where: string; values: unknown[] } {
  const values: unknown[] = [];
  const parts: string[] = [];
  const add = (value: unknown, part: (parameter: string) => string) => {
    if (value === undefined) return;
    values.push(value);
    parts.push(part(`$${values.length}`));
  };
  add(filter.id, (p) => `w.id = ${p}`);
  add(filter.status, (p) => `d.status = ${p}`);
  add(filter.platform, (p) => `w.platform = ${p}`);
  add(filter.environment, (p) => `w.environment = ${p}`);
  add(filter.type, (p) => `w.type = ${p}`);
  add(filter.resources, (p) => `w.resource = ANY(${p})`);
  add(filter.positions, (p) => `w.position = ANY(${p}::bigint[])`);
  add(filter.sinceMs && new Date(filter.sinceMs), (p) => `w.created_at >= ${p}`);
  if (filter.isDead) parts.push(IS_DEAD);
  return { where: parts.length > 0 ? `WHERE ${parts.join(' AND ')}` : '', values };
}

/** The uuid of a webhook, named by its public id or bare. Throws when it is neither. */
export function webhookId(text: string): string {
  const uuid = parsePublicId('Webhook', text) ?? text.toLowerCase();
  if (isUuid(uuid)) return uuid;
  throw new Misused(`${text} is no webhook: give Webhook:<uuid>.`);
}

const AGAIN = `status = 'PENDING', failures = 0, started_at = now(), next_attempt_at = now(),
  given_up_at = NULL, given_up_by = NULL, given_up_reason = NULL`;

/** Makes one delivery due at once, with a fresh retry schedule, whatever became of it before. Throws when it cannot be sent. */
export async function redeliver({ pool }: Pick<Engine, 'pool'>, id: string): Promise<ListedDelivery> {
  const { rows } = await pool.query<{ platform: string; environment: string; empty: boolean }>(
    `SELECT platform, environment, body = '' AS empty FROM webhooks WHERE id = $1`,
    [id],
  );
  const [found] = rows;
  if (!found)
    throw new Error(`There is no webhook ${publicId('Webhook', id)}: it may have been forgotten after its 30 days.`);
  if (found.empty) throw new Error('Its payload was erased with the person it was about: it cannot be sent any more.');
  await pool.query(`UPDATE deliveries SET ${AGAIN} WHERE webhook_id = $1`, [id]);
  await pool.query(`SELECT pg_notify('webhooks', $1), pg_notify($2, $3)`, [
    `${found.platform}.${found.environment}`,
    RESENT,
    id,
  ]);
  const [delivery] = await listDeliveries({ pool }, { id }, 1);
  return delivery!;
}

const AT_ONCE = 5_000;

/** Makes all failed deliveries of webhooks since then due again; those that were given up or erased stay as they are. */
export async function recover(
  { pool }: Pick<Engine, 'pool'>,
  filter: { sinceMs: number; platform?: string },
  out: Pick<Output, 'progress'>,
): Promise<number> {
  for (let recovered = 0; ; ) {
    const { rowCount } = await pool.query(
      `WITH again AS (
         UPDATE deliveries SET ${AGAIN} WHERE webhook_id IN (
           SELECT d.webhook_id FROM deliveries d JOIN webhooks w ON w.id = d.webhook_id
            WHERE ${IS_DEAD} AND w.body <> '' AND w.created_at >= $1 AND ($2::text IS NULL OR w.platform = $2)
            LIMIT ${AT_ONCE})
         RETURNING webhook_id
       )
       SELECT pg_notify($3, webhook_id::text) FROM again`,
      [new Date(filter.sinceMs), filter.platform ?? null, RESENT],
    );
    await pool.query(`SELECT pg_notify('webhooks', '')`);
    recovered += rowCount ?? 0;
    if ((rowCount ?? 0) < AT_ONCE) return recovered;
    out.progress(`${recovered} deliveries are due again`);
  }
}
