import { describe, expect, test } from '@jest/globals';
import type { AnyProcess } from '../../../libs/kernel/process.ts';
import type { Driver } from '../../../libs/runtime/drive.ts';
import { eventually } from '../../../test/eventually.ts';
import { begin, checkpoints, comeTo, sorted, worker } from './process-runner.examples.ts';

describe('work that takes long holds up its own platform only', () => {
  const shares = { doing: { all: 8, each: 2 }, waiting: { all: 6, each: 3 } };

  /** A worker whose work for some streams hangs until it is let go. */
  function hanging() {
    const hung = new Map<string, () => void>();
    const slow = new Set<string>();
    const { runner, driven } = worker({
      shares,
      limit: 5,
      driver: {
        drive: async (_: AnyProcess, id: string) => {
          driven.push(id);
          if (slow.has(id)) await new Promise<void>((resolve) => hung.set(id, resolve));
        },
      } as unknown as Driver,
    });
    return { runner, driven, hung, slow };
  }

  /** A runner whose share of one platform hangs, with more of it `waiting`. */
  async function full() {
    const made = hanging();
    const waiting = await begin(40, 'slow');
    for (const id of waiting) made.slow.add(id);
    await made.runner.start();
    await eventually(
      async () => made.hung.size,
      (count) => count === 2,
    );
    return { ...made, waiting };
  }

  test('and everything of it is done in the end', async () => {
    const { runner, driven, hung, slow, waiting } = await full();
    const quick = await begin(20, 'quick');
    await eventually(
      async () => quick.filter((id) => driven.includes(id)).length,
      (count) => count === 20,
    );
    expect([driven.length, hung.size, runner.inHand]).toEqual([22, 2, 5]);
    slow.clear();
    for (const letGo of hung.values()) letGo();
    await eventually(
      async () => driven.length,
      (count) => count === 60,
    );
    await comeTo(120);
    await runner.stop();
    expect([sorted(driven), await checkpoints()]).toEqual([sorted([...waiting, ...quick]), Array(8).fill(120)]);
  });

  test('and no checkpoint passes what waits, or was passed over for want of room', async () => {
    const { runner, driven, hung, waiting } = await full();
    await begin(20, 'quick');
    await eventually(
      async () => driven.length,
      (count) => count === 22,
    );
    const stopped = runner.stop();
    for (const letGo of hung.values()) letGo();
    await stopped;
    const next = worker();
    await next.runner.start();
    await eventually(checkpoints, (all) => all.every((position) => position === 120));
    const done = waiting.filter((id) => hung.has(id));
    expect(sorted([...new Set([...done, ...next.driven])].filter((id) => waiting.includes(id)))).toEqual(
      sorted(waiting),
    );
  });
});
