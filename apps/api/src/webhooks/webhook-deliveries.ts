import { type Kysely, type SelectQueryBuilder, sql } from 'kysely';
import { tenantIdOf } from '../../../../libs/domain/platforms/platform.ts';
import { reject } from '../../../../libs/kernel/errors.ts';
import type { Tenant } from '../../../../libs/kernel/messages.ts';
import { decodeCursor, encodeCursor, filtersHash, type Page, page } from '../../../../libs/runtime/http/index.ts';
import type { ReadModel, ReadTables } from '../../../../libs/runtime/read-model.ts';
import {
  type AttemptRow,
  type DeliveryRow,
  webhookDeliveryView,
} from '../../../../projections/webhooks/delivery.view.ts';
import { RESENT } from '../../../shared/resent-webhooks.ts';
import type { WebhookDeliveriesQuery } from './webhooks.bodies.ts';

type Delivery = ReturnType<typeof webhookDeliveryView>;
// biome-ignore lint/suspicious/noExplicitAny: the tables are joined, and the columns of ReadTables are not typed
type Rows = SelectQueryBuilder<any, any, any>;

const COUNT_UP_TO = 10_000;
/** Earlier attempts that are shown with a delivery, beside its last one. */
const EARLIER_SHOWN = 19;

const COLUMNS = [
  ...['w.id', 'w.type', 'w.resource', 'w.sequence', 'w.created_at'],
  ...['d.status', 'd.attempts', 'd.next_attempt_at', 'd.last_attempt_at'],
  ...['d.last_status', 'd.last_error', 'd.last_duration_ms', 'd.last_response'],
];

/** The webhooks of a platform and how their deliveries stand. Bodies are not shown: they may hold personal data. */
export class WebhookDeliveries {
  private readonly db: Kysely<ReadTables>;
  private readonly readModel: ReadModel;

  constructor(db: Kysely<ReadTables>, readModel: ReadModel) {
    this.db = db;
    this.readModel = readModel;
  }

  async page(tenant: Tenant, query: WebhookDeliveriesQuery): Promise<Page<Delivery>> {
    const filters = filtersHash({ ...query, list: 'webhook_deliveries', tenant });
    const after = query.cursor === undefined ? undefined : decodeCursor(query.cursor, filters);
    await this.readModel.caughtUp(this.readModel.position(tenant), tenant);
    const order = query.sortOrder ?? 'desc';
    const matching = () => narrow(this.rowsOf(tenant), query);
    let rows = selected(matching())
      .orderBy('w.created_at', order)
      .orderBy('w.id', order)
      .limit(query.limit + 1);
    if (after) {
      const beyond = sql.raw(order === 'desc' ? '<' : '>');
      rows = rows.where(sql<boolean>`(w.created_at, w.id) ${beyond} (${after.key}::timestamptz, ${after.id}::uuid)`);
    }
    const counted = matching()
      .select(sql`1`.as('one'))
      .limit(COUNT_UP_TO + 1);
    const [found, [count]] = await Promise.all([
      rows.execute() as Promise<(DeliveryRow & { key: string })[]>,
      this.db.selectFrom(counted.as('counted')).select(sql<string>`count(*)`.as('total')).execute(),
    ]);
    const earlier = await this.earlierAttempts(found);
    const total = Number(count!.total);
    return page(
      found,
      query.limit,
      total > COUNT_UP_TO ? undefined : total,
      ({ key, id }) => encodeCursor({ key, id }, filters),
      (row) => webhookDeliveryView(row, earlier.get(row.id) ?? []),
    );
  }

  /** Makes a delivery due at once, with a fresh retry schedule, whatever became of it before. */
  async redeliver(tenant: Tenant, id: string, nowMs: number): Promise<Delivery> {
    await this.readModel.caughtUp(this.readModel.position(tenant), tenant);
    const [row] = await selected(this.rowsOf(tenant)).select('w.body').where('w.id', '=', id).execute();
    if (!row) throw reject('REFERENCE_NOT_FOUND', undefined, 'There is no such webhook.');
    if (row.body === '') throw reject('CONFLICT', { reason: 'PAYLOAD_ERASED' }, 'The payload was erased.');
    const now = new Date(nowMs);
    const due = { status: 'PENDING' as const, failures: 0, started_at: now, next_attempt_at: now };
    await this.db.updateTable('deliveries').set(due).where('webhook_id', '=', id).execute();
    await sql`SELECT pg_notify('webhooks', ${tenantIdOf(tenant)}), pg_notify(${RESENT}, ${id})`.execute(this.db);
    const found: DeliveryRow = { ...(row as DeliveryRow), ...due };
    return webhookDeliveryView(found, (await this.earlierAttempts([found])).get(id) ?? []);
  }

  private rowsOf({ platform, environment }: Tenant): Rows {
    return this.db
      .selectFrom('webhooks as w')
      .innerJoin('deliveries as d', 'd.webhook_id', 'w.id')
      .where('w.platform', '=', platform)
      .where('w.environment', '=', environment) as unknown as Rows;
  }

  private async earlierAttempts(rows: readonly DeliveryRow[]): Promise<ReadonlyMap<string, AttemptRow[]>> {
    const ids = rows.filter((row) => row.attempts > 1).map((row) => row.id);
    const earlier = new Map<string, AttemptRow[]>(ids.map((id) => [id, []]));
    if (ids.length === 0) return earlier;
    const found = await sql<AttemptRow & { webhook_id: string }>`
      SELECT a.* FROM unnest(${ids}::uuid[]) AS wanted(id)
       CROSS JOIN LATERAL (
         SELECT * FROM delivery_attempts WHERE webhook_id = wanted.id ORDER BY number DESC LIMIT ${EARLIER_SHOWN}
       ) a
       ORDER BY a.number`.execute(this.db);
    for (const { webhook_id: id, ...attempt } of found.rows) earlier.get(id)!.push(attempt);
    return earlier;
  }
}

function selected(rows: Rows): Rows {
  return rows
    .select(COLUMNS)
    .select(sql<string>`to_char(w.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`.as('key'));
}

function narrow(rows: Rows, { type, status, resource, createdAfter, createdBefore }: WebhookDeliveriesQuery): Rows {
  let left = rows;
  if (type !== undefined) left = left.where('w.type', '=', type);
  if (resource !== undefined) left = left.where('w.resource', '=', resource);
  if (createdAfter !== undefined) left = left.where('w.created_at', '>=', createdAfter);
  if (createdBefore !== undefined) left = left.where('w.created_at', '<=', createdBefore);
  if (status === undefined) return left;
  // Named literally and with the platform, so that the partial indexes of what waits and what failed can serve.
  return left.where(
    sql<boolean>`d.status = ${sql.lit(status)} AND d.platform = w.platform AND d.environment = w.environment`,
  );
}
