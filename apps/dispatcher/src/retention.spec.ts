import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startTestPlatform, type TestPlatform } from '../../../test/platform.ts';
import { forgetOldWebhooks, KEPT_DAYS } from './retention.ts';

let platform: TestPlatform;
beforeAll(async () => {
  platform = await startTestPlatform();
});
afterAll(() => platform.stop());

test('what was done with long ago is forgotten with its attempts; what is newer, or still to be sent, stays', async () => {
  const { pool } = platform.engine;
  const names = ['delivered-old', 'failed-old', 'pending-old', 'delivered-new'];
  for (const [i, name] of names.entries()) {
    const [status, age] = name.split('-') as [string, string];
    const id = `00000000-0000-7000-8000-00000000000${i}`;
    const days = age === 'old' ? KEPT_DAYS + 1 : KEPT_DAYS - 1;
    await pool.query(
      `INSERT INTO webhooks (id, platform, environment, type, resource, sequence, body, created_at, position)
       VALUES ($1, 'p', 'sandbox', 'TEST', $2, 1, '{}', now() - make_interval(days => $3), 1)`,
      [id, name, days],
    );
    await pool.query(
      `INSERT INTO deliveries (webhook_id, platform, environment, status) VALUES ($1, 'p', 'sandbox', $2)`,
      [id, status.toUpperCase()],
    );
    await pool.query(
      `INSERT INTO delivery_attempts (webhook_id, number, attempted_at, duration_ms) VALUES ($1, 1, now(), 1)`,
      [id],
    );
  }
  expect(await forgetOldWebhooks(pool)).toBe(2);
  const { rows } = await pool.query(
    `SELECT resource FROM webhooks JOIN deliveries d ON d.webhook_id = id JOIN delivery_attempts a USING (webhook_id) ORDER BY id`,
  );
  expect(rows.map(({ resource }) => resource)).toEqual(['pending-old', 'delivered-new']);
  const left = await pool.query(`SELECT count(*)::int AS attempts FROM delivery_attempts`);
  expect(left.rows[0]).toEqual({ attempts: 2 });
});

test('what is asked to be sent again at that very moment stays, with its delivery', async () => {
  const { pool } = platform.engine;
  const id = '00000000-0000-7000-8000-0000000000aa';
  await pool.query(
    `INSERT INTO webhooks (id, platform, environment, type, resource, sequence, body, created_at, position)
     VALUES ($1, 'p', 'sandbox', 'TEST', 'again', 1, '{}', now() - make_interval(days => $2), 1)`,
    [id, KEPT_DAYS + 1],
  );
  await pool.query(
    `INSERT INTO deliveries (webhook_id, platform, environment, status) VALUES ($1, 'p', 'sandbox', 'FAILED')`,
    [id],
  );
  const asking = await pool.connect();
  await asking.query('BEGIN');
  await asking.query(`UPDATE deliveries SET status = 'PENDING' WHERE webhook_id = $1`, [id]);
  let isOver = false;
  const forgetting = forgetOldWebhooks(pool).finally(() => {
    isOver = true;
  });
  const isWaiting = async () => (await pool.query('SELECT 1 FROM pg_locks WHERE NOT granted')).rowCount! > 0;
  while (!isOver && !(await isWaiting())) await new Promise((resolve) => setTimeout(resolve, 10));
  await asking.query('COMMIT');
  asking.release();
  expect(await forgetting).toBe(0);
  const { rows } = await pool.query(
    `SELECT d.status FROM webhooks w JOIN deliveries d ON d.webhook_id = w.id WHERE w.id = $1`,
    [id],
  );
  expect(rows).toEqual([{ status: 'PENDING' }]);
});
