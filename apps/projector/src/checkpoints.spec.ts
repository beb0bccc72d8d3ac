import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { fitCheckpoints, requireFit } from './checkpoints.ts';
import { AccountLog } from './projector.examples.ts';

let log: AccountLog;
beforeAll(async () => {
  log = await AccountLog.open();
});
afterAll(() => log.close());
beforeEach(() => log.pool.query('TRUNCATE checkpoints, relays'));

/** Leaves checkpoints behind, and topics with so many partitions. */
async function given(known: Record<string, number>, topics: readonly number[] = []): Promise<void> {
  const insert = 'INSERT INTO checkpoints (name, position) SELECT * FROM unnest($1::text[], $2::bigint[])';
  await log.pool.query(insert, [Object.keys(known), Object.values(known)]);
  const relay = `INSERT INTO relays (topic, partitions, position, last_positions) SELECT 't' || n, n, 9, '{}' FROM unnest($1::int[]) n`;
  await log.pool.query(relay, [topics]);
}

const refusal = (before: number | 'other', now: number) =>
  `The read models were fed in ${before} partitions, and are to be fed in ${now} now: docs/operations.md says how to change that.`;

describe('the checkpoints of a feed', () => {
  test.each([
    ['none', {}, 3, { 'live/0': 0, 'live/1': 0, 'live/2': 0 }],
    ['none, for the log itself', {}, 1, { live: 0 }],
    ['the one of the log itself', { live: 7 }, 2, { 'live/0': 7, 'live/1': 7 }],
    ['those of the feed', { 'live/0': 7, 'live/1': 3 }, 2, { 'live/0': 7, 'live/1': 3 }],
    ['that of the log itself, for it', { live: 7 }, 1, { live: 7 }],
  ])('are written together: from %s', async (_, known, partitions, expected) => {
    await given({ ...known, deliveries: 4 });
    await Promise.all([1, 2, 3].map(() => fitCheckpoints(log.pool, { partitions })));
    expect(await log.checkpoints()).toEqual({ ...expected, deliveries: 4 });
    await requireFit(log.pool, { partitions });
  });

  test('are not those of another one afterwards', async () => {
    await given({ live: 7 });
    await fitCheckpoints(log.pool, { partitions: 2 });
    await expect(requireFit(log.pool, { partitions: 1 })).rejects.toThrow(refusal(2, 1));
    expect(await log.checkpoints()).toEqual({ 'live/0': 7, 'live/1': 7 });
  });

  test.each([
    ['more', { 'live/0': 7, 'live/1': 3 }, [2], 3, 2],
    ['many more', { 'live/0': 0, 'live/1': 0, 'live/2': 0, 'live/3': 0 }, [], 8, 4],
    ['fewer', { 'live/0': 7, 'live/1': 3, 'live/2': 3 }, [3], 2, 3],
    ['one again', { 'live/0': 7, 'live/1': 3 }, [2], 1, 2],
    ['several beside the one', { live: 7, 'live/0': 7, 'live/1': 7 }, [2], 2, 'other'],
    ['more than were taken so far', { 'live/0': 7 }, [2], 3, 'other'],
    ['one, where a single one was taken so far', { 'live/0': 7 }, [], 1, 'other'],
    ['as many as nobody can tell', { 'live/0': 7 }, [], 3, 'other'],
    ['as many as one of two topics has', { 'live/0': 7, 'live/1': 3 }, [3, 4], 4, 2],
  ] as const)('are left alone when they are to be others: %s', async (_, known, topics, partitions, before) => {
    await given(known, topics);
    await expect(fitCheckpoints(log.pool, { partitions })).rejects.toThrow(refusal(before, partitions));
    expect(await log.checkpoints()).toEqual(known);
  });

  test.each([
    ['the only topic', { 'live/0': 7, 'live/2': 3 }, [4], 4],
    ['the only topic with so many', { 'live/0': 7, 'live/2': 3 }, [1, 2, 4], 4],
  ])('that an earlier version has not written yet are added, by %s', async (_, known, topics, partitions) => {
    await given(known, topics);
    await fitCheckpoints(log.pool, { partitions });
    expect(await log.checkpoints()).toEqual({ 'live/0': 7, 'live/1': 0, 'live/2': 3, 'live/3': 0 });
  });
});
