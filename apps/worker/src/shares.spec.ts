import { describe, expect, test } from '@jest/globals';
import { eventually } from '../../../test/eventually.ts';
import { type ShareLimits, Shares } from './shares.ts';

const limits: ShareLimits = { doing: { all: 4, each: 2 }, waiting: { all: 6, each: 4 } };
const { signal: staying } = new AbortController();

/** Shares whose work ends when it is told to. */
function working() {
  const doing = new Map<string, (after?: number) => void>();
  let relieved = 0;
  const shares = new Shares(() => {
    relieved += 1;
  }, limits);
  return {
    shares,
    relieved: () => relieved,
    /** What was begun and has not ended, in order. */
    doing: () => [...doing.keys()],
    /** The first letter of the name says whose work it is. */
    give: (name: string, leaving = staying) =>
      shares.run(name[0]!, leaving, () => new Promise((resolve) => doing.set(name, resolve))),
    /** Ends it, or this attempt at it where it is to be tried again `after` so many milliseconds. */
    async end(name: string, after?: number) {
      doing.get(name)!(after);
      doing.delete(name);
      await new Promise(setImmediate);
    },
  };
}

describe('shares of platforms', () => {
  test('a platform has no more than its share at a time, and others begin beside it', async () => {
    const { give, end, doing } = working();
    for (const name of ['a1', 'a2', 'a3', 'a4', 'b1']) void give(name);
    expect(doing()).toEqual(['a1', 'a2', 'b1']);
    await end('a2');
    expect(doing()).toEqual(['a1', 'b1', 'a3']);
  });

  test('where all is taken, platforms have their turns', async () => {
    const { give, end, doing } = working();
    for (const name of ['a1', 'a2', 'b1', 'b2', 'c1', 'c2', 'd1']) void give(name);
    expect(doing()).toEqual(['a1', 'a2', 'b1', 'b2']);
    for (const name of ['a1', 'a2', 'b1']) await end(name);
    expect(doing()).toEqual(['b2', 'c1', 'd1', 'c2']);
  });

  test('room for what waits is bounded by platform and in all, and is told of when there is enough again', async () => {
    const { shares, give, end, relieved } = working();
    const rooms = () => ['a', 'b', 'c'].map((platform) => [shares.hasRoom(platform), shares.isRelieved(platform)]);
    for (const name of ['a1', 'a2', 'a3', 'a4', 'a5', 'a6']) void give(name);
    expect(rooms()).toEqual([
      [false, false],
      [true, false],
      [true, false],
    ]);
    for (const name of ['b1', 'b2', 'b3', 'b4']) void give(name);
    expect(rooms().flat()).toEqual(Array(6).fill(false));
    await end('a1');
    await end('a2');
    expect(rooms()).toEqual([
      [true, false],
      [true, false],
      [true, false],
    ]);
    const before = relieved();
    await end('b1');
    expect(rooms().flat()).toEqual(Array(6).fill(true));
    expect(relieved()).toBe(before + 1);
  });

  test('what is left before its turn is settled, what was begun is waited for', async () => {
    const { give, end } = working();
    const leaving = new AbortController();
    const settled: string[] = [];
    for (const name of ['a1', 'a2', 'a3']) void give(name, leaving.signal).then(() => settled.push(name));
    leaving.abort();
    await new Promise(setImmediate);
    expect(settled).toEqual(['a3']);
    await end('a1');
    expect(settled).toEqual(['a3', 'a1']);
  });

  test('what is to be tried again leaves its place, and comes again after those who waited', async () => {
    const { shares, give, end, doing } = working();
    const tried = give('a1');
    for (const name of ['a2', 'a3', 'a4']) void give(name);
    await end('a1', 1);
    expect([doing(), shares.hasRoom('a')]).toEqual([['a2', 'a3'], true]);
    await new Promise((resolve) => setTimeout(resolve, 5)); // which comes after the one of the pause
    await end('a2');
    expect(doing()).toEqual(['a3', 'a4']);
    await end('a3');
    await eventually(
      async () => doing(),
      (names) => names.includes('a1'),
    );
    expect(doing()).toEqual(['a4', 'a1']);
    await end('a1');
    await tried;
    expect(doing()).toEqual(['a4']);
  });

  test('what waits to be tried again takes room as all that waits does, and is left when it is to be', async () => {
    const { shares, give, end, doing } = working();
    const leaving = new AbortController();
    const left: Promise<void>[] = [];
    for (let n = 1; n <= 4; n += 1) {
      left.push(give(`a${n}`, leaving.signal));
      await end(`a${n}`, 3_600_000);
    }
    expect([shares.hasRoom('a'), shares.isRelieved('a'), doing()]).toEqual([false, false, []]);
    leaving.abort();
    await Promise.all(left);
    expect([shares.hasRoom('a'), shares.isRelieved('a'), doing()]).toEqual([true, true, []]);
  });

  test('work that fails gives its place to the next, and is told of', async () => {
    const { shares, give, doing } = working();
    void give('a1');
    const failing = shares.run('a', staying, () => Promise.reject(new Error('broken')));
    void give('a2');
    await expect(failing).rejects.toThrow('broken');
    expect(doing()).toEqual(['a1', 'a2']);
  });
});
