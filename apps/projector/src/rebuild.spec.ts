import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import type { AccountState } from '../../../libs/domain/accounts/account.ts';
import { projections } from '../../../projections/index.ts';
import { internalAccounts } from '../../../projections/internal-accounts.ts';
import { type Activity, someActivity } from '../../../test/activity.ts';
import { startTestPlatform, type TestPlatform } from '../../../test/platform.ts';
import { Fill } from './fill.ts';
import { rebuild } from './rebuild.ts';

let platform: TestPlatform;
let activity: Activity;
beforeAll(async () => {
  platform = await startTestPlatform();
  activity = await someActivity(platform);
});
afterAll(() => platform.stop());

const usdId = () => activity.usd.slice('InternalAccount:'.length);
const rowsOf = async (table: string): Promise<string[]> => {
  const { rows } = await platform.engine.pool.query<{ row: string }>(
    `SELECT row_to_json(t)::text AS row FROM ${table} t ORDER BY 1`,
  );
  return rows.map(({ row }) => row);
};
const everyRow = async () =>
  Object.fromEntries(await Promise.all(projections.map(async ({ name }) => [name, await rowsOf(name)])));

describe('a rebuild', () => {
  test('of every projection gives identical rows, indexes and keys, and sends nothing again', async () => {
    const rows = await everyRow();
    const beside = async () => [await rowsOf('timers'), await rowsOf('webhooks'), await rowsOf('deliveries')];
    const besideBefore = await beside();
    const indexes = `SELECT indexname || ' ' || indexdef AS row FROM pg_indexes WHERE schemaname = 'public' ORDER BY 1`;
    const indexesBefore = await rowsOf(`(${indexes})`);

    const done = await rebuild(platform.engine, projections);

    expect(done.tables.map(({ name, compared }) => [name, compared?.differing])).toEqual(
      projections.map(({ name }) => [name, 0]),
    );
    expect(done.tables.map(({ rows: made }) => made)).toEqual(projections.map(({ name }) => rows[name]!.length));
    expect(await everyRow()).toEqual(rows);
    expect(await beside()).toEqual(besideBefore);
    expect(await rowsOf(`(${indexes})`)).toEqual(indexesBefore);
    expect(rows.internal_accounts!.length).toBe(7);
    expect(rows.payments!.length).toBe(4);
  });

  test('leaves the projector going on from the new rows', async () => {
    await rebuild(platform.engine, [internalAccounts]);
    const fund = platform.api('post', `/sandbox/internal-accounts/${activity.usd}/fund`).send({ amount: 5 });
    const { body: funded } = await fund.expect(200);
    const shown = await platform.engine.readModel.byId<AccountState>(internalAccounts, platform.tenant, usdId());
    expect(shown!.postedMinor).toBe(BigInt(funded.totalBalance.amount));
  });

  test('finds the rows that were wrong, says how, and puts the right ones in their place', async () => {
    const id = usdId();
    const right = await rowsOf('internal_accounts');
    await platform.engine.pool.query(
      `UPDATE internal_accounts SET status = 'CLOSED', state = replace(state, '"status":"ACTIVE"', '"status":"CLOSED"') WHERE id = $1`,
      [id],
    );
    const done = await rebuild(platform.engine, [internalAccounts]);
    expect(done.tables[0]!.compared).toEqual({
      differing: 1,
      differences: [
        { id, field: 'state.status', live: 'CLOSED', rebuilt: 'ACTIVE' },
        { id, field: 'status', live: 'CLOSED', rebuilt: 'ACTIVE' },
      ],
    });
    expect(await rowsOf('internal_accounts')).toEqual(right);
  });

  test('does not take another order of members for a difference', async () => {
    await platform.engine.pool.query(`UPDATE internal_accounts SET state = state::jsonb::text`);
    const done = await rebuild(platform.engine, [internalAccounts]);
    expect(done.tables[0]!.compared).toEqual({ differing: 0, differences: [] });
  });

  test('of a changed shape is not compared, and the table has the new shape', async () => {
    const changed = {
      ...internalAccounts,
      version: 9_999,
      columns: { ...internalAccounts.columns, extra: 'text' as const },
    };
    const done = await rebuild(platform.engine, [changed]);
    expect(done.tables[0]).toEqual({ name: 'internal_accounts', rows: 7, compared: undefined });
    const { rows } = await platform.engine.pool.query(
      `SELECT version, (SELECT count(*) FROM internal_accounts WHERE extra IS NULL) AS rows FROM read_tables WHERE name = 'internal_accounts'`,
    );
    expect(rows).toEqual([{ version: 9_999, rows: '7' }]);
    await rebuild(platform.engine, [internalAccounts]);
  });

  test('that is given up leaves the live table alone, and the next one succeeds', async () => {
    const before = await rowsOf('internal_accounts');
    const reason = new Error('given up');
    const given = rebuild(platform.engine, [internalAccounts], { signal: AbortSignal.abort(reason) });
    await expect(given).rejects.toBe(reason);
    expect(await rowsOf('internal_accounts')).toEqual(before);
    expect((await rebuild(platform.engine, [internalAccounts])).tables[0]!.compared!.differing).toBe(0);
  });
});

test('rows that leave memory before the end come out the same', async () => {
  const client = new pg.Client({ connectionString: platform.engine.url });
  await client.connect();
  try {
    const { events } = await platform.engine.store.readAll(0, 10_000);
    const decoded = await platform.engine.codec.decode(events);
    const fill = new Fill(internalAccounts, 'pg_temp.small_memory', client, 2);
    await fill.table.create(client);
    for (let from = 0; from < decoded.length; from += 3) await fill.take(decoded.slice(from, from + 3));
    await fill.flush();
    const made = await client.query(`SELECT row_to_json(t)::text AS row FROM pg_temp.small_memory t ORDER BY 1`);
    expect(made.rows.map(({ row }) => row)).toEqual(await rowsOf('internal_accounts'));
  } finally {
    await client.end();
  }
});
