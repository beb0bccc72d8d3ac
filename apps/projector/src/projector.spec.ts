import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { opening } from '../../../libs/domain/accounts/account.examples.ts';
import { account, OpenAccount } from '../../../libs/domain/accounts/account.ts';
import type { EventStore } from '../../../libs/kernel/event-store.port.ts';
import type { AnyProjection } from '../../../libs/kernel/projection.ts';
import { envelope, writePathOn } from '../../../libs/runtime/execute.examples.ts';
import { announcers, processes, projections } from '../../../projections/index.ts';
import { internalAccounts } from '../../../projections/internal-accounts.ts';
import { journal } from '../../../projections/journal.ts';
import { someActivity } from '../../../test/activity.ts';
import { eventually } from '../../../test/eventually.ts';
import { startTestPlatform, type TestPlatform } from '../../../test/platform.ts';
import { platformAccountId } from '../../shared/provision.ts';
import { prepareReadTables } from './prepare.ts';
import { AccountLog, becomes, dump } from './projector.examples.ts';
import { Projector, type ProjectorOptions } from './projector.ts';

const BESIDE = ['timers', 'webhooks', 'deliveries'];

/** Whatever fills a read table: with a webhook endpoint first, so that deliveries are due. */
async function everyKindOfRow(platform: TestPlatform): Promise<void> {
  const { api } = platform;
  await api('patch', '/config').send({ webhookEndpoint: 'https://receiver.test/hook' }).expect(200);
  const customer = async (platformCustomerId: string) => {
    const individual = { customerType: 'INDIVIDUAL', platformCustomerId, fullName: 'Amina Diop' };
    return (await api('post', '/customers').send(individual).expect(201)).body;
  };
  const [{ id: kept, umaAddress: inviterUma }, { id: deleted }] = [await customer('kept'), await customer('deleted')];
  await api('post', '/invitations').send({ inviterUma, firstName: 'Luis' }).expect(201);
  await api('patch', `/customers/${kept}`).send({ customerType: 'INDIVIDUAL', fullName: 'Amina D. Diop' }).expect(200);
  await api('delete', `/customers/${deleted}`).expect(200);
  const token = await api('post', '/tokens')
    .send({ name: 'Reports', permissions: ['VIEW'] })
    .expect(201);
  await api('delete', `/tokens/${token.body.id}`).expect(204);
  await aSweep(platform, kept);
  await someActivity(platform);
}

/** Money arrives on a rule-based account of the customer and is passed on to the platform's account. */
async function aSweep({ api, engine, tenant }: TestPlatform, customerId: string): Promise<void> {
  const destination = { accountId: `InternalAccount:${platformAccountId(tenant, 'USD')}` };
  const opened = await api('post', '/internal-accounts')
    .set('Idempotency-Key', randomUUID())
    .send({ customerId, type: 'RULE_BASED', currency: 'USD', sweepRule: { destination } })
    .expect(201);
  await api('post', `/sandbox/internal-accounts/${opened.body.id}/fund`).send({ amount: 700 }).expect(200);
  await eventually(
    async () => (await engine.pool.query('SELECT phase FROM sweeps')).rows,
    ([sweep]) => sweep?.phase === 'DONE',
  );
}

describe('with everything that the platform has', () => {
  const tables = [...projections.map(({ name }) => name), ...BESIDE];
  let platform: TestPlatform;
  let rows: Record<string, string[]>;
  let head: number;
  beforeAll(async () => {
    platform = await startTestPlatform({ settings: { allowRuleBasedAccounts: true } });
    await everyKindOfRow(platform);
    head = await platform.engine.store.head();
    await becomes(() => platform.projector.position, head);
    await platform.projector.stop();
    rows = await dump(platform.engine.pool, tables);
  });
  afterAll(() => platform.stop());

  /** Projects the whole log once more, from its beginning. */
  async function projectAgain(options: Partial<ProjectorOptions> = {}): Promise<void> {
    const { pool, store, codec, url } = platform.engine;
    await pool.query('UPDATE checkpoints SET position = 0');
    const catalogue = { projections, announcers, processes };
    const failures: string[] = [];
    const log: ProjectorOptions['log'] = (level, message) => level === 'error' && failures.push(message);
    const projector = new Projector({ url, store, codec, catalogue, log, ...options });
    await projector.start();
    await becomes(() => [projector.position, failures], [head, []]);
    await projector.stop();
  }

  test('there is something in every table', () => {
    const empty = tables.filter((table) => rows[table]!.length === 0 && table !== 'timers');
    expect(empty).toEqual([]);
  });

  test('every event delivered twice more, one right after the other, changes no row', async () => {
    const { store } = platform.engine;
    const stuttering = Object.create(store) as EventStore;
    stuttering.readAll = async (...args) => {
      const { events, upTo } = await store.readAll(...args);
      return { events: events.flatMap((event) => [event, event]), upTo };
    };
    await projectAgain({ store: stuttering });
    expect(await dump(platform.engine.pool, tables)).toEqual(rows);
  });

  test('the whole log delivered again in small batches changes no row', async () => {
    await projectAgain({ batchSize: 3 });
    expect(await dump(platform.engine.pool, tables)).toEqual(rows);
  });

  test.each([1, 7, 1_000])(
    'empty tables filled from the log, %d events at a time, hold identical rows',
    async (batchSize) => {
      await platform.engine.pool.query(`TRUNCATE ${projections.map(({ name }) => name).join(', ')}`);
      await projectAgain({ batchSize });
      expect(await dump(platform.engine.pool, tables)).toEqual(rows);
    },
  );
});

describe('on a log of accounts', () => {
  let log: AccountLog;
  beforeEach(async () => {
    log = await AccountLog.open();
  });
  afterEach(() => log.close());

  test('an event that cannot be applied stops it there, is told, and is not passed over; it goes on after the repair', async () => {
    let isBroken = true;
    const fragile: AnyProjection = {
      ...internalAccounts,
      apply(rows, event) {
        if (isBroken && event.revision === 37) throw new Error('a bug in the projection');
        internalAccounts.apply(rows, event);
      },
    };
    const accountId = await log.deposits(50);
    const projector = await log.start({ projections: [fragile, journal] });
    const failure = `DepositReceived of account-${accountId} at position 38 cannot be projected: a bug in the projection`;
    await becomes(() => [projector.position, projector.failure], [37, failure]);
    expect(log.logged[0]).toBe('error: the projector stands at position 37');
    expect(await log.projected()).toEqual(['36']);
    const { rows } = await log.pool.query('SELECT name, position::int, last_error FROM checkpoints');
    expect(rows).toEqual([{ name: 'live', position: 37, last_error: failure }]);
    isBroken = false;
    await becomes(() => [projector.position, projector.failure], [51, undefined]);
    expect(await log.projected()).toEqual(['50']);
  });

  test('an event that cannot be decoded stops it as well', async () => {
    await log.deposits(3);
    const broken = { id: randomUUID(), type: 'DepositReceived', payload: '{"amountMinor":', metadata: '{}' };
    await log.store.append([
      { stream: `account-${randomUUID()}`, expectedRevision: -1, events: [broken], answers: [] },
    ]);
    const projector = await log.start();
    await eventually(
      async () => projector.failure,
      (failure) => /at position 5 cannot be projected/.test(failure ?? ''),
    );
    expect([projector.position, await log.projected()]).toEqual([4, ['3']]);
  });

  test('while it is stuck, new events do not make it try faster', async () => {
    await log.deposits(1);
    const stuck: AnyProjection = {
      ...internalAccounts,
      apply() {
        throw new Error('stuck');
      },
    };
    const projector = await log.start({ projections: [stuck, journal] });
    await becomes(() => projector.failure !== undefined, true);
    let tries = 0; // each begins with a question where it stands, however many parts of a batch it goes through
    const take = projector.take.bind(projector);
    projector.take = (partition) => {
      tries += 1;
      return take(partition);
    };
    const { path: writePath } = writePathOn(log.store, { codec: log.codec });
    for (let i = 0; i < 60; i += 1) {
      await writePath.execute(account, new OpenAccount({ ...opening, accountId: randomUUID() }), envelope());
    }
    expect(tries).toBeLessThan(30);
  });

  test('of two only one projects; the other takes over when it hands over the lease', async () => {
    const first = await log.start();
    await log.deposits(5);
    await becomes(() => first.position, 6);
    const second = await log.start();
    await log.deposits(5);
    await becomes(() => first.position, 12);
    expect(second.position).toBe(0);
    await first.stop();
    await log.deposits(5);
    await becomes(() => second.position, 18);
    expect([first.position, await log.projected(), log.logged]).toEqual([12, ['5', '5', '5'], []]);
  });

  test('one whose connection is cut starts again and goes on', async () => {
    const projector = await log.start();
    await log.deposits(5);
    await becomes(() => projector.position, 6);
    await log.pool.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'ledgerline-projector' AND datname = current_database()`,
    );
    await log.deposits(5);
    await becomes(() => [projector.position, projector.failure], [12, undefined]);
    expect(await log.projected()).toEqual(['5', '5']);
  });

  test('killed in the middle of a batch it leaves nothing of it behind, and another one takes over', async () => {
    await log.deposits(95);
    const { child, said } = log.startChild('49');
    const [, signal] = await once(child, 'close');
    expect([signal, said()]).toEqual(['SIGKILL', 'at 10\nat 20\nat 30\nat 40\n']);
    expect(await log.checkpoints()).toEqual({ live: 40 });
    expect(await log.projected()).toEqual(['39']);

    const successor = await log.start({ batchSize: 10 });
    await becomes(() => successor.position, 96);
    const taken = await dump(log.pool, log.tables);
    await successor.stop();
    await log.pool.query(`TRUNCATE ${log.tables.join(', ')}, checkpoints`);
    const whole = await log.start();
    await becomes(() => whole.position, 96);
    expect(await dump(log.pool, log.tables)).toEqual(taken);
    expect(taken.journal).toHaveLength(95);
  });

  test('several programs may prepare the tables at once', async () => {
    await log.pool.query(`DROP TABLE ${log.tables.join(', ')}`);
    await log.pool.query('DELETE FROM read_tables');
    const outdated = await Promise.all(Array.from({ length: 4 }, () => prepareReadTables(log.pool, log.projections)));
    expect(outdated).toEqual([[], [], [], []]);
    const { rows } = await log.pool.query('SELECT name, version FROM read_tables ORDER BY name');
    expect(rows).toEqual(
      log.projections.map(({ name, version }) => ({ name, version })).sort((a, b) => (a.name < b.name ? -1 : 1)),
    );
  });

  test('tables of another shape are named, and missing ones too once there is something to fill them with', async () => {
    await log.deposits(1);
    const projector = await log.start();
    await becomes(() => projector.position, 2);
    const changed = { ...internalAccounts, version: internalAccounts.version + 1 };
    const added = { ...journal, name: 'journal_of_another_kind' };
    expect(await prepareReadTables(log.pool, [changed, journal, added])).toEqual([changed, added]);
  });
});
