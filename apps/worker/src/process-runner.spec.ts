import { describe, expect, test } from '@jest/globals';
import type { AnyProcess } from '../../../libs/kernel/process.ts';
import type { Driver } from '../../../libs/runtime/drive.ts';
import { eventually } from '../../../test/eventually.ts';
import { begin, checkpoints, comeTo, held, pool, sorted, worker } from './process-runner.examples.ts';
import { ProcessRunner, shardOf } from './process-runner.ts';

test('the shard of a stream is for ever', () => {
  const streams = ['payment-0195f1c0-7b7e-7000-8000-000000000001', 'customer-1', '', 'é'];
  expect(streams.map(shardOf)).toEqual([0, 7, 5, 4]);
});

test('one alone does everything, and its checkpoints come to the end of the log', async () => {
  const { runner, driven } = worker();
  const early = await begin(20);
  await runner.start();
  await eventually(held, (count) => count === 8);
  const ids = [...early, ...(await begin(20))];
  await eventually(
    async () => driven.length,
    (count) => count === 40,
  );
  expect(sorted(driven)).toEqual(sorted(ids));
  await comeTo(80);
  await runner.stop();
  expect([await checkpoints(), await held()]).toEqual([Array(8).fill(80), 0]);
});

test('what was done before there were shards is not done again', async () => {
  await begin(3);
  await pool.query(`INSERT INTO checkpoints (name, position) VALUES ('processes', 4)`);
  const { runner, driven } = worker();
  await runner.start();
  const all = await eventually(checkpoints, (found) => found.length === 8 && found.every((position) => position === 6));
  expect([driven.length, all]).toEqual([1, Array(8).fill(6)]);
});

test('a clock that is set back holds up no checkpoint', async () => {
  const { runner } = worker();
  await runner.start();
  await eventually(held, (count) => count === 8);
  const { now } = Date;
  Date.now = () => now() - 3_600_000;
  try {
    await begin(1);
    expect(await eventually(checkpoints, (all) => Math.min(...all) === 2)).toEqual(Array(8).fill(2));
  } finally {
    Date.now = now;
  }
});

test('what is of no interest is passed without a pause', async () => {
  const { runner, driven } = worker();
  await pool.query('UPDATE log_head SET position = 200000');
  const ids = await begin(1);
  await runner.start();
  await eventually(
    async () => driven.length,
    (count) => count === 1,
  );
  expect(driven).toEqual(ids);
});

test('two share the streams; when one ends the other one does all', async () => {
  const [one, other] = [worker(), worker()];
  await one.runner.start();
  await eventually(held, (count) => count === 8);
  await other.runner.start();
  const sharesOf = (runner: ProcessRunner) => (runner as unknown as { shards: Map<number, unknown> }).shards.size;
  await eventually(
    async () => [sharesOf(one.runner), sharesOf(other.runner)],
    ([mine, theirs]) => mine === 4 && theirs === 4,
  );
  const ids = await begin(64);
  await eventually(
    async () => one.driven.length + other.driven.length,
    (count) => count >= 64,
  );
  expect(sorted([...one.driven, ...other.driven])).toEqual(sorted(ids));
  expect(Math.min(one.driven.length, other.driven.length)).toBeGreaterThan(0);
  await one.runner.stop();
  await eventually(
    async () => sharesOf(other.runner),
    (count) => count === 8,
  );
  const before = one.driven.length;
  const later = await begin(16);
  await eventually(
    async () => later.filter((id) => other.driven.includes(id)).length,
    (count) => count === 16,
  );
  expect(one.driven.length).toBe(before);
});

describe('what is not done', () => {
  const failing = (tried: string[]) => ({
    driver: {
      drive: async (_: AnyProcess, id: string) => {
        tried.push(id);
        throw new Error('the rail does not answer');
      },
    } as unknown as Driver,
  });

  test("when its worker is stopped is the next one's, however much of it there is", async () => {
    const tried: string[] = [];
    const shares = { doing: { all: 3, each: 3 }, waiting: { all: 10, each: 1 } };
    const first = worker({ ...failing(tried), shares });
    await first.runner.start();
    await eventually(held, (count) => count === 8);
    const ids = await begin(5);
    await eventually(
      async () => new Set(tried).size,
      (count) => count >= 3,
    );
    await first.runner.stop();
    expect([await held(), Math.min(...(await checkpoints()))]).toEqual([0, 0]);
    const next = worker();
    await next.runner.start();
    await eventually(checkpoints, (all) => all.length === 8 && all.every((position) => position === 10));
    expect(sorted(next.driven)).toEqual(sorted(ids));
  });

  test('is tried again beside the other work of its platform, however much of it there is', async () => {
    const bad = new Set(await begin(6));
    const driven: string[] = [];
    const drive = async (_: AnyProcess, id: string) => {
      driven.push(id);
      if (bad.has(id)) throw new Error('the rail does not answer');
    };
    const shares = { doing: { all: 2, each: 2 }, waiting: { all: 20, each: 20 } };
    const { runner } = worker({ driver: { drive } as unknown as Driver, shares });
    await runner.start();
    await eventually(
      async () => new Set(driven).size,
      (count) => count === 6,
    );
    const good = await begin(6);
    await eventually(
      async () => good.filter((id) => driven.includes(id)).length,
      (count) => count === 6,
    );
    expect(runner.inHand).toBe(6);
    bad.clear();
    await eventually(checkpoints, (all) => all.length === 8 && all.every((position) => position === 24));
  });

  test("because it hangs does not keep its worker from ending, and is the next one's", async () => {
    const hung: string[] = [];
    const drive = (_: AnyProcess, id: string) => {
      hung.push(id);
      return new Promise<never>(() => {});
    };
    const first = worker({ driver: { drive } as unknown as Driver, stopPatienceMs: 0 });
    await first.runner.start();
    const ids = await begin(1);
    await eventually(
      async () => hung.length,
      (count) => count === 1,
    );
    await first.runner.stop();
    expect([await held(), Math.min(...(await checkpoints()), 0)]).toEqual([0, 0]);
    const next = worker();
    await next.runner.start();
    await eventually(checkpoints, (all) => all.length === 8 && all.every((position) => position === 2));
    expect([hung, next.driven]).toEqual([ids, ids]);
  });

  test.each([
    ['fails', 0, 1],
    ['succeeds', 2, 0],
  ])('of an attempt that %s while its worker is being stopped', async (outcome, checkpoint, again) => {
    let begun = 0;
    let end = () => {};
    const drive = () => {
      begun += 1;
      return new Promise<void>((resolve, reject) => {
        end = () => (outcome === 'fails' ? reject(new Error('the connection was closed')) : resolve());
      });
    };
    const first = worker({ driver: { drive } as unknown as Driver });
    await first.runner.start();
    const [id] = await begin(1);
    await eventually(
      async () => begun,
      (count) => count === 1,
    );
    await comeTo(2, 7);
    const stopped = first.runner.stop();
    await eventually(held, (count) => count === 1); // all but the shard of what is under way are given back
    end();
    await stopped;
    const shard = shardOf(`thing-${id}`);
    const { rows } = await pool.query('SELECT position::int FROM checkpoints WHERE name = $1', [`processes/${shard}`]);
    expect([begun, rows]).toEqual([1, [{ position: checkpoint }]]);
    const next = worker();
    await next.runner.start();
    const [later] = await begin(1);
    await eventually(
      async () => next.driven.length,
      (count) => count === again + 1,
    );
    expect(sorted(next.driven)).toEqual(sorted(again === 0 ? [later!] : [id!, later!]));
  });

  test("when its shard is given to another worker is that one's, and the first one tries it no more", async () => {
    const tried: string[] = [];
    const one = worker(failing(tried));
    await one.runner.start();
    await eventually(held, (count) => count === 8);
    const ids = await begin(32);
    await eventually(
      async () => new Set(tried).size,
      (count) => count === 32,
    );
    const other = worker();
    await other.runner.start();
    const shardsOf = (runner: ProcessRunner) => [
      ...(runner as unknown as { shards: Map<number, unknown> }).shards.keys(),
    ];
    await eventually(
      async () => shardsOf(other.runner).length,
      (count) => count === 4,
    );
    const ofOther = ids.filter((id) => shardsOf(other.runner).includes(shardOf(`thing-${id}`)));
    await eventually(
      async () => other.driven.length,
      (count) => count >= ofOther.length,
    );
    expect(sorted(other.driven)).toEqual(sorted(ofOther));
    const before = tried.length;
    await eventually(
      async () => tried.length,
      (count) => count >= before + 2 * (ids.length - ofOther.length),
    );
    expect(tried.slice(before).filter((id) => ofOther.includes(id))).toEqual([]);
    await one.runner.stop();
    await eventually(checkpoints, (all) => all.length === 8 && all.every((position) => position === 64));
    expect(sorted(other.driven)).toEqual(sorted(ids));
  });
});

test('one that was stopped is replaced, and moves no checkpoint when it continues', async () => {
  const silent = worker({ lease: { heartbeatMs: 3_600_000, expiresMs: 3_600_000, pollMs: 3_600_000 } });
  await silent.runner.start();
  await eventually(held, (count) => count === 8);
  await pool.query(`UPDATE leases SET heartbeat_at = now() - interval '1 minute'`);
  const other = worker();
  await other.runner.start();
  await eventually(
    () => pool.query<{ token: number }>(`SELECT DISTINCT token::int FROM leases WHERE name ~ '^processes/\\d+$'`),
    ({ rows }) => rows.length === 1 && rows[0]!.token === 2,
  );
  const ids = await begin(16);
  await eventually(
    async () => ids.filter((id) => other.driven.includes(id)).length,
    (count) => count === 16,
  );
  await silent.runner.stop();
  const { rows } = await pool.query(`SELECT count(*)::int AS held FROM leases WHERE token = 2 AND owner IS NOT NULL`);
  expect(rows).toEqual([{ held: 8 }]);
  await comeTo(32);
  await other.runner.stop();
  expect(await checkpoints()).toEqual(Array(8).fill(32));
});
