import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { Lease } from '../../../libs/adapters/postgres/lease.ts';
import type { EventStore } from '../../../libs/kernel/event-store.port.ts';
import type { Feed, FeedFollower, RunningFeed } from '../../../libs/kernel/feed.port.ts';
import { eventually } from '../../../test/eventually.ts';
import { Gate } from '../../../test/gate.ts';
import { AccountLog, becomes, dump } from './projector.examples.ts';
import { rebuild } from './rebuild.ts';

/** Divides the log among three partitions, by the number in a platform's name; each partition is asked for again and again. */
class DividedFeed implements Feed {
  readonly partitions = 3;
  private readonly store: EventStore;

  constructor(store: EventStore) {
    this.store = store;
  }

  partitionOf(platform: string): number {
    return Number(platform.at(-1)) % 3;
  }

  async follow(follower: FeedFollower): Promise<RunningFeed> {
    const running = { isOn: true };
    const loops = [0, 1, 2].map(async (partition) => {
      while (running.isOn) {
        await this.carry(follower, partition).catch(() => {}); // asked again, as the port says
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
      await follower.release(partition);
    });
    const stop = async () => {
      running.isOn = false;
      await Promise.all(loops);
    };
    return { failure: undefined, stop };
  }

  private async carry(follower: FeedFollower, partition: number): Promise<void> {
    const stand = await follower.take(partition);
    if (!stand) return;
    const { events } = await this.store.readAll(stand.position, 1_000);
    const mine = events.filter(({ metadata }) => this.partitionOf(JSON.parse(metadata).platform) === partition);
    if (mine.length > 0) await follower.carry(partition, { events: mine, mark: `mark ${mine.at(-1)!.position}` });
  }
}

/** Times in which a lease changes hands soon. */
const lease = { heartbeatMs: 100, expiresMs: 1_000, pollMs: 50 };
const isStopped = (said: () => string, line: string) =>
  eventually(
    async () => said(),
    (text) => text.endsWith(line),
  );

let log: AccountLog;
beforeEach(async () => {
  log = await AccountLog.open();
});
afterEach(() => log.close());

describe('a projector that is stopped', () => {
  test('in the middle of a batch holds nobody up, and changes nothing when it continues', async () => {
    await log.deposits(95);
    const { child, said } = log.startChild('49', 'SIGSTOP');
    await isStopped(said, 'at 40\n');
    const successor = await log.start({ lease, batchSize: 7 });
    await becomes(() => successor.position, 96);
    const rows = await dump(log.pool, log.tables);
    child.kill('SIGCONT');
    await eventually(
      async () => said(),
      (text) => text.includes('error: the projector stands at position 40'),
    );
    await log.deposits(3);
    await becomes(() => successor.position, 100);
    const lines = said().trim().split('\n');
    expect(lines.slice(0, 4)).toEqual(['at 10', 'at 20', 'at 30', 'at 40']);
    expect(lines.slice(4).filter((line) => line.startsWith('at '))).toEqual([]);
    const now = await dump(log.pool, log.tables);
    expect(now.journal!.filter((row) => rows.journal!.includes(row))).toEqual(rows.journal);
    expect([await log.checkpoints(), await log.projected()]).toEqual([{ live: 100 }, ['95', '3']]);
  });

  test('between two batches finds out that another projector has gone on', async () => {
    await log.deposits(9);
    const { child, said } = log.startChild('-1');
    await isStopped(said, 'at 10\n');
    child.kill('SIGSTOP');
    const successor = await log.start({ lease });
    await eventually(
      () => log.pool.query(`SELECT 1 FROM leases WHERE name = 'live' AND token = 2`),
      ({ rowCount }) => rowCount === 1,
    );
    await log.deposits(5);
    await becomes(() => successor.position, 16);
    child.kill('SIGCONT');
    await eventually(
      async () => said(),
      (text) => text.includes('the lease was lost'),
    );
    const reason = 'another projector, a rebuild or an erasure took it, or it could not be renewed';
    expect(said()).toBe(`at 10\ninfo: the lease was lost at position 10: ${reason}\n`);
    await log.deposits(5);
    await becomes(() => successor.position, 22);
    expect([await log.projected(), log.logged]).toEqual([['9', '5', '5'], []]);
  });
});

test('a lease that was taken away is taken back while nothing new comes', async () => {
  const projector = await log.start({ lease });
  await log.deposits(9);
  await becomes(() => projector.position, 10);
  const rebuild = new Lease(log.pool, 'live', { role: 'rebuild' });
  await rebuild.seize();
  await rebuild.release();
  const owner = async () => (await log.pool.query(`SELECT owner, token::int FROM leases WHERE name = 'live'`)).rows[0];
  await eventually(owner, ({ token }) => token === 3);
  expect((await owner()).owner).toMatch(/:projector$/);
});

test('what a crash of the database undid is carried again, though nothing new has come', async () => {
  const projector = await log.start({ lease });
  await log.deposits(9);
  await becomes(() => projector.position, 10);
  const rows = await dump(log.pool, log.tables);
  await log.pool.query(`TRUNCATE ${log.tables.join(', ')}; UPDATE checkpoints SET position = 0`);
  await log.pool.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                         WHERE datname = current_database() AND application_name = 'ledgerline-projector'`);
  await becomes(async () => JSON.stringify(await log.checkpoints()), '{"live":10}');
  expect(await dump(log.pool, log.tables)).toEqual(rows);
});

test('a crash in the middle of what the feed hands over is not taken for another projector', async () => {
  let follower: FeedFollower | undefined;
  const byHand: Feed = {
    partitions: 1,
    partitionOf: () => 0,
    async follow(one) {
      follower = one;
      return { failure: undefined, stop: () => one.release(0) };
    },
  };
  await log.start({ feed: byHand, lease });
  await log.deposits(3);
  const { events } = await log.store.readAll(0, 10);
  await follower!.take(0);
  await follower!.carry(0, { events: events.slice(0, 2) });
  await log.pool.query(`TRUNCATE ${log.tables.join(', ')}; UPDATE checkpoints SET position = 0`);
  await log.pool.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                         WHERE datname = current_database() AND application_name = 'ledgerline-projector'`);
  await becomes(() => follower!.isSure(0), false);
  await expect(follower!.carry(0, { events: events.slice(2) })).rejects.toThrow('the connection was lost');
  expect(log.logged).toEqual(['error: the projector stands at position 2']);
  await becomes(() => follower!.take(0).catch(() => undefined), { position: 0 }); // asked again, as the port says
  await follower!.carry(0, { events });
  expect([await log.checkpoints(), await log.projected()]).toEqual([{ live: 4 }, ['3']]);
});

describe('a database that takes connections and says nothing', () => {
  let gate: Gate;
  let url: string;
  beforeEach(async () => {
    ({ gate, url } = await Gate.before(log.database.url));
  });
  afterEach(() => gate.close());

  test.each([
    ['from the beginning', 0],
    ['in the middle of the work', 10],
  ])('%s holds nothing up once it answers again', async (_, before) => {
    if (before === 0) gate.silence();
    const projector = await log.start({ url, lease, silenceMs: 300 });
    if (before > 0) await log.deposits(before - 1);
    await becomes(() => projector.position, before);
    gate.silence();
    await log.deposits(5);
    await becomes(() => projector.failure !== undefined, true);
    gate.open();
    await becomes(() => projector.position, before + 6);
    await becomes(() => projector.failure, undefined);
    expect(await log.projected()).toEqual(before === 0 ? ['5'] : ['9', '5']);
  });
});

describe('with several partitions', () => {
  const divided = () => new DividedFeed(log.store);
  const source = () => ({
    store: log.store,
    codec: log.codec,
    url: log.database.url,
    pool: log.pool,
    partitions: divided(),
  });

  test('each has a checkpoint of its own, with the mark of the feed; an empty one stays where it was', async () => {
    await log.deposits(4, 'platform 0');
    await log.deposits(2, 'platform 1');
    await log.start({ feed: divided() });
    await becomes(() => log.checkpoints(), { 'live/0': 5, 'live/1': 8, 'live/2': 0 });
    expect(await log.projected()).toEqual(['4', '2']);
    const { rows } = await log.pool.query('SELECT name, mark FROM checkpoints ORDER BY name');
    expect(rows).toEqual([
      { name: 'live/0', mark: 'mark 5' },
      { name: 'live/1', mark: 'mark 8' },
      { name: 'live/2', mark: null },
    ]);
  });

  test('they begin where the log itself as a feed stood; the way back is refused, with what to do', async () => {
    const direct = await log.start();
    await log.deposits(4, 'platform 0');
    await becomes(() => direct.position, 5);
    await direct.stop();
    await log.deposits(2, 'platform 1');
    const many = await log.start({ feed: divided() });
    await becomes(() => log.checkpoints(), { 'live/0': 5, 'live/1': 8, 'live/2': 5 });
    await many.stop();
    const back = await log.start();
    await becomes(
      () => back.failure,
      'The read models were fed in 3 partitions, and are to be fed in 1 now: docs/operations.md says how to change that.',
    );
    expect(await log.projected()).toEqual(['4', '2']);
  });

  test('a projector of the log itself that still runs leaves everything to them, says so once, and is in nobody’s way', async () => {
    const direct = await log.start({ lease });
    await log.deposits(4, 'platform 0');
    await becomes(() => direct.position, 5);
    const many = await log.start({ feed: divided(), lease });
    await becomes(() => log.checkpoints(), { 'live/0': 5, 'live/1': 5, 'live/2': 5 });
    await log.deposits(2, 'platform 1');
    const failure =
      'The read models were fed in 3 partitions, and are to be fed in 1 now: docs/operations.md says how to change that.';
    await becomes(() => direct.failure, failure);
    await log.pool.query(`UPDATE leases SET owner = NULL WHERE name = 'live'`); // as when it has expired
    let takes = 0;
    const take = direct.take.bind(direct);
    direct.take = (partition) => {
      takes += 1;
      return take(partition);
    };
    await becomes(() => takes > 1, true);
    await becomes(() => log.checkpoints(), { 'live/0': 5, 'live/1': 8, 'live/2': 5 });
    expect([direct.position, direct.failure, many.failure]).toEqual([5, failure, undefined]);
    const { rows } = await log.pool.query(`SELECT owner, token::int FROM leases WHERE name = 'live'`);
    expect([rows, await log.projected()]).toEqual([[{ owner: null, token: 1 }], ['4', '2']]);
    expect(log.logged.filter((line) => line.startsWith('error'))).toEqual([
      'error: the projector stands at position 5',
    ]);
    await many.stop();
    const next = await log.start({ feed: divided(), lease });
    await log.deposits(1, 'platform 2');
    await becomes(() => log.checkpoints(), { 'live/0': 5, 'live/1': 8, 'live/2': 10 });
    expect(next.failure).toBeUndefined();
  });

  test('what stops one leaves the others going', async () => {
    const [good, bad] = [await log.deposits(3, 'platform 0'), await log.deposits(3, 'platform 1')];
    const fragile = {
      ...log.projections[0]!,
      apply(...[rows, event]: Parameters<(typeof log.projections)[0]['apply']>) {
        if (event.stream.endsWith(bad) && event.revision === 2) throw new Error('a bug');
        log.projections[0]!.apply(rows, event);
      },
    };
    const projector = await log.start({ feed: divided(), projections: [fragile, log.projections[1]!] });
    const failure = `DepositReceived of account-${bad} at position 7 cannot be projected: a bug`;
    await becomes(() => projector.failure, failure);
    await becomes(() => log.checkpoints(), { 'live/0': 4, 'live/1': 6, 'live/2': 0 });
    expect(good).not.toBe(bad);
    expect(log.logged).toContain('error: the projector stands at position 6 of partition 1');
  });

  test('what failed with the database is over when it answers again, though nothing new has come', async () => {
    await log.deposits(4, 'platform 0');
    await log.pool.query('ALTER TABLE checkpoints RENAME TO hidden');
    const projector = await log.start({ feed: divided() });
    await becomes(() => projector.failure, 'relation "checkpoints" does not exist');
    await log.pool.query('ALTER TABLE hidden RENAME TO checkpoints');
    await becomes(() => log.checkpoints(), { 'live/0': 5, 'live/1': 0, 'live/2': 0 });
    await becomes(() => projector.failure, undefined);
  });

  test('a rebuild gives what each partition shows, and what it does not show yet comes after it', async () => {
    await log.deposits(4, 'platform 0');
    await log.deposits(2, 'platform 1');
    const first = await log.start({ feed: divided() });
    await becomes(() => log.checkpoints(), { 'live/0': 5, 'live/1': 8, 'live/2': 0 });
    await first.stop();
    await log.deposits(3, 'platform 0');
    await log.deposits(3, 'platform 2');
    await log.pool.query(`UPDATE checkpoints SET position = 0 WHERE name = 'live/1'`); // as if it had shown nothing
    await log.pool.query(`DELETE FROM internal_accounts WHERE platform = 'platform 1'`);
    await log.pool.query(`DELETE FROM journal WHERE platform = 'platform 1'`);
    const shown = await dump(log.pool, log.tables);
    const done = await rebuild(source(), log.projections);
    expect(done.tables.map(({ compared }) => compared?.differing)).toEqual([0, 0]);
    expect(await dump(log.pool, log.tables)).toEqual(shown);
    await log.start({ feed: divided() });
    await becomes(() => log.projected(), ['4', '3', '3', '2']);
  });

  test('a rebuild keeps all of them waiting, and they go on after it', async () => {
    const projector = await log.start({ feed: divided(), lease: { pollMs: 50 } });
    await log.deposits(4, 'platform 0');
    await log.deposits(2, 'platform 1');
    await becomes(() => log.checkpoints(), { 'live/0': 5, 'live/1': 8, 'live/2': 0 });
    const done = await rebuild(source(), log.projections);
    expect(done.tables.map(({ compared }) => compared?.differing)).toEqual([0, 0]);
    await log.deposits(1, 'platform 2');
    await becomes(() => log.checkpoints(), { 'live/0': 5, 'live/1': 8, 'live/2': 10 });
    expect([projector.failure, await log.projected()]).toEqual([undefined, ['4', '2', '1']]);
  });
});
