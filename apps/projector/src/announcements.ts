import type pg from 'pg';
import { tenantIdOf } from '../../../libs/domain/platforms/platform.ts';
import { recordedAt } from '../../../libs/kernel/clock.ts';
import type { RecordedEvent, Tenant } from '../../../libs/kernel/messages.ts';
import { platforms } from '../../../projections/platforms.ts';
import { webhookOf } from '../../../projections/webhooks/body.ts';
import type { Announced } from './batch.ts';

/** JSON text never holds this control character, so a list of JSON texts travels as one text: arrays are escaped twice. */
const SEPARATOR = '\u001e';
/** Platforms that are remembered. */
const KNOWN = 10_000;

/**
 * Which platforms have an endpoint: what is announced to the others need not even be made. What is known is forgotten with every event
 * that may change it; a platform that such an event is about is taken to have one, and the write decides.
 */
export class Listeners {
  private readonly known = new Map<string, boolean>();

  /** Looks up the platforms of these events, which are projected next. */
  async of(
    client: Pick<pg.ClientBase, 'query'>,
    events: readonly RecordedEvent[],
  ): Promise<(tenant: Tenant) => boolean> {
    const tenants = new Set(events.map(({ meta }) => tenantIdOf(meta.tenant)));
    const changed = new Set(
      events.filter(({ type }) => platforms.handles.includes(type)).map(({ meta }) => tenantIdOf(meta.tenant)),
    );
    for (const tenant of changed) this.known.delete(tenant);
    const unknown = [...tenants].filter((tenant) => !this.known.has(tenant) && !changed.has(tenant));
    if (unknown.length > 0) await this.lookUp(client, unknown);
    return (tenant) => this.known.get(tenantIdOf(tenant)) ?? true;
  }

  clear(): void {
    this.known.clear();
  }

  private async lookUp(client: Pick<pg.ClientBase, 'query'>, tenants: readonly string[]): Promise<void> {
    const { rows } = await client.query<{ id: string }>({
      name: 'listeners',
      text: 'SELECT id FROM platforms WHERE id = ANY($1) AND webhook_endpoint IS NOT NULL',
      values: [tenants],
    });
    if (this.known.size + tenants.length > KNOWN) this.known.clear();
    for (const tenant of tenants) this.known.set(tenant, false);
    for (const { id } of rows) this.known.set(id, true);
  }
}

/**
 * Writes the webhooks of a batch: body and delivery state apart, so that an attempt rewrites a small row only. Platforms without an
 * endpoint get none. The id derives from the event, so a batch that is applied again writes nothing again. The dispatcher is told
 * whose deliveries there are, on the channel `webhooks`; an empty list stands for everybody's. Events up to the position `deliveries`,
 * which an import sets, are history that was announced elsewhere.
 */
export async function writeAnnouncements(
  client: Pick<pg.ClientBase, 'query'>,
  announced: readonly Announced[],
): Promise<void> {
  if (announced.length === 0) return;
  const rows = announced.map(({ announcement, event, tenant }) => {
    const { id, body } = webhookOf(announcement, event);
    const { type, resource, sequence } = announcement;
    return {
      id,
      type,
      resource,
      sequence,
      body: JSON.stringify(body),
      at: recordedAt(event),
      position: event.position,
      ...tenant,
    };
  });
  await client.query({
    name: 'write_webhooks',
    text: `WITH announced AS (
             SELECT w.* FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::bigint[], string_to_array($7, E'\\x1e'), $8::timestamptz[], $9::bigint[])
               AS w(id, platform, environment, type, resource, sequence, body, created_at, position)
               JOIN platforms p ON p.platform = w.platform AND p.environment = w.environment AND p.webhook_endpoint IS NOT NULL
              WHERE w.position > COALESCE((SELECT position FROM checkpoints WHERE name = 'deliveries'), 0)
           ), written AS (
             INSERT INTO webhooks (id, platform, environment, type, resource, sequence, body, created_at, position)
             SELECT id, platform, environment, type, resource, sequence, body, created_at, position FROM announced
             ON CONFLICT (id) DO NOTHING RETURNING id, platform, environment
           ), due AS (
             INSERT INTO deliveries (webhook_id, platform, environment) SELECT id, platform, environment FROM written
             RETURNING platform || '.' || environment AS tenant
           )
           SELECT pg_notify('webhooks', CASE WHEN count(DISTINCT tenant) <= 100 THEN string_agg(DISTINCT tenant, ',') ELSE '' END)
             FROM due HAVING count(*) > 0`,
    values: [
      rows.map((r) => r.id),
      rows.map((r) => r.platform),
      rows.map((r) => r.environment),
      rows.map((r) => r.type),
      rows.map((r) => r.resource),
      rows.map((r) => r.sequence),
      rows.map((r) => r.body).join(SEPARATOR),
      rows.map((r) => r.at),
      rows.map((r) => r.position),
    ],
  });
}
