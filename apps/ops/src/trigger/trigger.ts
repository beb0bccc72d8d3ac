import type { PlatformState } from '../../../../libs/domain/platforms/platform.ts';
import type { WebhookEventType } from '../../../../libs/domain/webhooks/event-types.ts';
import { publicId } from '../../../../libs/kernel/ids.ts';
import type { Tenant } from '../../../../libs/kernel/messages.ts';
import type { Engine } from '../../../shared/engine.ts';
import { asClient } from './client.ts';
import { type Flow, flows } from './flows.ts';

/** A webhook that was brought about; without an id for a test, which is not kept. */
export interface Triggered {
  type: string;
  id?: string;
  resource?: string;
}

const PATIENCE_MS = 60_000;
const ASK_EVERY_MS = 100;
/** A worker tells that it is there far more often. */
const WORKER_SEEN = "interval '30 seconds'";

/** Why an event cannot be triggered on a platform, or on any when none is given; undefined when it can. */
export function hindrance(type: WebhookEventType, on?: Pick<PlatformState, 'settings'>): string | undefined {
  const flow = flows[type.event];
  if (!type.isEmitted) return 'it belongs to a feature that this version does not have';
  if (!flow) return 'no flow leads to it yet';
  return on && flow.hinders?.(on.settings);
}

/** Runs the flow that leads to an event and waits for its webhook, which a running platform makes. Throws what stands against it. */
export async function trigger(
  engine: Engine,
  { tenant, state }: { tenant: Tenant; state: PlatformState },
  type: WebhookEventType,
): Promise<Triggered> {
  const hindered = hindrance(type, state);
  if (hindered) throw new Error(`${type.type} cannot be triggered on this platform: ${hindered}.`);
  if (state.webhookEndpoint === undefined) {
    throw new Error('The platform has no webhook endpoint, so nothing is announced: set one with PATCH /config.');
  }
  await requireWorker(engine);
  const after = await engine.store.head();
  const flow = flows[type.event] as Flow;
  await asClient(engine, tenant, flow.run);
  if (type.event === 'TEST') return { type: type.type };
  return { type: type.type, ...(await announced(engine, tenant, type.type, after)) };
}

async function requireWorker({ pool }: Engine): Promise<void> {
  const { rows } = await pool.query(
    `SELECT 1 FROM leases WHERE name LIKE 'processes%' AND heartbeat_at > now() - ${WORKER_SEEN} LIMIT 1`,
  );
  if (rows.length === 0) throw new Error('No platform is running: start it with `npm start`, then trigger again.');
}

async function announced({ pool }: Engine, { platform, environment }: Tenant, type: string, after: number) {
  const giveUpMs = performance.now() + PATIENCE_MS;
  for (;;) {
    const { rows } = await pool.query<{ id: string; resource: string }>(
      `SELECT id, resource FROM webhooks WHERE platform = $1 AND environment = $2 AND type = $3 AND position > $4
        ORDER BY position DESC LIMIT 1`,
      [platform, environment, type, after],
    );
    const [found] = rows;
    if (found) return { id: publicId('Webhook', found.id), resource: found.resource };
    if (performance.now() > giveUpMs) {
      throw new Error(`The flow has run, but no ${type} has been announced within ${PATIENCE_MS / 1_000} s.`);
    }
    await new Promise((resolve) => setTimeout(resolve, ASK_EVERY_MS));
  }
}
