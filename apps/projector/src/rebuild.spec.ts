import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import type { AccountState } from '../../../libs/domain/accounts/account.ts';
import { fromJson } from '../../../libs/kernel/json.ts';
import type { RecordedEvent } from '../../../libs/kernel/messages.ts';
import { projections } from '../../../projections/index.ts';
import { internalAccounts } from '../../../projections/internal-accounts.ts';
import { journal } from '../../../projections/journal.ts';
import { payments } from '../../../projections/payments.ts';
import { type Activity, someActivity } from '../../../test/activity.ts';
import { startTestPlatform, type TestPlatform } from '../../../test/platform.ts';
import { Fill } from './fill.ts';
import { AccountLog, becomes, dump } from './projector.examples.ts';
import { type RebuildSource, rebuild } from './rebuild.ts';

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

describe('a rebuild on a log of accounts', () => {
  let log: AccountLog;
  let source: RebuildSource;
  beforeEach(async () => {
    log = await AccountLog.open();
    source = log.source;
  });
  afterEach(() => log.close());

  /** Projects the log; the projector has ended then. */
  async function project(): Promise<void> {
    const projector = await log.start();
    const head = await log.store.head();
    await becomes(() => projector.position, head);
    await projector.stop();
  }
  const kept = async () => {
    const { rows } = await log.pool.query('SELECT name, position::int FROM rebuilds ORDER BY name');
    return rows;
  };
  /** Fails with the event of that revision, while `isBroken`. */
  function fragile(revision: number) {
    const projection = {
      ...internalAccounts,
      isBroken: true,
      apply(...[rows, event]: Parameters<typeof internalAccounts.apply>) {
        if (projection.isBroken && event.revision === revision) throw new Error('a bug in the projection');
        internalAccounts.apply(rows, event);
      },
    };
    return projection;
  }

  test('goes on where it was interrupted', async () => {
    await log.deposits(99);
    await project();
    const before = await dump(log.pool, log.tables);
    const ending = new AbortController();
    const interrupted = rebuild(source, log.projections, {
      batchSize: 10,
      signal: ending.signal,
      progress: ({ position }) => {
        if (position === 40) ending.abort(new Error('interrupted'));
      },
    });
    await expect(interrupted).rejects.toThrow('interrupted');
    expect(await kept()).toEqual(log.tables.toSorted().map((name) => ({ name, position: 40 })));
    const done = await rebuild(source, log.projections, { batchSize: 10 });
    expect([done.events, done.tables.map(({ compared }) => compared?.differing)]).toEqual([60, [0, 0]]);
    expect([await dump(log.pool, log.tables), await kept()]).toEqual([before, []]);
  });

  test('starts anew when the shape has changed since it was interrupted', async () => {
    await log.deposits(29);
    await project();
    await rebuild(source, [internalAccounts], { ahead: true });
    expect(await kept()).toEqual([{ name: 'internal_accounts', position: 30 }]);
    const done = await rebuild(source, [{ ...internalAccounts, version: 9_999 }]);
    expect(done.events).toBe(30);
  });

  test('is stopped by an event that cannot be projected and names it; repaired, it goes on from there', async () => {
    const accountId = await log.deposits(49);
    await project();
    const broken = fragile(37);
    const told = `DepositReceived of account-${accountId} at position 38 cannot be projected: a bug in the projection`;
    await expect(rebuild(source, [journal, broken], { batchSize: 10 })).rejects.toThrow(told);
    expect((await kept()).map(({ position }: { position: number }) => position)).toEqual([37, 37]);
    const { rows } = await log.pool.query('SELECT DISTINCT last_error FROM rebuilds');
    expect(rows).toEqual([{ last_error: told }]);
    expect(await log.projected()).toEqual(['49']);
    broken.isBroken = false;
    const done = await rebuild(source, [journal, broken]);
    expect([done.events, done.tables.map(({ compared }) => compared?.differing)]).toEqual([13, [0, 0]]);
  });

  test('passes an event over that it is told to, and so does every projector from then on', async () => {
    await log.deposits(49);
    await project();
    const broken = fragile(37);
    await expect(rebuild(source, [broken])).rejects.toThrow('at position 38');
    const done = await rebuild(source, [broken, journal], { skip: [38] });
    expect(done.tables.map(({ name, rows, compared }) => [name, rows, compared?.differing])).toEqual([
      ['internal_accounts', 1, 1],
      ['journal', 48, 1],
    ]);
    expect(await log.projected()).toEqual(['48']);
    await log.pool.query(`TRUNCATE ${log.tables.join(', ')}, checkpoints`);
    await log.start({ projections: [broken, journal] });
    await becomes(() => log.projected(), ['48']);
    expect(log.logged).toEqual([]);
  });

  test('a projector that is stuck goes on when its event is to be passed over, even one that nobody can read', async () => {
    await log.deposits(3);
    const unreadable = { id: randomUUID(), type: 'DepositReceived', payload: '{', metadata: '{"platform":"p"}' };
    await log.store.append([
      { stream: `account-${randomUUID()}`, expectedRevision: -1, events: [unreadable], answers: [] },
    ]);
    await log.deposits(2);
    const projector = await log.start();
    await becomes(() => projector.position, 4);
    await expect(rebuild(source, [internalAccounts])).resolves.toMatchObject({ events: 4 });
    await rebuild(source, [internalAccounts], { skip: [5] });
    await becomes(() => [projector.position, projector.failure], [8, undefined]);
    expect(await log.projected()).toEqual(['3', '2']);
  });

  test('of many tables fills as many at once as it is told to', async () => {
    await log.deposits(9);
    await project();
    const passes = new Set<string>();
    const done = await rebuild(source, log.projections, {
      atOnce: 1,
      progress: ({ tables }) => passes.add(tables.join()),
    });
    expect([[...passes], done.events]).toEqual([['internal_accounts', 'journal'], 20]);
    expect(done.tables.map(({ name, compared }) => [name, compared?.differing])).toEqual([
      ['internal_accounts', 0],
      ['journal', 0],
    ]);
  });

  test('that is only made ahead leaves the live table alone; the next one has the rest to do', async () => {
    await log.deposits(9);
    await project();
    await log.pool.query('DELETE FROM internal_accounts');
    expect(await rebuild(source, [internalAccounts], { ahead: true })).toMatchObject({ events: 10, tables: [] });
    expect(await log.projected()).toEqual([]);
    await log.pool.query('UPDATE checkpoints SET position = 0');
    await log.deposits(4);
    await project();
    const done = await rebuild(source, [internalAccounts]);
    expect([done.events, await log.projected()]).toEqual([5, ['9', '4']]);
  });

  test('at the start of several programs is made by one of them, and the others wait for it', async () => {
    await log.deposits(9);
    await project();
    const changed = { ...internalAccounts, version: 9_999 };
    const done = await Promise.all([1, 2].map(() => rebuild(source, [changed], { wait: true })));
    expect(done.map(({ events }) => events).sort()).toEqual([0, 10]);
  });

  test('is refused while another one is under way', async () => {
    const other = await log.pool.connect();
    await other.query('SELECT pg_advisory_lock(4904)');
    await expect(rebuild(source, [journal])).rejects.toThrow('Another rebuild is under way on this database.');
    other.release(true);
  });
});

/** Temporary tables live as long as the connection. */
async function onConnection(work: (client: pg.Client) => Promise<void>): Promise<void> {
  const client = new pg.Client({ connectionString: platform.engine.url });
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}

test.each([
  ['a table that was there', () => {}],
  ['one that has just been made', (fill: Fill) => fill.startsEmpty()],
])('rows that leave memory before the end come out the same in %s', (_, prepare) =>
  onConnection(async (client) => {
    const { events } = await platform.engine.store.readAll(0, 10_000);
    const decoded = await platform.engine.codec.decode(events);
    const fill = new Fill(internalAccounts, 'pg_temp.small_memory', client, 2);
    await fill.table.create(client);
    prepare(fill);
    for (let from = 0; from < decoded.length; from += 3) await fill.take(decoded.slice(from, from + 3));
    await fill.flush();
    const made = await client.query(`SELECT row_to_json(t)::text AS row FROM pg_temp.small_memory t ORDER BY 1`);
    expect(made.rows.map(({ row }) => row)).toEqual(await rowsOf('internal_accounts'));
  }),
);

test('a damaged log that begins a row twice is filled in as far as it goes', () =>
  onConnection(async (client) => {
    const { events } = await platform.engine.store.readAll(0, 10_000);
    const decoded = await platform.engine.codec.decode(events);
    const quoted = decoded.filter(({ type }) => type === 'PaymentQuoted');
    const fill = new Fill(payments, 'pg_temp.twice', client, 1);
    await fill.table.create(client);
    fill.startsEmpty();
    await fill.take(quoted);
    await fill.take(decoded.filter(({ type }) => type === 'AccountOpened'));
    await fill.take(quoted);
    await fill.flush();
    const { rows } = await client.query<{ id: string }>('SELECT id FROM pg_temp.twice');
    const ids = quoted.map(({ data }) => (data as { paymentId: string }).paymentId);
    expect(rows.map(({ id }) => id).sort()).toEqual(ids.sort());
  }));

test('a row that an event begins is not looked for, unless the table may be ahead of the events', () =>
  onConnection(async (client) => {
    const { events } = await platform.engine.store.readAll(0, 10_000);
    const decoded = await platform.engine.codec.decode(events);
    const begun = decoded.filter(({ type }) => type === 'PaymentQuoted' || type === 'DepositReceived');
    const ids = begun.map(({ data }) => (data as { paymentId: string }).paymentId);
    const table = 'pg_temp.begun';
    const looked: unknown[] = [];
    const watched = {
      query: (query: string | { name: string; values: unknown[] }) => {
        if (typeof query === 'object' && query.name === `read_${table}`) looked.push(...(query.values[0] as string[]));
        return client.query(query as string);
      },
    } as Pick<pg.Client, 'query'>;
    const made = async () => {
      const { rows } = await client.query(`SELECT row_to_json(t)::text AS row FROM ${table} t ORDER BY 1`);
      return rows.map(({ row }) => row);
    };
    const fill = new Fill(payments, table, watched, 1);
    await fill.table.create(client);
    for (let from = 0; from < decoded.length; from += 50) await fill.take(decoded.slice(from, from + 50));
    await fill.flush();
    const live = await rowsOf('payments');
    expect([looked, await made()]).toEqual([[], live]);
    expect(live.map((row) => JSON.parse(row).id).sort()).toEqual([...ids].sort());
    const onward = new Fill(payments, table, watched);
    onward.goesOn();
    await onward.take(begun);
    await onward.flush();
    expect([looked, await made()]).toEqual([ids, live]);
  }));

test('a row that is wanted again while it is being written is the one that left memory', () =>
  onConnection(async (client) => {
    const { events } = await platform.engine.store.readAll(0, 10_000);
    const decoded = await platform.engine.codec.decode(events);
    const first = (type: string) => decoded.find((event) => event.type === type)!;
    const of = (event: RecordedEvent, n: number, revision: number): RecordedEvent => {
      const accountId = `account ${n}`;
      return { ...event, stream: `account-${accountId}`, revision, data: { ...(event.data as object), accountId } };
    };
    const accounts = Array.from({ length: 5_000 }, (_, n) => n);
    const opened = accounts.map((n) => of(first('AccountOpened'), n, 0));
    const deposits = accounts.map((n) => ({ ...of(first('DepositReceived'), n, 1), position: 1_000_000 + n }));
    const { amountMinor } = deposits[0]!.data as { amountMinor: bigint };
    const fill = new Fill(internalAccounts, 'pg_temp.written_late', client, 4_900);
    await fill.table.create(client);
    fill.startsEmpty();
    await fill.take(opened);
    await fill.take(deposits);
    await fill.flush();
    const { rows } = await client.query<{ state: string }>('SELECT state FROM pg_temp.written_late');
    expect(rows).toHaveLength(accounts.length);
    const wrong = rows.filter(({ state }) => fromJson<AccountState>(state).postedMinor !== amountMinor);
    const unopened = rows.filter(({ state }) => fromJson<AccountState>(state).status !== 'ACTIVE');
    expect([wrong.length, unopened.length]).toEqual([0, 0]);
  }));
