import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { projections } from '../../../projections/index.ts';
import { type Activity, someActivity } from '../../../test/activity.ts';
import { eventually } from '../../../test/eventually.ts';
import { startTestPlatform, type TestPlatform } from '../../../test/platform.ts';
import { platformAccountId } from '../../shared/provision.ts';
import { railsOf } from '../../shared/rails.ts';
import { createWorker } from '../../worker/src/index.ts';
import { verify } from './verify.ts';

let platform: TestPlatform;
let activity: Activity;
let usd: string;
let upTo: number;
let customerId: string;
beforeAll(async () => {
  platform = await startTestPlatform({ worker: false });
  const { engine } = platform;
  const worker = createWorker(engine, railsOf(engine.clock, 1), { allowPrivateTargets: true });
  await worker.start();
  const { body } = await platform.api('post', '/customers').send({ customerType: 'INDIVIDUAL', currencies: ['USD'] });
  customerId = body.id.slice('Customer:'.length);
  activity = await someActivity(platform);
  usd = activity.usd.slice('InternalAccount:'.length);
  await refusedForWantOfFunds();
  upTo = await platform.engine.store.head();
  await worker.stop(); // nobody follows what the tests put in
  await platform.projector.stop();
});
afterAll(() => platform.stop());

/** Leaves the refusal in the stream of the account. */
async function refusedForWantOfFunds(): Promise<void> {
  const { tenant, engine } = platform;
  const gbp = platformAccountId(tenant, 'GBP');
  const quote = {
    source: { sourceType: 'ACCOUNT', accountId: `InternalAccount:${gbp}` },
    destination: { destinationType: 'ACCOUNT', accountId: activity.usd },
    lockedCurrencySide: 'SENDING',
    lockedCurrencyAmount: 1,
    immediatelyExecute: true,
  };
  await platform.api('post', '/quotes').send(quote).expect(400);
  const stored = await engine.store.readStream(`account-${gbp}`, -1);
  expect(stored.map(({ type }) => type)).toEqual(['AccountOpened', 'CommandRefused']);
  const head = await engine.store.head();
  await eventually(
    async () => engine.readModel.projected,
    (position) => position >= head,
  );
}

const sql = (text: string, values: unknown[] = []) => platform.engine.pool.query(text, values);
const verified = (batchSize = 5_000) => verify(platform.engine, projections, { batchSize });

/** Does something to the database, verifies, and undoes it. */
async function tampered(statement: string | readonly string[], values: unknown[] = []) {
  const saved = ['events', 'checkpoints', 'log_head', 'timers', ...projections.map(({ name }) => name)];
  for (const table of saved) await sql(`CREATE TABLE ${table}_saved AS TABLE ${table}`);
  try {
    for (const one of [statement].flat()) await sql(one, values);
    return await verified();
  } finally {
    const restored = (table: string) =>
      `TRUNCATE ${table}; INSERT INTO ${table} TABLE ${table}_saved; DROP TABLE ${table}_saved`;
    await sql(saved.map(restored).join('; ')); // in one transaction: the worker goes on writing its checkpoints
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
        accounts: 8,
        transactions: 5,
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

  test('finds two events that changed places', async () => {
    const opened = await eventOf(`account-${usd}`, 'AccountOpened');
    const debited = await eventOf(`account-${usd}`, 'AccountDebited');
    const { rows } = await sql(`SELECT position::int FROM events WHERE stream = $1 AND revision = 1`, [
      `account-${usd}`,
    ]);
    const found = await tampered(
      [
        'UPDATE events SET position = -position WHERE position IN ($1, $2)',
        'UPDATE events SET position = $1::bigint + $2::bigint + position WHERE position < 0',
      ],
      [opened.position, debited.position],
    );
    expect(found.findings).toContainEqual({
      check: 'streams',
      subject: `account-${usd}`,
      message: `revision 1 at position ${rows[0].position} lies before revision 0 at position ${debited.position}`,
    });
    expect(found.failures).toMatchObject({ positions: 0, events: 0 });
    expect(found.failures.ledger).toBeGreaterThan(0);
  });

  test('finds an event that was moved to another stream', async () => {
    const { position } = await eventOf(`account-${usd}`, 'FundsPended');
    const stream = 'account-00000000-0000-4000-8000-000000000000';
    const found = await tampered('UPDATE events SET stream = $2, revision = 0 WHERE position = $1', [position, stream]);
    expect(found.findings).toContainEqual({
      check: 'events',
      subject: `${position}`,
      message: `FundsPended is in ${stream}, but it is about ${usd}`,
    });
  });

  test('finds an event of a kind that nobody knows', async () => {
    const { position } = await eventOf(`account-${usd}`, 'FundsPended');
    const found = await tampered(`UPDATE events SET stream = 'vault-1', revision = 0 WHERE position = $1`, [position]);
    expect(found.findings).toContainEqual({
      check: 'events',
      subject: `${position}`,
      message: 'FundsPended is in vault-1, which no part of this version knows',
    });
  });

  test('finds an event that was put in, and one that is there twice', async () => {
    const { position } = await eventOf(`account-${usd}`, 'DepositReceived');
    const found = await tampered(
      [
        `INSERT INTO events SELECT $2::bigint, stream, (SELECT max(revision) + 1 FROM events WHERE stream = e.stream), id, type, payload, metadata
           FROM events e WHERE position = $1::bigint`,
        'UPDATE log_head SET position = $2::bigint WHERE $1::bigint > 0',
      ],
      [position, upTo + 1],
    );
    expect(found.findings).toContainEqual({
      check: 'streams',
      subject: `account-${usd}`,
      message: expect.stringMatching(new RegExp(`^event .* at positions ${position} and ${upTo + 1}$`)),
    });
    expect(found).toMatchObject({ events: upTo + 1, unprojected: 1 });
  });

  test('finds money that came from nowhere: the books do not balance from that event on', async () => {
    const { position } = await eventOf(`account-${usd}`, 'AccountDebited');
    const found = await tampered(
      `UPDATE events SET payload = replace(payload, '"counterpart":"transit:USD"', '"counterpart":"transit:EUR"') WHERE position = $1`,
      [position],
    );
    const { failures, findings } = found;
    expect(failures['trial balance']).toBeGreaterThan(0);
    expect(findings.find(({ check }) => check === 'trial balance')).toEqual({
      check: 'trial balance',
      subject: 'USD',
      message: expect.stringMatching(new RegExp(`^sums up to -\\d+, not to 0 \\(event at position ${position}\\)$`)),
    });
    expect(failures.transactions).toBe(1);
  });

  test('finds an account that went below zero', async () => {
    const { position } = await eventOf(`account-${usd}`, 'FundsPended');
    const found = await tampered(
      `UPDATE events SET payload = replace(payload, '"amountMinor":"10000"', '"amountMinor":"65001"') WHERE position = $1`,
      [position],
    );
    expect(found.findings).toContainEqual({
      check: 'ledger',
      subject: `account:${usd}`,
      message: `holds 65000, of which 65001 are reserved (event at position ${position})`,
    });
  });

  test('finds a transaction whose terms its entries do not explain', async () => {
    const uuid = activity.completed.slice('Transaction:'.length);
    const found = await tampered(
      `UPDATE events SET payload = regexp_replace(payload, '"receivingMinor":"[0-9]+"', '"receivingMinor":"1"')
        WHERE stream = $1 AND type = 'PaymentQuoted'`,
      [`payment-${uuid}`],
    );
    expect(found.findings.filter(({ check }) => check === 'transactions')).toEqual([
      {
        check: 'transactions',
        subject: uuid,
        message: expect.stringMatching(
          /^COMPLETED, but \S+ moved by -?\d+, its terms and outcome say -?\d+ \(last event at/,
        ),
      },
    ]);
  });

  test('finds entries and reservations of a transaction that does not exist', async () => {
    const uuid = activity.pending.slice('Transaction:'.length);
    const found = await tampered(
      `UPDATE events SET payload = replace(payload, $1, '00000000-0000-4000-8000-000000000001') WHERE stream = $2`,
      [uuid, `account-${usd}`],
    );
    expect(found.findings).toContainEqual({
      check: 'ledger',
      subject: `account:${usd}`,
      message: 'holds 10000 for payment 00000000-0000-4000-8000-000000000001, which is not under way',
    });
    const other = activity.completed.slice('Transaction:'.length);
    const entries = await tampered(
      `UPDATE events SET payload = replace(payload, $1, '00000000-0000-4000-8000-000000000001') WHERE stream = $2`,
      [other, `account-${usd}`],
    );
    expect(entries.findings.filter(({ check }) => check === 'transactions')).toEqual([
      { check: 'transactions', subject: other, message: expect.stringMatching(/^COMPLETED, but /) },
      {
        check: 'transactions',
        subject: '00000000-0000-4000-8000-000000000001',
        message: expect.stringMatching(/^moves money, but there is no such transaction under way/),
      },
    ]);
  });

  describe('finds a customer whose UMA address', () => {
    const finding = (held: string) => [
      {
        check: 'claims',
        subject: `customer-${customerId}`,
        message: expect.stringMatching(new RegExp(`^uses a UMA address that ${held} \\(claim-[0-9a-f]{64}\\)$`)),
      },
    ];

    test('nobody holds', async () => {
      const found = await tampered(
        `UPDATE events SET type = 'ValueReleased' WHERE type = 'ValueClaimed' AND payload LIKE '%"UMA_ADDRESS"%'`,
      );
      expect(found.findings).toEqual(finding('nobody holds: another customer can take it'));
      expect(found.failures.claims).toBe(1);
    });

    test('is claimed by another one', async () => {
      const found = await tampered(
        `UPDATE events SET payload = replace(payload, $1, 'another') WHERE type = 'ValueClaimed' AND payload LIKE '%"UMA_ADDRESS"%'`,
        [customerId],
      );
      expect(found.findings).toEqual(finding('customer-another holds'));
    });
  });

  test('finds who claims to be ahead of the log: read models, a process, webhooks since an import that was interrupted', async () => {
    const ahead = (name: string) => ({
      check: 'positions',
      subject: `${upTo}`,
      message: `is the end of the log, yet ${name} has come to ${upTo + 5}`,
    });
    for (const name of ['live', 'processes/3', 'deliveries']) {
      const found = await tampered(
        `INSERT INTO checkpoints (name, position) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET position = excluded.position`,
        [name, upTo + 5],
      );
      expect(found.findings).toEqual([ahead(name)]);
    }
  });

  test('an event that read models pass over by order is passed over here, and counted', async () => {
    const { position } = await eventOf(`platform-${platform.tenant.platform}.sandbox`, 'PlatformCreated');
    await sql(`INSERT INTO projection_skips (position, ordered_by) VALUES ($1, 'test')`, [position]);
    const found = await verified();
    await sql('DELETE FROM projection_skips');
    expect(found).toMatchObject({ skipped: 1, failures: { 'read models': 1, events: 0 } });
  });

  test('finds a payment that waits, and that nothing will wake', async () => {
    const { rows } = await sql('SELECT stream FROM timers');
    expect(rows).toHaveLength(1);
    const found = await tampered('DELETE FROM timers');
    expect(found.findings).toEqual([
      {
        check: 'timers',
        subject: rows[0].stream,
        message: expect.stringMatching(/^waits until 2.*Z, and nothing will wake it: rebuild its read model$/),
      },
    ]);
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
