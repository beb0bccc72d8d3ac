import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { AnyProjection } from '../../../libs/kernel/projection.ts';
import { internalAccounts } from '../../../projections/internal-accounts.ts';
import { journal } from '../../../projections/journal.ts';
import { dropFormerTables, prepareReadTables, strangeTables } from './prepare.ts';
import { AccountLog, becomes } from './projector.examples.ts';
import { type RebuildSource, rebuild } from './rebuild.ts';

const lease = { heartbeatMs: 100, expiresMs: 1_000, pollMs: 50 };

let log: AccountLog;
let source: RebuildSource;
beforeEach(async () => {
  log = await AccountLog.open();
  source = log.source;
});
afterEach(() => log.close());

/** The accounts with a column more, as a release would make them. */
const newer: AnyProjection = {
  ...internalAccounts,
  version: internalAccounts.version + 1,
  columns: { ...internalAccounts.columns, posted: 'bigint' },
  apply(rows, event) {
    const set = (row: AnyRow) => rows.set({ ...row, posted: row.state.postedMinor });
    internalAccounts.apply({ get: (id) => rows.get(id), set: set as never }, event);
  },
};
type AnyRow = { id: string; state: { postedMinor: bigint } };

/** A read model that a release adds. */
const added: AnyProjection = { ...internalAccounts, name: 'internal_accounts_again' };

/** What a new version does when it starts, before it projects. */
async function bringUp(projections: readonly AnyProjection[]): Promise<void> {
  await rebuild(source, await prepareReadTables(log.pool, projections), { wait: true, lease });
  await dropFormerTables(log.pool, projections);
}

test.each([
  ['changes a read model', [newer, journal], 'internal_accounts'],
  ['adds a read model', [internalAccounts, journal, added], 'internal_accounts_again'],
])(
  'where a new version %s, the old projector stands by, and the new one carries on',
  async (_, projections, strange) => {
    await log.deposits(5);
    const old = await log.start({ lease });
    await becomes(() => old.position, 6);
    await bringUp(projections);
    await log.deposits(3);
    await becomes(() => old.failure, `the read models are of another version: ${strange}`);
    const fresh = await log.start({ projections, lease });
    await becomes(() => fresh.position, 10);
    expect([old.position, old.failure, fresh.failure]).toEqual([
      6,
      `the read models are of another version: ${strange}`,
      undefined,
    ]);
    expect(log.logged.filter((line) => line.startsWith('error'))).toEqual([
      'error: the projector stands at position 6',
    ]);
    await fresh.stop();
    const { tables } = await rebuild(source, projections, { lease });
    expect(tables.map(({ name, rows, compared }) => [name, rows, compared])).toEqual(
      projections.map(({ name }) => [name, name === 'journal' ? 8 : 2, { differing: 0, differences: [] }]),
    );
  },
);

test('the table of a read model that a new version has no more is dropped, and an old projector leaves the rest alone', async () => {
  await log.deposits(2);
  const old = await log.start({ lease });
  await becomes(() => old.position, 3);
  await old.stop();
  await bringUp([internalAccounts]);
  const { rows } = await log.pool.query(`SELECT name, to_regclass('journal') AS dropped FROM read_tables`);
  expect(rows).toEqual([{ name: 'internal_accounts', dropped: null }]);
  const again = await log.start({ lease });
  await becomes(() => again.failure, 'the read models are of another version: journal');
  const fresh = await log.start({ projections: [internalAccounts], lease });
  await log.deposits(1);
  await becomes(() => fresh.position, 5);
  expect(await log.projected()).toEqual(['2', '1']);
});

test('a table that is added before anything has happened is built anew, too: a projector may be at work already', async () => {
  expect(await prepareReadTables(log.pool, [internalAccounts, journal, added])).toEqual([added]);
  expect(await strangeTables(log.pool, [internalAccounts, added])).toEqual(['internal_accounts_again', 'journal']);
});
