import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { platformAccountId } from '../../apps/shared/provision.ts';
import { startTestPlatform, type TestPlatform } from '../platform.ts';

let platform: TestPlatform;
beforeAll(async () => {
  platform = await startTestPlatform();
});
afterAll(() => platform.stop());

test('a funded account shows the money at once, and a repeated key funds once', async () => {
  const id = `InternalAccount:${platformAccountId(platform.tenant, 'USD')}`;
  const fund = () =>
    platform.api('post', `/sandbox/internal-accounts/${id}/fund`).set('Idempotency-Key', 'k1').send({ amount: 12_345 });
  const first = await fund();
  expect(first.body).toMatchObject({ id, balance: { amount: 12_345 }, totalBalance: { amount: 12_345 } });
  expect(first.status).toBe(200);
  const second = await fund();
  expect(second.status).toBe(200);
  expect(second.headers['idempotent-replayed']).toBe('true');
  expect(second.body).toEqual(first.body);
});
