import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import {
  platform as platformDecider,
  RotateWebhookSecret,
  tenantIdOf,
} from '../../../libs/domain/platforms/platform.ts';
import { newWebhookSecret } from '../../../libs/runtime/webhooks/signing.ts';
import type { TestPlatform } from '../../../test/platform.ts';
import { webhookSecretsOf } from '../../shared/webhook-secrets.ts';
import { BALANCE, eventually, Scene } from './dispatcher.examples.ts';

let scene: Scene;
let platform: TestPlatform;

beforeEach(async () => {
  scene = await Scene.set();
  platform = scene.platform;
});
afterEach(() => scene.clear());

describe('platforms', () => {
  test('one whose receiver never answers does not hold up another one', async () => {
    const other = await platform.another();
    const slow = await scene.receiver(() => 'hang');
    const fast = await scene.receiver();
    await scene.listen(platform.tenant, slow.url);
    await scene.listen(other.tenant, fast.url);
    for (let i = 0; i < 100; i++) await scene.deposit(platform.tenant);
    scene.start({ ...Scene.patient(), maxInFlight: 16 });
    await slow.until(1);
    for (let i = 0; i < 100; i++) await scene.deposit(other.tenant);
    await fast.until(100, BALANCE);
    expect(slow.received.length).toBeLessThanOrEqual(8);
  });

  test('one whose secrets cannot be read does not hold up another one, and is sent its own once they can', async () => {
    const other = await platform.another();
    const [hooks, others] = [await scene.receiver(), await scene.receiver()];
    let isBroken = true;
    const said: string[] = [];
    scene.start({
      secrets: async (tenant) => {
        if (isBroken && tenant.platform === platform.tenant.platform) throw new Error('the event store is silent');
        return webhookSecretsOf(platform.engine, tenant);
      },
      log: (_, message) => said.push(message),
    });
    await scene.listen(platform.tenant, hooks.url);
    await scene.listen(other.tenant, others.url);
    for (let i = 0; i < 3; i++) {
      await scene.deposit(other.tenant);
      await others.until(i + 1, BALANCE);
    }
    expect([hooks.received, said]).toEqual([[], [expect.stringContaining(platform.tenant.platform)]]);
    isBroken = false;
    await hooks.until(1, 'TEST');
  });

  test('get their own secrets', async () => {
    const other = await platform.another();
    const hooks = await scene.receiver();
    scene.start();
    await scene.listen(platform.tenant, hooks.url);
    await scene.listen(other.tenant, hooks.url);
    const sent = await hooks.until(2, 'TEST');
    const secrets = await Promise.all([platform, other].map(({ tenant }) => webhookSecretsOf(platform.engine, tenant)));
    const fits = sent.map(({ body, headers }) =>
      secrets.map(([held]) => {
        try {
          new Webhook(held!.secret).verify(body.toString('utf8'), headers as Record<string, string>);
          return true;
        } catch {
          return false;
        }
      }),
    );
    expect(fits.sort()).toEqual([
      [false, true],
      [true, false],
    ]);
  });
});

test('a replaced secret signs beside the new one until its time is up', async () => {
  const hooks = await scene.receiver();
  scene.start();
  const { engine, tenant } = platform;
  await scene.listen(tenant, hooks.url);
  await hooks.until(1, 'TEST');
  const [{ secret: older }] = (await webhookSecretsOf(engine, tenant)) as [{ secret: string }];
  const newer = newWebhookSecret(Buffer.alloc(32, 5));
  const now = new Date().toISOString();
  const previousValidUntil = new Date(Date.parse(now) + 3_600_000).toISOString();
  const commandId = randomUUID();
  await engine.writePath.execute(
    platformDecider,
    new RotateWebhookSecret({ tenantId: tenantIdOf(tenant), webhookSecret: newer, previousValidUntil, now }),
    { commandId, correlationId: commandId, actor: 'test', tenant },
  );
  /** At which place of `webhook-signature` each of the two secrets stands, on the deposit of that number. */
  const signedWith = async (number: number) => {
    await scene.deposit(tenant);
    const { headers, body } = (await hooks.until(number, BALANCE))[number - 1]!;
    const at = new Date(Number(headers['webhook-timestamp']) * 1_000);
    const macs = [newer, older].map((secret) =>
      new Webhook(secret).sign(`${headers['webhook-id']}`, at, body.toString('utf8')),
    );
    return macs.map((mac) => `${headers['webhook-signature']}`.split(' ').indexOf(mac));
  };
  expect(await signedWith(1)).toEqual([0, 1]);
  scene.aheadMs += 3_600_000;
  expect(await signedWith(2)).toEqual([0, -1]);
});

describe('a dispatcher that ends', () => {
  test('in the middle loses nothing: what was not answered is sent by the next one', async () => {
    const hooks = await scene.receiver((_, number) => (number > 20 && number <= 30 ? 'hang' : 204));
    const { tenant } = platform;
    await scene.listen(tenant, hooks.url);
    for (let i = 0; i < 60; i++) await scene.deposit(tenant);
    const first = scene.start({ maxInFlightPerPlatform: 10 });
    await hooks.until(30);
    await first.stop({ graceMs: 0 });
    scene.start();
    await scene.delivered();
    const ids = hooks.received.filter(({ event }) => event.type === BALANCE).map(({ event }) => event.sequence);
    expect([...new Set(ids)].sort((a, b) => a - b)).toEqual(Array.from({ length: 60 }, (_, i) => i + 2));
  });

  test('on purpose waits for the answers under way, and nothing is sent twice', async () => {
    const hooks = await scene.receiver();
    const { tenant } = platform;
    await scene.listen(tenant, hooks.url);
    for (let i = 0; i < 40; i++) await scene.deposit(tenant);
    const first = scene.start({ maxInFlightPerPlatform: 4 });
    await hooks.until(10);
    await first.stop();
    scene.start();
    await scene.delivered();
    const ids = hooks.received.map(({ event }) => event.id);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test('with its database connection goes on with a new one', async () => {
    const hooks = await scene.receiver();
    const { engine, tenant } = platform;
    scene.start({ log: () => {} });
    await scene.listen(tenant, hooks.url);
    for (let i = 0; i < 20; i++) await scene.deposit(tenant);
    await hooks.until(10);
    const cut = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'ledgerline-dispatcher' AND datname = current_database()`;
    await engine.pool.query(cut);
    for (let i = 0; i < 20; i++) await scene.deposit(tenant);
    await eventually(
      () => scene.rows(BALANCE),
      (found) => found.length === 40 && found.every((row) => row.status === 'DELIVERED'),
    );
    const sequences = hooks.received.filter(({ event }) => event.type === BALANCE).map(({ event }) => event.sequence);
    expect([...new Set(sequences)].sort((a, b) => a - b)).toEqual(Array.from({ length: 40 }, (_, i) => i + 2));
  });

  test('two of them share the deliveries, and everything is sent once', async () => {
    const hooks = await scene.receiver();
    const { tenant, engine } = platform;
    const sent = [0, 0];
    const lease = { pollMs: 20 };
    const shards = (taken: number, condition: string) =>
      eventually(
        () => engine.pool.query(`SELECT 1 FROM leases WHERE name ~ '^deliveries/\\d$' AND ${condition}`),
        ({ rowCount }) => rowCount === taken,
      );
    scene.start({ lease, attempted: () => (sent[0]! += 1) });
    await shards(8, 'token = 1');
    scene.start({ lease, attempted: () => (sent[1]! += 1) });
    await shards(4, 'token = 2');
    await scene.listen(tenant, hooks.url);
    for (let i = 0; i < 60; i++) await scene.deposit(tenant);
    await scene.delivered();
    expect(await scene.rows(BALANCE)).toHaveLength(60);
    const ids = hooks.received.map(({ event }) => event.id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(sent[0]! + sent[1]!).toBe(ids.length);
    expect(Math.min(...sent)).toBeGreaterThan(0);
  });

  test('one that is not heard of any more is replaced, and what it recorded too late changes nothing', async () => {
    let answer: () => void = () => {};
    const answered = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const hooks = await scene.receiver((_, number) => (number === 1 ? answered.then(() => 500) : 204));
    const { tenant, engine } = platform;
    const still = 3_600_000;
    scene.start({ lease: { heartbeatMs: still, pollMs: still }, log: () => {} });
    await scene.listen(tenant, hooks.url);
    await hooks.until(1);
    await engine.pool.query(`UPDATE leases SET heartbeat_at = now() - interval '1 minute' WHERE name ~ '^deliveries'`);
    scene.start();
    await hooks.until(2);
    await scene.delivered();
    answer();
    await scene.deposit(tenant);
    await scene.delivered();
    const { rows } = await engine.pool.query(`SELECT DISTINCT status, attempts FROM deliveries`);
    expect(rows).toEqual([{ status: 'DELIVERED', attempts: 1 }]);
  });
});
