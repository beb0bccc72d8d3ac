import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { publicId } from '../../../libs/kernel/ids.ts';
import { eventually } from '../../../test/eventually.ts';
import { startTestPlatform, type TestPlatform } from '../../../test/platform.ts';
import { type Receiver, startReceiver } from '../../../test/receiver.ts';
import { platformAccountId } from '../../shared/provision.ts';
import { opsOn } from './ops.examples.ts';

let platform: TestPlatform;
let receiver: Receiver;
let usd: string;
let isWell = false;
beforeAll(async () => {
  platform = await startTestPlatform();
  receiver = await startReceiver(() => (isWell ? 204 : 503));
  usd = `InternalAccount:${platformAccountId(platform.tenant, 'USD')}`;
  await platform.api('patch', '/config').send({ webhookEndpoint: receiver.url }).expect(200);
  platform.dispatcher({ delayMs: () => 'GIVE_UP' }).start();
  for (const amount of [100, 200]) {
    await platform.api('post', `/sandbox/internal-accounts/${usd}/fund`).send({ amount }).expect(200);
  }
  await until('FAILED', 5);
});
afterAll(async () => {
  await platform.stop();
  await receiver.stop();
});
beforeEach(async () => {
  isWell = false;
  await platform.engine.pool.query(`UPDATE deliveries SET status = 'FAILED', given_up_at = NULL`);
});

const { ops, json } = opsOn(() => platform);

const until = (status: string, count: number) =>
  eventually(
    async () => (await platform.engine.pool.query('SELECT 1 FROM deliveries WHERE status = $1', [status])).rowCount,
    (found) => found === count,
  );

const idOf = async (type: string): Promise<string> =>
  publicId('Webhook', (await platform.engine.pool.query('SELECT id FROM webhooks WHERE type = $1', [type])).rows[0].id);

/** The test of the endpoint, and for each deposit that it came and the new balance. */
describe('deliveries', () => {
  test('are listed with every attempt, newest first, without their payload', async () => {
    const listed = await json('deliveries');
    expect(listed).toHaveLength(5);
    const times = listed.map(({ createdAt }: { createdAt: string }) => createdAt);
    expect(times).toEqual(times.toSorted().reverse());
    expect(listed[0]).toEqual({
      platform: platform.tenant.platform,
      environment: 'sandbox',
      id: expect.stringMatching(/^Webhook:/),
      type: expect.any(String),
      resource: expect.any(String),
      sequence: expect.any(Number),
      status: 'FAILED',
      attemptCount: 1,
      attempts: [
        {
          number: 1,
          attemptedAt: expect.any(String),
          responseStatus: 503,
          responseBody: 'said 503',
          durationMs: expect.any(Number),
        },
      ],
      createdAt: expect.any(String),
    });
    const { out } = await ops('deliveries', '--resource', usd);
    expect(out.match(/INTERNAL_ACCOUNT\.BALANCE_UPDATED of InternalAccount:/g)).toHaveLength(2);
    expect(out).toMatch(/^ {4}attempt 1 {2}\S+Z {2}\d+ ms {2}HTTP 503$/m);
  });

  test('are narrowed', async () => {
    const count = async (...args: string[]) => (await json('deliveries', ...args)).length;
    expect(await count('--limit', '3')).toBe(3);
    expect(await count('--status', 'DELIVERED')).toBe(0);
    expect(await count('--status', 'FAILED')).toBe(5);
    expect(await count('--type', 'INCOMING_PAYMENT.COMPLETED')).toBe(2);
    expect(await count('--platform', platform.tenant.platform)).toBe(5);
    expect(await count('--platform', '00000000-0000-4000-8000-000000000000')).toBe(0);
    expect(await count('--environment', 'production')).toBe(0);
    expect(await count('--since', '2000-01-01')).toBe(5);
    expect(await count('--since', '2999-01-01')).toBe(0);
    expect((await ops('deliveries', '--since', '2999-01-01')).out).toBe('No deliveries.\n');
    for (const bad of [
      '--status=LOST',
      '--limit=0',
      '--since=never',
      '--platform=x',
      '--type=OUTGOING_PAYMENT.COMPLETE',
      '--resource=',
    ]) {
      expect(await ops('deliveries', bad)).toMatchObject({ code: 2, out: '' });
    }
  });

  test('one is sent again', async () => {
    const id = await idOf('INCOMING_PAYMENT.COMPLETED');
    isWell = true;
    const { code, out } = await ops('redeliver', id);
    expect([code, out]).toEqual([
      0,
      expect.stringMatching(/^Webhook:\S+ \(INCOMING_PAYMENT\.COMPLETED of .*\) is due now\.\n$/),
    ]);
    await until('DELIVERED', 1);
    const [delivery] = (await json('deliveries', '--status', 'DELIVERED')) as [{ id: string; attempts: object[] }];
    expect(delivery.id).toBe(id);
    expect(delivery.attempts.at(-1)).toMatchObject({ responseStatus: 204 });
    const nobody = 'Webhook:00000000-0000-4000-8000-000000000000';
    expect(await ops('redeliver', nobody)).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^There is no webhook/),
    });
    expect(await ops('redeliver', 'x')).toMatchObject({ code: 2, err: 'x is no webhook: give Webhook:<uuid>.\n' });
  });

  test('all that failed are sent again, but for the test and those that were given up or erased', async () => {
    const givenUp = await idOf('INCOMING_PAYMENT.COMPLETED');
    expect((await ops('dead-letters', 'give-up', givenUp, '--reason', 'told by phone')).code).toBe(0);
    const { rows } = await platform.engine.pool.query(
      `UPDATE webhooks SET body = '' WHERE id = (SELECT id FROM webhooks WHERE type LIKE 'INTERNAL%' LIMIT 1) RETURNING id`,
    );
    isWell = true;
    expect(await json('recover', '--since', '2999-01-01')).toEqual({ recovered: 0 });
    expect(await json('recover', '--since', '2000-01-01')).toEqual({ recovered: 2 });
    await until('DELIVERED', 2);
    expect(await ops('redeliver', rows[0].id)).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^Its payload was erased/),
    });
    expect(await ops('recover')).toMatchObject({ code: 2 });
  });
});
