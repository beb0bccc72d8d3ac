import { createPublicKey } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { publicId } from '../../../libs/kernel/ids.ts';
import { publicPemOf, verifyServiceSignature } from '../../../libs/runtime/webhooks/signing.ts';
import type { TestPlatform } from '../../../test/platform.ts';
import { redeliver } from '../../ops/src/deliveries.ts';
import { eraseWebhooks } from '../../shared/erase-webhooks.ts';
import { platformAccountId } from '../../shared/provision.ts';
import { serviceKeys } from '../../shared/service-keys.ts';
import { webhookSecretsOf } from '../../shared/webhook-secrets.ts';
import { BALANCE, eventually, Scene } from './dispatcher.examples.ts';

let scene: Scene;
let platform: TestPlatform;

beforeEach(async () => {
  scene = await Scene.set();
  platform = scene.platform;
});
afterEach(() => scene.clear());

describe('a delivery', () => {
  test('carries the resource after its event and both signatures', async () => {
    const hooks = await scene.receiver();
    scene.start();
    await scene.listen(platform.tenant, hooks.url);
    const [first] = await hooks.until(1, 'TEST');
    expect(first!.event).toEqual({
      id: expect.stringMatching(/^Webhook:[0-9a-f-]{36}$/),
      type: 'TEST',
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      sequence: 0,
      data: {},
    });

    await scene.deposit(platform.tenant, 5n);
    await scene.deposit(platform.tenant, 7n);
    const balances = await hooks.until(2, BALANCE);
    const id = publicId('InternalAccount', platformAccountId(platform.tenant, 'USD'));
    const told = balances.map(({ event }) => [event.sequence, (event.data.balance as { amount: number }).amount]);
    expect(told.sort()).toEqual([
      [2, 5],
      [3, 12],
    ]);
    expect(balances[0]!.event.data.id).toBe(id);

    const [{ secret }] = (await webhookSecretsOf(platform.engine, platform.tenant)) as [{ secret: string }];
    const publicKey = createPublicKey(publicPemOf(serviceKeys(platform.engine)('sandbox')));
    for (const { headers, body, event } of [first!, ...balances]) {
      expect(headers['webhook-id']).toBe(event.id);
      expect(new Webhook(secret).verify(body.toString('utf8'), headers as Record<string, string>)).toEqual(event);
      const header = String(headers['x-service-signature']);
      expect(verifyServiceSignature({ header, body, publicKey })).toBe(true);
    }
    const found = await scene.recorded(BALANCE, 1);
    expect(found.map((row) => [row.status, row.attempts, row.last_status])).toEqual([
      ['DELIVERED', 1, 204],
      ['DELIVERED', 1, 204],
    ]);
  });

  test.each([
    ['through the API', (id: string) => platform.api('post', `/webhooks/deliveries/${id}/redeliver`).expect(200)],
    ['by an operator', (id: string) => redeliver(platform.engine, id.slice('Webhook:'.length))],
  ])('that is asked for anew %s while an attempt fails is made with a fresh schedule', async (_, ask) => {
    const fail: (() => void)[] = [];
    const hooks = await scene.receiver(({ event }) =>
      event.type === BALANCE && fail.length === 0 ? new Promise((resolve) => fail.push(() => resolve(500))) : 204,
    );
    scene.start({ delayMs: () => 'GIVE_UP' });
    await scene.listen(platform.tenant, hooks.url);
    await scene.deposit(platform.tenant);
    const [first] = await hooks.until(1, BALANCE);
    await ask(first!.event.id);
    fail[0]!();
    const [row] = await scene.recorded(BALANCE, 2);
    expect([row!.status, row!.attempts, row!.failures, row!.last_status]).toEqual(['DELIVERED', 2, 0, 204]);
    const { body } = await platform.api('get', `/webhooks/deliveries?type=${BALANCE}`).expect(200);
    expect(body.data[0].attempts).toMatchObject([{ responseStatus: 500 }, { responseStatus: 204 }]);
  });

  test('is tried again until it is received, later each time, with the same id and body', async () => {
    const hooks = await scene.receiver(({ event }) => (event.type !== BALANCE ? 204 : ([500, 503][tries++] ?? 200)));
    let tries = 0;
    scene.start();
    await scene.listen(platform.tenant, hooks.url);
    await scene.deposit(platform.tenant);

    for (const [failed, status, delayMs] of [
      [1, 500, 5_000],
      [2, 503, 10_000],
    ] as const) {
      const [row] = await scene.recorded(BALANCE, failed);
      expect([row!.status, row!.failures, row!.last_status, row!.last_response]).toEqual([
        'PENDING',
        failed,
        status,
        `said ${status}`,
      ]);
      expect(row!.next_attempt_at.getTime() - row!.last_attempt_at!.getTime()).toBe(delayMs);
      expect(hooks.received.filter(({ event }) => event.type === BALANCE)).toHaveLength(failed);
      scene.aheadMs += delayMs;
    }
    const [row] = await scene.recorded(BALANCE, 3);
    expect([row!.status, row!.attempts, row!.last_status]).toEqual(['DELIVERED', 3, 200]);
    const sent = await hooks.until(3, BALANCE);
    expect(new Set(sent.map(({ body }) => body.toString()))).toHaveProperty('size', 1);
    const stamps = sent.map(({ headers }) => Number(headers['webhook-timestamp']));
    expect([stamps[1]! - stamps[0]! >= 5, stamps[2]! - stamps[1]! >= 10]).toEqual([true, true]);

    const { rows: earlier } = await platform.engine.pool.query(
      'SELECT number, status, response FROM delivery_attempts ORDER BY number',
    );
    expect(earlier).toEqual([
      { number: 1, status: 500, response: 'said 500' },
      { number: 2, status: 503, response: 'said 503' },
    ]);
  });

  test('is over when the receiver says that it has it already', async () => {
    const hooks = await scene.receiver(() => 409);
    scene.start();
    await scene.listen(platform.tenant, hooks.url);
    await scene.deposit(platform.tenant);
    const [row] = await scene.recorded(BALANCE, 1);
    expect([row!.status, row!.last_status]).toEqual(['DELIVERED', 409]);
  });

  test('of a TEST event is tried once', async () => {
    const hooks = await scene.receiver(() => 500);
    scene.start();
    await scene.listen(platform.tenant, hooks.url);
    const [row] = await scene.recorded('TEST', 1);
    expect([row!.status, row!.failures, row!.last_status]).toEqual(['FAILED', 1, 500]);
  });

  test('is given up when the schedule ends, and seven days after it began', async () => {
    const hooks = await scene.receiver(() => 500);
    scene.start({ delayMs: (failure) => (failure === 2 ? 'GIVE_UP' : 3_600_000) });
    await scene.listen(platform.tenant, hooks.url);
    await scene.deposit(platform.tenant);
    await scene.recorded(BALANCE, 1);
    scene.aheadMs += 3_600_000;
    await eventually(
      () => scene.rows(BALANCE),
      ([row]) => row!.status === 'FAILED' && row!.attempts === 2,
    );

    await scene.deposit(platform.tenant);
    await eventually(
      () => scene.rows(BALANCE),
      ([, row]) => row?.attempts === 1,
    );
    scene.aheadMs += 7 * 24 * 3_600_000;
    const [, late] = await eventually(
      () => scene.rows(BALANCE),
      ([, row]) => row?.status === 'FAILED',
    );
    expect([late!.attempts, late!.last_error]).toEqual([2, 'EXPIRED: The platform had no endpoint for too long.']);
    expect(hooks.received.filter(({ event }) => event.type === BALANCE)).toHaveLength(3);
  });

  test('to a private address is refused where that is not allowed, and tried again', async () => {
    const hooks = await scene.receiver();
    scene.start({ allowPrivateTargets: false });
    await scene.listen(platform.tenant, hooks.url.replace('http:', 'https:'));
    await scene.deposit(platform.tenant);
    const [row] = await scene.recorded(BALANCE, 1);
    expect([row!.status, row!.last_status, row!.last_error]).toEqual([
      'PENDING',
      null,
      'PRIVATE_ADDRESS: The URL must lead to a public address.',
    ]);
    expect(hooks.received).toEqual([]);
  });

  test('whose payload was erased is not sent', async () => {
    const hooks = await scene.receiver();
    await scene.listen(platform.tenant, hooks.url);
    await scene.deposit(platform.tenant);
    await eventually(
      () => scene.rows(BALANCE),
      (found) => found.length === 1,
    );
    await platform.engine.pool.query(`UPDATE webhooks SET body = '' WHERE type = $1`, [BALANCE]);
    scene.start();
    const [row] = await scene.recorded(BALANCE, 1);
    expect([row!.status, row!.last_error]).toEqual(['FAILED', 'ERASED: The payload was erased.']);
    expect(hooks.received.filter(({ event }) => event.type === BALANCE)).toEqual([]);
  });

  test('that is queued when it is erased is not sent, and of the one in flight no answer is kept', async () => {
    const { engine, tenant } = platform;
    const other = await platform.another();
    let answer: () => void = () => {};
    const answered = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const echo = { status: 200, body: { echo: 'of what was told' } };
    const hooks = await scene.receiver(({ event }) => (event.type === 'TEST' ? 204 : answered.then(() => echo)));
    const others = await scene.receiver();
    await scene.listen(tenant, hooks.url);
    await scene.listen(other.tenant, others.url);
    scene.start({ maxInFlightPerPlatform: 1 });
    await scene.recorded('TEST', 1);
    for (let i = 0; i < 3; i++) await scene.deposit(tenant);
    await hooks.until(2);
    /** What was told before a webhook of the other platform was recorded has been heard of. */
    const heard = async (count: number) => {
      await scene.deposit(other.tenant);
      const delivered = `SELECT count(*)::int AS count FROM deliveries WHERE status = 'DELIVERED' AND platform = $1`;
      await eventually(
        () => engine.pool.query(delivered, [other.tenant.platform]),
        ({ rows: [row] }) => row.count === count,
      );
    };
    await heard(3);
    const mention = publicId('InternalAccount', platformAccountId(tenant, 'USD'));
    expect(await eraseWebhooks(engine, tenant, { mention, resources: [] })).toBe(6);
    await heard(5);
    answer();
    await scene.deposit(tenant, 7n);
    const sent = await hooks.until(4);
    const afterwards = sent
      .slice(2)
      .map(({ event: { type, sequence, data } }) => [type, sequence, data.receivedAmount]);
    expect(afterwards.sort()).toEqual([
      ['INCOMING_PAYMENT.COMPLETED', 1, expect.objectContaining({ amount: 7 })],
      [BALANCE, 5, undefined],
    ]);
    await eventually(
      () => scene.rows(BALANCE),
      (found) => found.length === 6 && found.every((row) => row.status !== 'PENDING'),
    );
    const { rows } = await engine.pool.query(
      `SELECT d.status, d.attempts, d.last_response FROM deliveries d JOIN webhooks w ON w.id = d.webhook_id WHERE w.body = ''`,
    );
    expect(rows).toEqual(Array(6).fill({ status: 'FAILED', attempts: 0, last_response: null }));
    expect(hooks.received).toHaveLength(4);
  });
});

describe('endpoints', () => {
  test('what waits goes to the endpoint that counts now', async () => {
    const old = await scene.receiver(() => 500);
    const current = await scene.receiver();
    scene.start();
    await scene.listen(platform.tenant, old.url);
    await scene.deposit(platform.tenant);
    await scene.recorded(BALANCE, 1);
    await scene.listen(platform.tenant, current.url);
    await current.until(1, 'TEST');
    scene.aheadMs += 5_000;
    await current.until(1, BALANCE);
    const [row] = await scene.recorded(BALANCE, 2);
    expect(row!.status).toBe('DELIVERED');
    expect(old.received.filter(({ event }) => event.type === BALANCE)).toHaveLength(1);
  });

  test('what is queued for a dead endpoint moves to a new one without waiting for the dead one', async () => {
    const dead = await scene.receiver(() => 'hang');
    const current = await scene.receiver();
    scene.start(Scene.patient());
    await scene.listen(platform.tenant, dead.url);
    for (let i = 0; i < 60; i++) await scene.deposit(platform.tenant);
    await dead.until(8);
    await scene.listen(platform.tenant, current.url);
    const all = 2 + 60 * 2; // two TEST events; each deposit is a transaction and a balance
    await current.until(all - 8);
    expect(dead.received).toHaveLength(8);
    expect(current.received).toHaveLength(all - 8);
  });

  test('without an endpoint nothing is sent; what waits is kept for the next one', async () => {
    const gone = await scene.receiver(() => 500);
    const next = await scene.receiver();
    scene.start();
    await scene.listen(platform.tenant, gone.url);
    await scene.deposit(platform.tenant);
    await scene.recorded(BALANCE, 1);
    await platform.engine.pool.query('UPDATE platforms SET webhook_endpoint = NULL');
    scene.aheadMs += 5_000;
    await scene.listen(platform.tenant, next.url);
    await next.until(1, BALANCE);
    expect(gone.received.filter(({ event }) => event.type === BALANCE)).toHaveLength(1);
  });
});
