import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Activity, someActivity } from '../../../test/activity.ts';
import { startTestPlatform, type TestPlatform } from '../../../test/platform.ts';
import { eraseWebhooks } from '../../shared/erase-webhooks.ts';
import { park } from '../../worker/src/dead-letters.ts';
import { opsOn } from './ops.examples.ts';

let platform: TestPlatform;
let activity: Activity;
beforeAll(async () => {
  platform = await startTestPlatform();
  activity = await someActivity(platform);
});
afterAll(() => platform.stop());

const { ops, json } = opsOn(() => platform);

const firstFailedAt = new Date('2025-10-13T12:00:00Z');

/** Parks the work of a process on a stream as a worker does after its last try. */
async function parked(process: string, stream: string): Promise<string> {
  await park(platform.engine.pool, {
    process,
    stream,
    position: 3,
    revision: 0,
    tenant: platform.tenant,
    correlationId: 'req_1',
    attempts: 200,
    firstFailedAt,
    error: new Error('the rail does not answer'),
  });
  return `${process}/${stream}`;
}

describe('dead letters', () => {
  test('nothing is parked: 0', async () => {
    expect(await ops('dead-letters')).toEqual({ code: 0, out: 'Nothing is parked.\n', err: '' });
    expect(await json('dead-letters', 'list')).toEqual([]);
  });

  test('are listed, taken up again by a worker, and gone when it is done', async () => {
    const stream = activity.completed.replace('Transaction:', 'payment-');
    const id = await parked('completePayment', stream);
    const listed = await ops('dead-letters', '--json');
    expect(listed.code).toBe(1);
    expect(JSON.parse(listed.out)).toEqual([
      {
        id,
        kind: 'process',
        about: stream,
        ...platform.tenant,
        attempts: 200,
        parkedAt: expect.any(String),
        error: 'the rail does not answer',
        status: 'PARKED',
      },
    ]);
    expect((await ops('dead-letters')).out).toContain(`${id}  PARKED  since `);
    expect(await ops('dead-letters', 'retry', id, '--wait', '60')).toEqual({
      code: 0,
      out: `${id} is done.\n`,
      err: '',
    });
    expect((await ops('dead-letters')).code).toBe(0);
  });

  test('one that fails again is parked again, with what it failed by', async () => {
    const { driver } = platform.engine;
    const stream = activity.pending.replace('Transaction:', 'payment-');
    const id = await parked('completePayment', stream);
    const { drive } = driver;
    driver.drive = async () => {
      throw new Error('still no answer');
    };
    try {
      const retried = await ops('dead-letters', 'retry', id, '--wait', '60', '--json');
      expect(retried.code).toBe(1);
      expect(JSON.parse(retried.out)).toEqual({ id, outcome: 'PARKED_AGAIN', error: 'still no answer' });
    } finally {
      driver.drive = drive;
    }
    const [letter] = JSON.parse((await ops('dead-letters', '--json')).out);
    expect(letter).toMatchObject({ attempts: 201, error: 'still no answer', status: 'PARKED' });
    expect((await ops('dead-letters', 'retry', id, '--wait', '60')).code).toBe(0);
  });

  test('what no worker runs waits; the operator gives it up with a reason, which is kept', async () => {
    const id = await parked('anotherProcess', 'payment-x');
    expect(await json('dead-letters', 'retry', id, '--wait', '0')).toEqual({ id, outcome: 'ASKED' });
    expect(await ops('dead-letters', 'give-up', id, '--reason', 'gone')).toEqual({
      code: 1,
      out: '',
      err: `There is no dead letter ${id} that waits.\n`,
    });
    await parked('anotherProcess', 'payment-x');
    expect(await ops('dead-letters', 'give-up', id)).toMatchObject({ code: 2 });
    const by = ['--by', 'amina'];
    expect(await ops('dead-letters', 'give-up', id, '--reason', 'settled by hand', ...by)).toMatchObject({ code: 0 });
    expect((await ops('dead-letters')).code).toBe(0);
    const [letter] = await json('dead-letters', 'list', '--all');
    expect(letter).toMatchObject({
      id,
      attempts: 400,
      status: 'GIVEN_UP',
      givenUp: { at: expect.any(String), by: 'amina', reason: 'settled by hand' },
    });
    expect(await ops('dead-letters', 'retry', 'completePayment/nowhere')).toMatchObject({
      code: 1,
      err: 'There is no dead letter completePayment/nowhere.\n',
    });
  });

  test('a delivery that failed is one, until it is given up', async () => {
    await platform.engine.pool.query(
      `INSERT INTO webhooks VALUES ('0199dd29-0000-7000-8000-0000000000aa', $1, 'sandbox', 'CUSTOMER.KYC_APPROVED', 'Customer:1', 1, '{}', now(), 1)`,
      [platform.tenant.platform],
    );
    await platform.engine.pool.query(
      `INSERT INTO deliveries (webhook_id, platform, environment, status, attempts, last_attempt_at, last_error)
       VALUES ('0199dd29-0000-7000-8000-0000000000aa', $1, 'sandbox', 'FAILED', 7, now(), 'TIMEOUT: no answer')`,
      [platform.tenant.platform],
    );
    const id = 'Webhook:0199dd29-0000-7000-8000-0000000000aa';
    const listed = await ops('dead-letters', '--kind', 'delivery', '--json');
    expect([listed.code, JSON.parse(listed.out)]).toEqual([
      1,
      [
        {
          id,
          kind: 'delivery',
          about: 'CUSTOMER.KYC_APPROVED of Customer:1',
          ...platform.tenant,
          attempts: 7,
          parkedAt: expect.any(String),
          error: 'TIMEOUT: no answer',
          status: 'PARKED',
        },
      ],
    ]);
    expect((await ops('dead-letters', 'give-up', id, '--reason', 'receiver is gone')).code).toBe(0);
    expect((await ops('dead-letters', '--kind', 'delivery')).code).toBe(0);
    expect(await ops('dead-letters', 'give-up', id, '--reason', 'another')).toMatchObject({
      code: 1,
      err: `There is no dead letter ${id} that waits.\n`,
    });
    expect(await json('dead-letters', 'list', '--kind', 'delivery', '--all')).toMatchObject([
      { id, status: 'GIVEN_UP', givenUp: { reason: 'receiver is gone' } },
    ]);

    const failsAgain = `UPDATE deliveries SET last_attempt_at = now(), attempts = 8`;
    await platform.engine.pool.query(failsAgain); // its platform asked for it by the API
    const again = await ops('dead-letters', '--kind', 'delivery', '--json');
    expect([again.code, JSON.parse(again.out)]).toMatchObject([1, [{ id, status: 'PARKED', attempts: 8 }]]);
    expect(JSON.parse(again.out)[0]).not.toHaveProperty('givenUp');
    expect((await ops('deliveries')).out).not.toContain('given up');
    expect(await json('dead-letters', 'retry', id)).toEqual({ id, outcome: 'ASKED' });
    expect(await json('deliveries', '--status', 'PENDING')).toMatchObject([{ id, status: 'PENDING' }]);
  });

  test('what was erased before it was sent is none: nobody can send it', async () => {
    const id = '0199dd29-0000-7000-8000-0000000000bb';
    const { pool } = platform.engine;
    await pool.query(
      `INSERT INTO webhooks VALUES ($2, $1, 'sandbox', 'CUSTOMER.KYC_APPROVED', 'Customer:1', 2, '{}', now(), 2)`,
      [platform.tenant.platform, id],
    );
    await pool.query(`INSERT INTO deliveries (webhook_id, platform, environment) VALUES ($2, $1, 'sandbox')`, [
      platform.tenant.platform,
      id,
    ]);
    await eraseWebhooks(platform.engine, platform.tenant, { mention: 'nobody', resources: ['Customer:1'] });
    expect(await json('deliveries', '--status', 'FAILED')).toMatchObject([{ id: `Webhook:${id}` }, expect.anything()]);
    expect(await ops('dead-letters', '--kind', 'delivery')).toEqual({ code: 0, out: 'Nothing is parked.\n', err: '' });
    expect((await json('status', '--sample', '0')).deliveries).toMatchObject([{ failed: 0 }]);
  });
});
