import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { platformAccountId } from '../../apps/shared/provision.ts';
import { engineOfThisRun } from '../engine.ts';
import { startTestPlatform, type TestPlatform } from '../platform.ts';

let platform: TestPlatform;
beforeAll(async () => {
  platform = await startTestPlatform();
});
afterAll(() => platform.stop());

test('journeys run on the engine that is named: where the log is, and how it comes to be read', async () => {
  const [store, feed] = engineOfThisRun().split('-');
  const { engine, tenant } = platform;
  const account = `InternalAccount:${platformAccountId(tenant, 'USD')}`;
  await platform.api('post', `/sandbox/internal-accounts/${account}/fund`).send({ amount: 4_711 }).expect(200);
  const { body } = await platform.api('get', '/platform/internal-accounts?currency=USD').expect(200);
  expect(body.data[0].balance.amount).toBe(4_711);

  const count = async (table: string) =>
    (await engine.pool.query<{ count: number }>(`SELECT count(*)::int AS count FROM ${table}`)).rows[0]!.count;
  const log = await platform.log();
  expect(log.at(-1)!.type).toBe('DepositReceived');
  expect(await count('events')).toBe(store === 'postgres' ? log.length : 0);
  expect(await count('relays')).toBe(feed === 'kafka' ? 1 : 0);
  const { rows } = await engine.pool.query<{ name: string; mark: string | null }>(
    `SELECT name, mark FROM checkpoints WHERE name LIKE 'live%' AND position = $1`,
    [log.at(-1)!.position],
  );
  const partition = engine.partitions.partitionOf(tenant.platform);
  const ofTopic = { name: `live/${partition}`, mark: expect.stringMatching(/^\d+$/) };
  expect(rows).toEqual([feed === 'kafka' ? ofTopic : { name: 'live', mark: null }]);
});
