import { type Listener, listen } from '../../../../libs/adapters/postgres/listen.ts';
import type { Tenant } from '../../../../libs/kernel/messages.ts';
import type { Engine } from '../../../shared/engine.ts';
import { RESENT } from '../../../shared/resent-webhooks.ts';

/** A webhook as it is kept, to be forwarded. */
export interface ForwardedWebhook {
  id: string;
  type: string;
  resource: string;
  body: string;
  /** It had been announced before: somebody asked for it to be sent once more. */
  isResent: boolean;
}

interface Row {
  id: string;
  type: string;
  resource: string;
  body: string;
  created_at: Date;
  position: string;
}

const BATCH = 100;
/** What is announced later is not much older: clocks of several processes, and what waited for its projection beside others. */
const LOOKBACK = "interval '10 minutes'";
const POLL_MS = 1_000;
const REMEMBERED = 1_000;

/**
 * A platform's webhooks from now on, as they are written, in their order, and those that are sent once more. Reads beside the dispatcher
 * and changes nothing. What is asked to be sent again while the connection is lost is not seen; everything else is.
 */
export class WebhookFeed {
  private readonly engine: Pick<Engine, 'pool' | 'url'>;
  private readonly tenant: Tenant;
  private readonly listeners: Listener[] = [];
  private readonly resent: string[] = [];
  /** Given out lately, so that one that was recorded late is not given twice. */
  private readonly given = new Set<string>();
  private after = { position: '0', id: '00000000-0000-0000-0000-000000000000', createdAt: new Date(0) };
  private wake = () => {};

  constructor(engine: Pick<Engine, 'pool' | 'url'>, tenant: Tenant) {
    this.engine = engine;
    this.tenant = tenant;
  }

  async start(): Promise<void> {
    const { url, pool } = this.engine;
    this.listeners.push(
      listen(url, 'webhooks', () => this.wake()),
      listen(url, RESENT, (id) => {
        if (id !== '') this.resent.push(id);
        this.wake();
      }),
    );
    await Promise.all(this.listeners.map(({ ready }) => ready));
    const { rows } = await pool.query<{ position: string; newest: Date }>(
      `SELECT COALESCE(max(position), 0) AS position, COALESCE(max(created_at), 'epoch') AS newest
         FROM webhooks WHERE platform = $1 AND environment = $2`,
      [this.tenant.platform, this.tenant.environment],
    );
    const { position, newest } = rows[0]!;
    this.after = { position, id: 'ffffffff-ffff-ffff-ffff-ffffffffffff', createdAt: newest };
  }

  /** What is there since the last call; waits for something, but not for ever. Ends its waiting when `signal` is raised. */
  async next(signal: AbortSignal): Promise<ForwardedWebhook[]> {
    const woken = new Promise<void>((resolve) => {
      this.wake = resolve;
    });
    const found = [...(await this.newOnes()), ...(await this.resentOnes())];
    if (found.length > 0 || signal.aborted) return found;
    const wake = () => this.wake();
    const timer = setTimeout(wake, POLL_MS);
    signal.addEventListener('abort', wake, { once: true });
    await woken;
    clearTimeout(timer);
    signal.removeEventListener('abort', wake);
    return [];
  }

  async stop(): Promise<void> {
    await Promise.all(this.listeners.map((one) => one.close()));
  }

  private async newOnes(): Promise<ForwardedWebhook[]> {
    const { position, id, createdAt } = this.after;
    const { rows } = await this.engine.pool.query<Row>({
      name: 'listen_new',
      text: `SELECT id, type, resource, body, created_at, position FROM webhooks
              WHERE platform = $1 AND environment = $2 AND created_at >= $3::timestamptz - ${LOOKBACK}
                AND (position, id) > ($4::bigint, $5::uuid) ORDER BY position, id LIMIT ${BATCH}`,
      values: [this.tenant.platform, this.tenant.environment, createdAt, position, id],
    });
    const last = rows.at(-1);
    if (last) {
      const newest = Math.max(createdAt.getTime(), ...rows.map((row) => row.created_at.getTime()));
      this.after = { position: last.position, id: last.id, createdAt: new Date(newest) };
    }
    return this.give(rows, false);
  }

  private async resentOnes(): Promise<ForwardedWebhook[]> {
    const asked = this.resent.splice(0, BATCH);
    if (asked.length === 0) return [];
    const isLate = (id: string) => asked.includes(`late:${id}`);
    const { rows } = await this.engine.pool.query<Row>({
      name: 'listen_resent',
      text: `SELECT id, type, resource, body, created_at, position FROM webhooks
              WHERE id = ANY($1::uuid[]) AND platform = $2 AND environment = $3 ORDER BY position, id`,
      values: [asked.map((one) => one.replace('late:', '')), this.tenant.platform, this.tenant.environment],
    });
    const again = this.give(
      rows.filter(({ id }) => !isLate(id)),
      true,
    );
    return [
      ...this.give(
        rows.filter(({ id }) => isLate(id)),
        false,
      ),
      ...again,
    ];
  }

  /** An erased payload is not sent to anybody. */
  private give(rows: readonly Row[], isResent: boolean): ForwardedWebhook[] {
    const given = rows.filter(({ id, body }) => body !== '' && (isResent || !this.given.has(id)));
    for (const { id } of given) this.given.add(id);
    for (const id of this.given) {
      if (this.given.size <= REMEMBERED) break;
      this.given.delete(id);
    }
    return given.map(({ id, type, resource, body }) => ({ id, type, resource, body, isResent }));
  }
}
