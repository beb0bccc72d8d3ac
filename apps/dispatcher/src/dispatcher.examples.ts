import { randomUUID } from 'node:crypto';
import { account, ReceiveDeposit } from '../../../libs/domain/accounts/account.ts';
import { platformPublicId, tenantIdOf } from '../../../libs/domain/platforms/platform.ts';
import { nextAttemptDelayMs } from '../../../libs/domain/webhooks/backoff.ts';
import type { Tenant } from '../../../libs/kernel/messages.ts';
import { createSender } from '../../../libs/runtime/webhooks/sender.ts';
import { untilProjected } from '../../../test/activity.ts';
import { startTestPlatform, type TestPlatform } from '../../../test/platform.ts';
import { type Answer, type Received, type Receiver, setEndpoint, startReceiver } from '../../../test/receiver.ts';
import { platformAccountId } from '../../shared/provision.ts';
import type { Dispatcher } from './dispatcher.ts';
import type { DispatcherConfig } from './index.ts';

export const BALANCE = 'INTERNAL_ACCOUNT.BALANCE_UPDATED';

/** A delivery as it is stored. */
export interface DeliveryRow {
  status: string;
  attempts: number;
  failures: number;
  last_status: number | null;
  last_error: string | null;
  last_response: string | null;
  last_attempt_at: Date | null;
  next_attempt_at: Date;
}

/** Asks until it is so; the test's time limit is the only limit. */
export async function eventually<T>(ask: () => Promise<T>, isSo: (answer: T) => boolean): Promise<T> {
  for (;;) {
    const answer = await ask();
    if (isSo(answer)) return answer;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** A platform, real receivers, and dispatchers whose clock can be put forward. */
export class Scene {
  readonly platform: TestPlatform;
  /** How far the dispatchers' clock is ahead. */
  aheadMs = 0;
  private readonly receivers: Receiver[] = [];
  private readonly clock = { nowMs: () => Date.now() + this.aheadMs };

  private constructor(platform: TestPlatform) {
    this.platform = platform;
  }

  static async set(): Promise<Scene> {
    return new Scene(await startTestPlatform());
  }

  async clear(): Promise<void> {
    await Promise.all(this.receivers.map((receiver) => receiver.stop()));
    await this.platform.stop();
  }

  async receiver(answer?: (request: Received, number: number) => Answer | Promise<Answer>): Promise<Receiver> {
    const started = await startReceiver(answer);
    this.receivers.push(started);
    return started;
  }

  /** Starts a dispatcher; every retry takes its longest delay. */
  start(config: Partial<DispatcherConfig> = {}): Dispatcher {
    const delayMs = (failure: number) => nextAttemptDelayMs(failure, 0);
    const started = this.platform.dispatcher({ clock: this.clock, delayMs, ...config });
    started.start();
    return started;
  }

  /** For `start` where a receiver never answers: its attempts hang for as long as the test takes. */
  static patient(): Partial<DispatcherConfig> {
    return { sender: createSender({ allowPrivateTargets: true, timeoutMs: 600_000, connectionsPerTarget: 128 }) };
  }

  /** Sets the endpoint of a platform. */
  listen(tenant: Tenant, url: string): Promise<void> {
    return setEndpoint(this.platform.engine.writePath, tenant, url);
  }

  /** Causes two webhooks: the balance of the account, and the transaction. */
  async deposit(tenant: Tenant, amountMinor = 100n): Promise<void> {
    const paymentId = randomUUID();
    const command = new ReceiveDeposit({
      accountId: platformAccountId(tenant, 'USD'),
      tenantId: tenantIdOf(tenant),
      platformCustomerId: platformPublicId(tenant),
      currency: 'USD',
      amountMinor,
      counterpart: 'mint:USD',
      paymentId,
      reference: 'TEST',
    });
    const envelope = { commandId: paymentId, correlationId: paymentId, actor: 'test', tenant };
    await this.platform.engine.writePath.execute(account, command, envelope);
  }

  /** The deliveries of a type, oldest first. */
  async rows(type: string): Promise<DeliveryRow[]> {
    const { rows } = await this.platform.engine.pool.query<DeliveryRow>(
      'SELECT d.* FROM deliveries d JOIN webhooks w ON w.id = d.webhook_id WHERE w.type = $1 ORDER BY w.position',
      [type],
    );
    return rows;
  }

  /** The same, as soon as each has had so many attempts. */
  recorded(type: string, attempts: number): Promise<DeliveryRow[]> {
    return eventually(
      () => this.rows(type),
      (found) => found.length > 0 && found.every((row) => row.attempts >= attempts),
    );
  }

  /** Waits until all that has happened was announced, and every webhook has been delivered. */
  async delivered(): Promise<void> {
    await untilProjected(this.platform);
    const left = async () => {
      const { rows } = await this.platform.engine.pool.query(`SELECT 1 FROM deliveries WHERE status <> 'DELIVERED'`);
      return rows.length;
    };
    await eventually(left, (count) => count === 0);
  }
}
