import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { checkpointsOf } from '../../libs/adapters/postgres/live-checkpoints.ts';
import { eventually } from '../eventually.ts';
import { startTestPlatform, type TestInstance, type TestPlatform } from '../platform.ts';

let platform: TestPlatform;
let other: TestInstance;
beforeAll(async () => {
  platform = await startTestPlatform({ readWaitMs: 10_000 });
  other = await platform.instance();
});
afterAll(() => platform.stop());

const create = (platformCustomerId: string) =>
  platform.api('post', '/customers').send({ customerType: 'INDIVIDUAL', platformCustomerId, fullName: 'Amina Diop' });
const positionIn = ({ headers }: { headers: Record<string, string> }) => Number(headers['read-position']);

/** The name as another instance shows it. */
const nameAt = (id: string, asked?: number) => {
  const get = other.api('get', `/customers/${id}`);
  return asked === undefined ? get : get.set('Read-Position', String(asked));
};

let letGo = async (): Promise<void> => {};
afterEach(() => letGo());

/** Has the projector wait, with what it carries in the partition of the first platform, until `letGo`. Answers how to wait for that. */
async function holdProjector(): Promise<() => Promise<unknown>> {
  const { pool, partitions } = platform.engine;
  const client = await pool.connect();
  letGo = async () => {
    letGo = async () => {};
    await client.query('ROLLBACK');
    client.release();
  };
  await client.query('BEGIN');
  const name = checkpointsOf(partitions)[partitions.partitionOf(platform.tenant.platform)];
  const { rows } = await client.query<{ me: number }>(
    'SELECT pg_backend_pid() AS me FROM checkpoints WHERE name = $1 FOR UPDATE',
    [name],
  );
  const waiting = 'SELECT 1 FROM pg_stat_activity WHERE $1 = ANY(pg_blocking_pids(pid))';
  return () =>
    eventually(
      () => pool.query(waiting, [rows[0]!.me]),
      ({ rowCount }) => rowCount! > 0,
    );
}

const rename = (api: TestPlatform['api'], id: string, fullName: string) =>
  api('patch', `/customers/${id}`).send({ customerType: 'INDIVIDUAL', fullName }).expect(200);

test('a write answers with its position, and whoever is sent it shows what was written', async () => {
  const made = await create('one').expect(201);
  const { id } = made.body;
  expect(positionIn(made)).toBe(await platform.engine.store.head());
  await nameAt(id, positionIn(made)).expect(200);

  const untilItWaits = await holdProjector();
  const changed = await rename(platform.api, id, 'Amina D. Diop');
  expect(positionIn(changed)).toBe(await platform.engine.store.head());
  await untilItWaits();
  const before = await nameAt(id).expect(200);
  expect([before.body.fullName, positionIn(before)]).toEqual(['Amina Diop', positionIn(made)]);

  const waiting = nameAt(id, positionIn(changed)).then((answer) => answer);
  await letGo();
  const after = await waiting;
  expect([after.status, after.body.fullName]).toEqual([200, 'Amina D. Diop']);
  expect(positionIn(after)).toBeGreaterThanOrEqual(positionIn(changed));
  const removed = await platform.api('delete', `/customers/${id}`).expect(200);
  const gone = await nameAt(id, positionIn(removed)).expect(200);
  expect(gone.body.isDeleted).toBe(true);
});

test('a platform waits for its own partition of the feed, and for no other', async () => {
  const { partitions, partitionOf } = platform.engine.partitions;
  const isApart = ({ tenant }: Pick<TestPlatform, 'tenant'>) =>
    partitionOf(tenant.platform) !== partitionOf(platform.tenant.platform);
  let neighbour = await platform.another();
  while (partitions > 1 && !isApart(neighbour)) neighbour = await platform.another();
  const person = { customerType: 'INDIVIDUAL', platformCustomerId: 'one', fullName: 'Ibrahim Ba' };
  const made = await neighbour.api('post', '/customers').send(person).expect(201);
  const read = () => neighbour.api('get', `/customers/${made.body.id}`).expect(200);
  expect(positionIn(await read())).toBe(positionIn(made));

  await holdProjector();
  const changed = await rename(neighbour.api, made.body.id, 'Ibrahim K. Ba');
  const isSeen = ({ body }: { body: { fullName: string } }) => body.fullName === 'Ibrahim K. Ba';
  const seen = await eventually(read, (answer) => isSeen(answer) || !isApart(neighbour));
  expect([isSeen(seen), positionIn(seen)]).toEqual(
    isApart(neighbour) ? [true, positionIn(changed)] : [false, positionIn(made)],
  );
});

test('a position that nobody has written yet is waited for in vain, and what there is is shown', async () => {
  const made = await create('two').expect(201);
  const head = await platform.engine.store.head();
  const shown = await nameAt(made.body.id, head + 1_000_000);
  expect([shown.status, positionIn(shown)]).toEqual([200, head]);
});

test.each(['', 'abc', '-1', '1.5', '1e3', '99999999999999999', '9007199254740993'])(
  'a malformed one is refused: %j',
  async (value) => {
    const { body } = await other.api('get', '/customers').set('Read-Position', value).expect(400);
    expect(body.details.errors).toEqual([
      {
        field: 'Read-Position',
        constraint: 'FORMAT',
        message: 'Read-Position must be the Read-Position of an earlier answer.',
      },
    ]);
  },
);

test('a repeated request is answered with a position, too; a refused one with none', async () => {
  const send = (api: TestPlatform['api'], platformCustomerId: string) =>
    api('post', '/customers')
      .set('Idempotency-Key', key)
      .send({ customerType: 'INDIVIDUAL', platformCustomerId, fullName: 'Amina Diop' });
  const key = randomUUID();
  const made = await send(platform.api, 'three').expect(201);
  const again = await send(other.api, 'three').expect(201);
  expect(again.body).toEqual(made.body);
  expect(positionIn(again)).toBeGreaterThanOrEqual(positionIn(made));
  await nameAt(made.body.id, positionIn(again)).expect(200);
  const refused = await create('three').expect(409);
  expect(refused.headers['read-position']).toBeUndefined();
});
