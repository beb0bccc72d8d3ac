import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';

/** A webhook endpoint that remembers only which webhooks have arrived. At `/yes` it takes every payment that it is asked about. */
export class Hooks {
  private readonly server: Server;
  private readonly arrived = new Set<string>();

  private constructor() {
    this.server = createServer((request, response) => {
      request.resume().once('end', () => {
        this.arrived.add(String(request.headers['webhook-id']));
        response.writeHead(request.url === '/yes' ? 200 : 204).end();
      });
    });
  }

  static async listen(): Promise<Hooks> {
    const hooks = new Hooks();
    await new Promise<void>((resolve) => hooks.server.listen(0, '127.0.0.1', resolve));
    return hooks;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Has the platform of these credentials send its webhooks here. */
  async announceTo(port: number, authorization: string): Promise<void> {
    const webhookEndpoint = `${this.url}/`;
    const answer = await fetch(`http://127.0.0.1:${port}/2025-10-13/config`, {
      method: 'PATCH',
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify({ webhookEndpoint }),
    });
    if (!answer.ok) throw new Error(`no webhook endpoint: ${answer.status} ${await answer.text()}`);
  }

  /**
   * Waits until no delivery is left to make, then names the webhooks that never came and the deliveries that are not over. What was erased
   * is not sent, and of what is `sentOnce` the only attempt may have failed.
   */
  async missing(sql: pg.Pool, patienceMs: number, sentOnce: readonly string[] = []): Promise<string[]> {
    const deadline = performance.now() + patienceMs;
    const pending = async () =>
      (
        await sql.query<{ id: string; how: string }>(
          `SELECT w.id, concat_ws(' ', w.type, d.status, d.attempts, d.last_status, d.last_error) AS how
             FROM deliveries d JOIN webhooks w ON w.id = d.webhook_id
            WHERE d.status <> 'DELIVERED' AND w.body <> '' AND NOT (d.status = 'FAILED' AND w.type = ANY($1))`,
          [sentOnce],
        )
      ).rows;
    let left = await pending();
    while (left.length > 0 && performance.now() < deadline) {
      await sleep(200);
      left = await pending();
    }
    const { rows } = await sql.query<{ id: string }>(
      `SELECT id FROM webhooks WHERE body <> '' AND type <> ALL($1) ORDER BY position`,
      [sentOnce],
    );
    return [
      ...left.map(({ id, how }) => `${id} is not delivered: ${how}`),
      ...rows.filter(({ id }) => !this.arrived.has(`Webhook:${id}`)).map(({ id }) => `${id} never came`),
    ];
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}
