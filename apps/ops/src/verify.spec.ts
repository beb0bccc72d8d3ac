import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { projections } from '../../../projections/index.ts';
import { type Activity, someActivity } from '../../../test/activity.ts';
import { startTestPlatform, type TestPlatform } from '../../../test/platform.ts';
import { verify } from './verify.ts';

let platform: TestPlatform;
let activity: Activity;
let usd: string;
let upTo: number;
beforeAll(async () => {
  platform = await startTestPlatform();
  activity = await someActivity(platform);
  usd = activity.usd.slice('InternalAccount:'.length);
  upTo = await platform.engine.store.head();
});
afterAll(() => platform.stop());

const sql = (text: string, values: unknown[] = []) => platform.engine.pool.query(text, values);
const verified = (batchSize = 5_000) => verify(platform.engine, projections, { batchSize });

/** Does something to the database, verifies, and undoes it. */
async function tampered(statement: string, values: unknown[] = []) {
  const saved = ['events', 'checkpoints', 'log_head', ...projections.map(({ name }) => name)];
  for (const table of saved) await sql(`CREATE TABLE ${table}_saved AS TABLE ${table}`);
  await sql(statement, values);
  try {
    return await verified();
  } finally {
    for (const table of saved) {
      await sql(`TRUNCATE ${table}`);
      await sql(`INSERT INTO ${table} TABLE ${table}_saved`);
      await sql(`DROP TABLE ${table}_saved`);
    }
  }
}

const eventOf = async (stream: string, type: string): Promise<{ position: number; revision: number }> => {
  const { rows } = await sql('SELECT position::int, revision::int FROM events WHERE stream = $1 AND type = $2', [
    stream,
    type,
  ]);
  return rows[0];
};

describe('verify', () => {
  test('finds nothing wrong with what the platform did, in batches of any size', async () => {
    for (const batchSize of [5_000, 2]) {
      const found = await verified(batchSize);
      expect(found.findings).toEqual([]);
      expect(found).toMatchObject({
        events: upTo,
        head: upTo,
        unprojected: 0,
        skipped: 0,
        accounts: 7,
        transactions: 4,
      });
      expect(new Set(Object.values(found.totals))).toEqual(new Set([0n]));
    }
  });

  test('changes nothing', async () => {
    const tables = async () =>
      (await sql(`SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace ORDER BY 1`)).rows;
    const before = await tables();
    await verified();
    expect(await tables()).toEqual(before);
  });

  test('finds a read row that was changed', async () => {
    const found = await tampered(
      `UPDATE internal_accounts SET state = replace(state, '"postedMinor":"65000"', '"postedMinor":"65001"') WHERE id = $1`,
      [usd],
    );
    expect(found.findings).toEqual([
      {
        check: 'balances',
        subject: usd,
        message: 'shows 65001 (10000 reserved), its events add up to 65000 (10000)',
      },
      {
        check: 'read models',
        subject: `internal_accounts ${usd}`,
        message: 'state.postedMinor is 65001, a replay gives 65000',
      },
    ]);
  });

  test('finds a read row that is missing and one that is too many', async () => {
    const found = await tampered(`UPDATE payments SET id = 'another' WHERE id = $1`, [
      activity.completed.slice('Transaction:'.length),
    ]);
    expect(found.failures['read models']).toBe(2);
    expect(found.findings.map(({ message }) => message).sort()).toEqual([
      '(row) is absent, a replay gives present',
      '(row) is present, a replay gives absent',
    ]);
  });

  test('finds an event whose amount was changed', async () => {
    const { position } = await eventOf(`account-${usd}`, 'AccountDebited');
    const found = await tampered(
      `UPDATE events SET payload = replace(payload, '"amountMinor":"10000"', '"amountMinor":"9000"') WHERE position = $1`,
      [position],
    );
    expect(found.findings.map(({ check }) => check)).toEqual(
      expect.arrayContaining(['balances', 'ledger', 'read models']),
    );
    expect(found.failures).toMatchObject({ positions: 0, streams: 0, events: 0, 'trial balance': 0 });
  });

  test('finds an event that was taken away', async () => {
    const { position, revision } = await eventOf(`account-${usd}`, 'AccountDebited');
    const found = await tampered('DELETE FROM events WHERE position = $1', [position]);
    expect(found.findings).toEqual(
      expect.arrayContaining([
        { check: 'positions', subject: `${position}`, message: `missing up to ${position}` },
        {
          check: 'streams',
          subject: `account-${usd}`,
          message: expect.stringContaining(`revision ${revision + 1} at position`),
        },
      ]),
    );
    expect(found.failures.transactions).toBe(1);
  });

  test('finds the end of the log missing', async () => {
    const found = await tampered('DELETE FROM events WHERE position = $1', [upTo]);
    expect(found.findings).toContainEqual({
      check: 'positions',
      subject: `${upTo}`,
      message: `missing: the log should reach ${upTo}`,
    });
  });

  test('finds an event that cannot be read, and goes on with the others', async () => {
    const { position } = await eventOf(`account-${usd}`, 'FundsPended');
    const found = await tampered(`UPDATE events SET payload = 'gone' WHERE position = $1`, [position]);
    expect(found.findings).toContainEqual({
      check: 'events',
      subject: `${position}`,
      message: expect.stringContaining(`FundsPended of account-${usd} cannot be read`),
    });
    expect(found.failures.events).toBe(1);
  });

  test('finds personal data that was exchanged', async () => {
    const found = await tampered(
      `UPDATE events SET payload = regexp_replace(payload, '"\\$enc":"...', '"$enc":"AAA') WHERE type = 'PlatformCreated'`,
    );
    expect(found.findings[0]).toMatchObject({ check: 'events', message: expect.stringContaining('cannot be read') });
  });

  test('finds a read model of another shape', async () => {
    await sql(`UPDATE read_tables SET version = version + 1 WHERE name = 'tokens'`);
    const found = await verified();
    await sql(`UPDATE read_tables SET version = version - 1 WHERE name = 'tokens'`);
    expect(found.findings).toEqual([
      {
        check: 'read models',
        subject: 'tokens',
        message: 'has another shape than this version of the program: rebuild it',
      },
    ]);
  });
});
