import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { MemoryEventStore } from '../adapters/memory/event-store.ts';
import {
  answerOf,
  envelope,
  OpenPurse,
  outcomes,
  type Purse,
  PurseTest,
  PutIn,
  purse,
  writePathOn,
} from './execute.examples.ts';
import type { WritePath } from './execute.ts';
import { KeyTaken } from './stream.ts';

let t: PurseTest;
beforeEach(() => {
  t = new PurseTest();
});
afterEach(() => t.path.drain());

describe('another writer of the same streams', () => {
  let other: WritePath;
  beforeEach(() => {
    other = writePathOn(t.memory).path;
  });

  test('after a conflict the commands are decided on what it left, under the lock of the store', async () => {
    await t.open();
    await t.putIn(1);
    await t.takeOut(1, other);
    await t.putIn(2, {}, other);
    expect(await outcomes([t.putIn(3), t.takeOut(1), t.takeOut(2)])).toEqual([[2, 3], 'INVALID_INPUT', [3]]);
    expect(t.store.exclusive).toEqual([t.stream()]);
    expect(await t.coinsInLog()).toEqual([1, 2, 3]);
  });

  test('a refusal is checked against what it wrote before it is told', async () => {
    await t.open();
    await t.putIn(1);
    await t.putIn(2, {}, other);
    expect(await outcomes([t.takeOut(2)])).toEqual([[1]]);
    await t.takeOut(1, other);
    expect(await outcomes([t.takeOut(1)])).toEqual(['INVALID_INPUT']);
  });

  test('a command that it executed already is recognised', async () => {
    await t.open();
    await t.putIn(0);
    await t.putIn(1, { commandId: 'c1' }, other);
    expect((await t.putIn(1, { commandId: 'c1' })).replayed).toBe(true);
    expect(await t.coinsInLog()).toEqual([1]);
  });

  test('a stream that it is said to have written is caught up before its next use', async () => {
    await t.open();
    await t.putIn(1, {}, other);
    expect(await t.coins()).toEqual([]);
    t.path.noteForeign(t.stream(), 1);
    expect(await t.coins()).toEqual([1]);
    await t.putIn(2, {}, other);
    t.path.noteForeign(t.stream(), 2);
    expect(await outcomes([t.takeOut(2)])).toEqual([[1]]);
    expect(t.store.exclusive).toEqual([]);
    t.path.noteForeign(t.stream(), 1);
    t.path.noteForeign('purse-unknown', 7);
    const { reads } = t.store;
    expect(await t.coins()).toEqual([1]);
    expect(t.store.reads).toBe(reads);
  });

  test('what it wrote is seen at once where that is asked for', async () => {
    await t.open();
    await t.putIn(1, {}, other);
    expect(await t.coins()).toEqual([]);
    expect(await t.freshCoins()).toEqual([1]);
    expect(await t.coins()).toEqual([1]);
    await t.putIn(2, {}, other);
    expect(await t.freshCoins()).toEqual([1, 2]);
  });

  test('a read that began before it was asked for is not enough for that', async () => {
    await t.open();
    const read = t.store.readStream.bind(t.store);
    const gates: (() => void)[] = [];
    t.store.readStream = async (...args) => {
      const events = await read(...args);
      await new Promise<void>((open) => gates.push(open));
      return events;
    };
    const early = t.freshCoins();
    await until(() => gates.length === 1);
    await t.putIn(1, {}, other);
    const late = t.freshCoins();
    gates[0]!();
    await until(() => gates.length === 2);
    gates[1]!();
    expect(await Promise.all([early, late])).toEqual([[], [1]]);
  });

  test('what it is said to have written but has not, does not hold up anything', async () => {
    await t.open();
    t.path.noteForeign(t.stream(), 99);
    expect(await outcomes([t.putIn(1)])).toEqual([[1]]);
  });

  test('a stream that was forgotten is read anew from the beginning', async () => {
    await t.open();
    await t.putIn(1);
    t.path.forget(t.stream());
    t.path.forget('purse-unknown');
    const under = t.putIn(2);
    t.path.forget(t.stream());
    expect(await outcomes([under, t.putIn(3)])).toEqual([
      [1, 2],
      [1, 2, 3],
    ]);
    expect(t.store.loads.flat()).toEqual([t.stream()]);
  });

  test('two of them hammering few streams lose, double and reorder nothing', async () => {
    const purses = Array.from({ length: 3 }, () => randomUUID());
    for (const id of purses) await t.path.execute(purse, new OpenPurse({ purseId: id, limit: 0 }), envelope());
    const writers = [t.path, other];
    await Promise.all(
      writers.flatMap((writer, w) =>
        purses.map(async (id) => {
          for (let i = 0; i < 60; i += 3) {
            await Promise.all(
              [0, 1, 2].map((k) =>
                writer.execute(purse, new PutIn({ purseId: id, coin: w * 1_000 + i + k + 1 }), envelope()),
              ),
            );
          }
        }),
      ),
    );
    for (const id of purses) {
      const { state } = await writePathOn(t.memory).path.state<Purse>(purse, id);
      for (const w of [0, 1]) {
        const mine = state.coins.filter((coin) => Math.trunc(coin / 1_000) === w);
        expect(mine).toEqual(Array.from({ length: 60 }, (_, i) => w * 1_000 + i + 1));
      }
    }
  });

  test('a log shorter than the memory of it is believed', async () => {
    await t.open();
    await t.putIn(1);
    const shorter = new MemoryEventStore();
    await writePathOn(shorter).path.execute(purse, new OpenPurse({ purseId: t.purseId, limit: 5 }), envelope());
    Object.assign(t.store, { store: shorter });
    expect(await outcomes([t.putIn(2)])).toEqual([[2]]);
    expect(t.logged).toEqual([`error: ${t.stream()} is shorter in the log than in memory: read anew`]);
  });
});

describe('an unknown outcome', () => {
  const lost = new Error('the connection was lost');
  const afterCommit = async (really: () => Promise<unknown>) => {
    await really();
    throw lost;
  };
  const before = async () => {
    throw lost;
  };
  const hangs = async () => {
    await new Promise((resolve) => setTimeout(resolve, 30));
    throw new Error('query read timeout');
  };
  const hangsAfterCommit = async (really: () => Promise<unknown>) => {
    await really();
    return hangs();
  };

  test.each([
    ['committed, then lost', afterCommit],
    ['lost before it was written', before],
    ['hanging until the deadline, not written', hangs],
    ['hanging until the deadline, written', hangsAfterCommit],
  ])('%s: each command is answered once and happens once', async (_, fault) => {
    await t.open();
    t.store.faults.push(fault as never);
    let answers = 0;
    const sent = [t.putIn(1), t.putIn(2), t.takeOut(9), t.putIn(3)];
    for (const one of sent)
      one.then(
        () => answers++,
        () => answers++,
      );
    expect((await outcomes(sent)).map((one) => typeof one)).toEqual(['object', 'object', 'string', 'object']);
    expect(await t.coinsInLog()).toEqual([1, 2, 3]);
    expect(await t.coins()).toEqual([1, 2, 3]);
    expect(answers).toBe(4);
    expect(await outcomes([t.putIn(4)])).toEqual([[1, 2, 3, 4]]);
  });

  test('of more commands than the window holds: each still happens once', async () => {
    await t.open();
    t.store.faults.push(afterCommit as never);
    const all = await Promise.all(Array.from({ length: 900 }, (_, i) => t.putIn(i + 1)));
    expect(all.every(({ replayed }) => replayed)).toBe(true);
    expect(await t.coinsInLog()).toEqual(Array.from({ length: 900 }, (_, i) => i + 1));
  });

  test('of a creation', async () => {
    t.store.faults.push(afterCommit as never);
    expect(await outcomes([t.open(), t.putIn(1)])).toEqual([[1], [1]]);
    t.purseId = randomUUID();
    t.store.faults.push(before);
    expect(await outcomes([t.open(), t.putIn(1)])).toEqual([[], [1]]);
    expect((await t.logOf()).map(([type]) => type)).toEqual(['PurseOpened', 'CoinIn']);
  });

  test('of a keyed request that was written: the remembered answer is the answer', async () => {
    await t.open();
    t.store.faults.push(afterCommit as never);
    await expect(t.putIn(1, { answer: answerOf('k1') })).rejects.toBeInstanceOf(KeyTaken);
    expect(t.memory.answers.get('k1')!.body).toBe('[1]');
    expect(await t.coinsInLog()).toEqual([1]);
  });

  test.each([
    ['written', afterCommit],
    ['not written', before],
  ])('of the attempt under the lock, %s', async (_, fault) => {
    await t.open();
    await t.putIn(1, {}, writePathOn(t.memory).path);
    t.store.exclusiveFaults.push(fault as never);
    expect((await outcomes([t.putIn(2), t.putIn(3)])).flat().sort()).toEqual(
      fault === before ? [1, 1, 2, 2, 3] : [1, 1, 2, 2, 3, 3],
    );
    expect(await t.coinsInLog()).toEqual([1, 2, 3]);
  });

  test('of what could not be read when the lock was lost again: a refused command is not decided a second time behind its refusal', async () => {
    await t.open();
    await t.putIn(1);
    const other = writePathOn(t.memory).path;
    await t.putIn(2, {}, other);
    t.store.appendExclusively = async (stream, after, decide) => {
      const first = await decide(await t.memory.readStream(stream, after));
      await t.putIn(3, {}, other);
      const newer = await t.memory.readStream(stream, first!.expectedRevision);
      await decide(newer.map((event) => ({ ...event, metadata: 'torn' })));
      return undefined;
    };
    expect(await outcomes([t.takeOut(9), t.putIn(9)])).toEqual(['INVALID_INPUT', [1, 2, 3, 9]]);
    expect(await t.coins()).toEqual([1, 2, 3, 9]);
    expect((await t.logOf()).map(([type]) => type)).not.toContain('CoinOut');
  });

  test('is looked up again while the store does not answer, without holding up other streams', async () => {
    await t.open();
    t.store.faults.push(afterCommit as never);
    t.store.readFailures = 2;
    const waits = t.putIn(1);
    const order: string[] = [];
    void waits.then(() => order.push('known'));
    await new Promise((resolve) => setTimeout(resolve, 10));
    await t.path.execute(purse, new OpenPurse({ purseId: randomUUID(), limit: 1 }), envelope());
    order.push('another stream');
    expect((await waits).replayed).toBe(true);
    expect(order).toEqual(['another stream', 'known']);
  });

  test('that stays unknown is answered 503 when patience ends, and the next attempt finds what was written', async () => {
    t.start({ patienceMs: 100 });
    await t.open();
    t.store.faults.push(afterCommit as never);
    t.store.readFailures = 1_000;
    expect(await outcomes([t.putIn(1, { commandId: 'c1' }), t.takeOut(9)])).toEqual([
      'SERVICE_UNAVAILABLE',
      'SERVICE_UNAVAILABLE',
    ]);
    t.store.readFailures = 0;
    expect(await outcomes([t.putIn(1, { commandId: 'c1' })])).toEqual([[1]]);
    expect(await t.coinsInLog()).toEqual([1]);
  });

  test('of a flush that always fails: its commands are given up alone, the other streams go on', async () => {
    t.start({ patienceMs: 200 });
    await t.open();
    const poisoned = t.stream();
    const really = t.memory.append.bind(t.memory);
    t.memory.append = async (batch) => {
      if (batch.some((one) => one.stream === poisoned)) throw new Error('disk full');
      return really(batch);
    };
    const other = randomUUID();
    const answers = [t.putIn(1), t.path.execute(purse, new OpenPurse({ purseId: other, limit: 1 }), envelope())];
    expect(await outcomes(answers)).toEqual(['SERVICE_UNAVAILABLE', []]);
    t.memory.append = really;
    expect(await outcomes([t.putIn(2)])).toEqual([[2]]);
    expect(await t.coinsInLog()).toEqual([2]);
  });

  test('a stream that cannot be read answers 503; nothing waits for ever, and later it can', async () => {
    await t.open();
    t.start();
    t.store.loadFailures = 1;
    expect(await outcomes([t.putIn(1), t.putIn(2)])).toEqual(['SERVICE_UNAVAILABLE', 'SERVICE_UNAVAILABLE']);
    await t.path.drain();
    t.store.loadFailures = 1;
    await expect(t.path.state(purse, t.purseId)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    expect(await outcomes([t.putIn(3)])).toEqual([[3]]);
  });

  test('an event that cannot be folded fails the commands of its stream only', async () => {
    await t.open();
    const broken = { id: randomUUID(), type: 'Broken', payload: '{"isBroken":true}', metadata: '{"commandId":"x"}' };
    await t.memory.append([{ stream: t.stream(), expectedRevision: 0, events: [broken], answers: [] }]);
    const healthy = randomUUID();
    await t.path.execute(purse, new OpenPurse({ purseId: healthy, limit: 1 }), envelope());
    t.start();
    const fine = t.path.execute(purse, new PutIn({ purseId: healthy, coin: 1 }), envelope());
    expect(await outcomes([t.putIn(1), fine])).toEqual(['a bug in evolve', [1]]);
  });
});

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setImmediate(resolve));
}
