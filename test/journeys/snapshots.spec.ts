import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { SweepRule } from '../../libs/domain/accounts/account.events.ts';
import { type AccountState, account, OpenAccount, ReceiveDeposit } from '../../libs/domain/accounts/account.ts';
import { tenantIdOf } from '../../libs/domain/platforms/platform.ts';
import { startTestPlatform, type TestPlatform } from '../platform.ts';

let platform: TestPlatform;
beforeAll(async () => {
  platform = await startTestPlatform({ worker: false });
});
afterAll(() => platform.stop());

const rule: SweepRule = {
  canonicalAccountId: randomUUID(),
  destination: { kind: 'INTERNAL', accountId: randomUUID() },
  minimumMinor: 1n,
  maximumMinor: 1_000n,
};

/** An account with so many deposits of one cent. */
async function busyAccount(deposits: number, more: object = {}): Promise<string> {
  const { writePath } = platform.engine;
  const holder = { tenantId: tenantIdOf(platform.tenant), customerId: randomUUID(), platformCustomerId: 'holder' };
  const envelope = () => ({ commandId: randomUUID(), correlationId: 'r', actor: 'test', tenant: platform.tenant });
  const accountId = randomUUID();
  const opening = { accountId, ...holder, currency: 'USD', type: 'INTERNAL_FIAT' as const, ...more };
  await writePath.execute(account, new OpenAccount(opening), envelope());
  const deposit = () => {
    const from = { counterpart: 'mint:USD', paymentId: randomUUID(), reference: 'R' };
    return new ReceiveDeposit({ accountId, ...holder, currency: 'USD', amountMinor: 1n, ...from });
  };
  await Promise.all(Array.from({ length: deposits }, () => writePath.execute(account, deposit(), envelope())));
  return accountId;
}

test('a busy account is read from its snapshot; one with texts that a person wrote has none', async () => {
  const ordinary = await busyAccount(250);
  const swept = await busyAccount(250, { type: 'RULE_BASED', rule });
  const described = await busyAccount(250, { type: 'RULE_BASED', rule, label: 'Rent of Bob', description: 'Rent' });
  const { engine } = platform;
  await engine.writePath.drain();
  const names = [ordinary, swept, described].map((id) => `account-${id}`);
  const { rows } = await engine.pool.query('SELECT stream, revision::int FROM snapshots WHERE stream = ANY($1)', [
    names,
  ]);
  expect(new Map(rows.map(({ stream, revision }) => [stream, revision]))).toEqual(
    new Map([
      [names[0], 250],
      [names[1], 501],
    ]),
  );
  const { rows: told } = await engine.pool.query(`SELECT stream FROM snapshots s WHERE s::text LIKE '%Rent%'`);
  expect(told).toEqual([]);

  const cold = await platform.instance();
  const read = await cold.engine.store.loadStreams(names);
  expect(names.map((name) => read.get(name)!.events.length)).toEqual([0, 0, 502]);
  for (const id of [ordinary, swept, described]) {
    const { state } = await cold.engine.writePath.state<AccountState>(account, id);
    expect(state).toEqual((await engine.writePath.state<AccountState>(account, id)).state);
    expect([state.postedMinor, state.label]).toEqual([250n, id === described ? 'Rent of Bob' : undefined]);
  }
});
