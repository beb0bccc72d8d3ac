import { tenantIdOf } from '../../libs/domain/platforms/platform.ts';
import type { Environment, Tenant } from '../../libs/kernel/messages.ts';
import type { Engine } from './engine.ts';

/** NOTIFY channel on which is told whose webhooks were emptied, as `<platform>.<environment>`: dispatchers drop what they have queued. */
export const WEBHOOKS_ERASED = 'webhooks_erased';

/**
 * Empties webhooks: those of a platform that mention `mention`, and those about `resources`, whosever they are. What their receivers
 * answered goes too, since a receiver may repeat what it was told, and what was still to be sent is given up: nobody sends it any more, and of
 * an attempt that is under way at this moment nothing is written down, since outcomes are of pending deliveries only. Says how many
 * were emptied.
 */
export async function eraseWebhooks(
  { pool }: Pick<Engine, 'pool'>,
  { platform, environment }: Tenant,
  erased: { mention: string; resources: readonly string[] },
): Promise<number> {
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
    const { rows } = await client.query<{ id: string; platform: string; environment: Environment }>(
      `UPDATE webhooks SET body = ''
        WHERE body <> '' AND ((platform = $1 AND environment = $2 AND position($3 IN body) > 0) OR resource = ANY($4))
        RETURNING id, platform, environment`,
      [platform, environment, erased.mention, erased.resources],
    );
    const ids = rows.map(({ id }) => id);
    await client.query(
      `UPDATE deliveries
          SET last_response = NULL, status = CASE status WHEN 'PENDING' THEN 'FAILED' ELSE status END
        WHERE webhook_id = ANY($1)`,
      [ids],
    );
    await client.query('UPDATE delivery_attempts SET response = NULL WHERE webhook_id = ANY($1)', [ids]);
    const told = [...new Set(rows.map(tenantIdOf))];
    await client.query(`SELECT pg_notify('${WEBHOOKS_ERASED}', tenant) FROM unnest($1::text[]) AS tenant`, [told]);
    await client.query('COMMIT');
    return ids.length;
  } catch (error) {
    await client.query('ROLLBACK').catch(() => {});
    throw error;
  } finally {
    client.release();
  }
}
