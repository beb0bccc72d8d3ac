import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { MemoryEventStore } from '../adapters/memory/event-store.ts';
import {
  answerOf,
  Break,
  codec,
  envelope,
  OpenPurse,
  outcomes,
  type Purse,
  PurseTest,
  PutIn,
  purse,
  TakeOut,
  tenant,
  writePathOn,
} from './execute.examples.ts';
import { KeyTaken } from './stream.ts';

let t: PurseTest;
beforeEach(() => {
  t = new PurseTest();
});
afterEach(() => t.path.drain());

describe('the mailbox', () => {
  test('commands of one stream are decided in the order they came, each on what the one before left', async () => {
    const answers = await outcomes([
      t.open(),
      t.putIn(1),
      t.takeOut(2),
      t.putIn(2),
      t.takeOut(2),
      t.takeOut(2),
      t.putIn(3),
    ]);
    const missing = 'INVALID_INPUT';
    expect(answers).toEqual([[], [1], missing, [1, 2], [1], missing, [1, 3]]);
    expect((await t.logOf()).map(([type]) => type)).toEqual(['PurseOpened', 'CoinIn', 'CoinIn', 'CoinOut', 'CoinIn']);
  });

  test('all that waits for a stream is one append, and streams of a moment share a flush', async () => {
    await t.open();
    t.store.appends.length = 0;
    const other = randomUUID();
    const answers = await Promise.all([
      ...Array.from({ length: 50 }, (_, i) => t.putIn(i + 1)),
      t.path.execute(purse, new OpenPurse({ purseId: other, limit: 1 }), envelope()),
    ]);
    expect(t.store.appends).toHaveLength(1);
    expect(t.store.appends[0]!.map((one) => [one.stream, one.expectedRevision, one.events.length])).toEqual([
      [t.stream(), 0, 50],
      [`purse-${other}`, -1, 1],
    ]);
    expect(answers.map(({ revision, position }) => [revision, position])).toEqual([
      ...Array.from({ length: 50 }, (_, i) => [i + 1, i + 2]),
      [0, 52],
    ]);
  });

  test('after a flush of many streams what comes within ten milliseconds, moment by moment, shares the next one', async () => {
    jest.useFakeTimers({ doNotFake: ['Date', 'nextTick', 'performance', 'queueMicrotask', 'setImmediate'] });
    try {
      const ids = Array.from({ length: 4 }, () => randomUUID());
      await Promise.all(ids.map((purseId) => t.path.execute(purse, new OpenPurse({ purseId, limit: 1 }), envelope())));
      const later: Promise<unknown>[] = [];
      for (const purseId of ids.slice(2)) {
        later.push(t.path.execute(purse, new PutIn({ purseId, coin: 1 }), envelope()));
        await new Promise(setImmediate);
      }
      jest.advanceTimersByTime(9);
      await new Promise(setImmediate);
      const streams = () => t.store.appends.map((batch) => batch.map(({ stream }) => stream.slice('purse-'.length)));
      expect(streams()).toEqual([ids]);
      jest.advanceTimersByTime(1);
      await Promise.all(later);
      expect(streams()).toEqual([ids, ids.slice(2)]);
    } finally {
      jest.useRealTimers();
    }
  });

  test('a flush is bounded: a long mailbox takes several, in order', async () => {
    await t.open();
    t.store.appends.length = 0;
    await Promise.all(Array.from({ length: 2_500 }, (_, i) => t.putIn(i + 1)));
    expect(t.store.appends.map((batch) => batch[0]!.events.length)).toEqual([1_000, 1_000, 500]);
    expect(await t.coinsInLog()).toEqual(Array.from({ length: 2_500 }, (_, i) => i + 1));
  });

  test('the events say who, why and when', async () => {
    await t.path.execute(
      purse,
      new OpenPurse({ purseId: t.purseId, limit: 5 }),
      envelope({ commandId: 'c1', causationId: 'cause' }),
    );
    const [event] = await codec.decode(await t.memory.readStream(t.stream(), -1));
    expect(event).toMatchObject({
      type: 'PurseOpened',
      data: { purseId: t.purseId, limit: 5 },
      at: '2025-10-09T08:53:20.000Z',
      meta: { commandId: 'c1', correlationId: 'r1', causationId: 'cause', actor: 'test', tenant },
    });
  });

  test('the id of an event follows from its command, its stream, its time, and who has written it', async () => {
    const idsBy = async (writer: string, coin: number) => {
      const store = new MemoryEventStore();
      const { path } = writePathOn(store, { writer });
      await path.execute(purse, new OpenPurse({ purseId: 'p', limit: 5 }), envelope({ commandId: 'c1' }));
      await path.execute(purse, new PutIn({ purseId: 'p', coin, parts: 2 }), envelope({ commandId: 'c2' }));
      return (await store.readStream('purse-p', -1)).map(({ id }) => id);
    };
    const [one, again, other] = [await idsBy('one', 1), await idsBy('one', 2), await idsBy('other', 1)];
    expect(again).toEqual(one);
    expect(new Set([...one, ...other]).size).toBe(6);
  });

  test('a refusal, and a repetition, wait for the flush that they stand on', async () => {
    await t.open();
    let commit = () => {};
    t.store.faults.push(async (really) => {
      await new Promise<void>((resolve) => {
        commit = resolve;
      });
      return really();
    });
    const order: string[] = [];
    const first = t.putIn(1, { commandId: 'c1' }).then(() => order.push('put in'));
    const refused = t.takeOut(9).catch(() => order.push('refused'));
    const repeated = t.putIn(1, { commandId: 'c1' }).then(({ replayed }) => order.push(`replayed ${replayed}`));
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(order).toEqual([]);
    commit();
    await Promise.all([first, refused, repeated]);
    expect(order).toEqual(['put in', 'refused', 'replayed true']);
    expect(await t.coinsInLog()).toEqual([1]);
  });

  test('more commands than may wait are refused with 503 and change nothing', async () => {
    t.start({ queueLimit: 3 });
    const answers = await outcomes([t.open(), t.putIn(1), t.putIn(2), t.putIn(3), t.takeOut(1)]);
    expect(answers).toEqual([[], [1], [1, 2], 'SERVICE_UNAVAILABLE', 'SERVICE_UNAVAILABLE']);
    expect(await outcomes([t.putIn(4)])).toEqual([[1, 2, 4]]);
    expect(t.path.queueLength).toBe(0);
  });

  test('each commit is told before its answers: how much, and how far each tenant has come', async () => {
    const told: unknown[] = [];
    t.start({
      committed: ({ appends, events, tenants }) => {
        told.push([appends, events, [...tenants]]);
      },
    });
    await t.open();
    await Promise.all([t.putIn(1), t.putIn(2), outcomes([t.takeOut(7)])]);
    await outcomes([t.takeOut(7)]);
    expect(told).toEqual([
      [1, 1, [[tenant, 1]]],
      [1, 2, [[tenant, 3]]],
    ]);
  });

  test('a listener that fails does not hold up an answer', async () => {
    t.start({
      committed: () => {
        throw new Error('metrics are broken');
      },
    });
    await t.open();
    expect(await outcomes([t.putIn(1)])).toEqual([[1]]);
    expect(t.logged).toEqual(['error: a listener to commits failed', 'error: a listener to commits failed']);
  });
});

describe('a fault in a command', () => {
  test.each(['decide', 'evolve'] as const)('that throws in %s fails that command only', async (where) => {
    await t.open();
    const broken = t.path.execute(purse, new Break({ purseId: t.purseId, where }), envelope());
    expect(await outcomes([t.putIn(1), broken, t.putIn(2)])).toEqual([[1], `a bug in ${where}`, [1, 2]]);
    expect(await t.coinsInLog()).toEqual([1, 2]);
    expect(await t.coins()).toEqual([1, 2]);
  });

  test('in the making of its answer leaves nothing of it behind', async () => {
    await t.open();
    const answer = () => {
      throw new Error('a bug in the view');
    };
    expect(await outcomes([t.putIn(1), t.putIn(2, { answer }), t.putIn(3)])).toEqual([
      [1],
      'a bug in the view',
      [1, 3],
    ]);
    expect(await t.coinsInLog()).toEqual([1, 3]);
  });

  test('a command without the id of its stream is refused at once', async () => {
    await expect(t.path.execute(purse, new PutIn({ coin: 1 } as never), envelope())).rejects.toThrow(
      'names no purseId',
    );
    expect(t.path.queueLength).toBe(0);
  });
});

describe('streams that should be new', () => {
  test('are written without a look at the store', async () => {
    await t.open();
    expect(t.store.loads).toEqual([]);
    expect(t.store.appends[0]!.map((one) => one.expectedRevision)).toEqual([-1]);
  });

  test('that exist are found out by the append, and the creation is refused for what is there', async () => {
    await t.open();
    t.start();
    expect(await outcomes([t.open()])).toEqual(['CONFLICT']);
    expect(t.store.exclusive).toEqual([t.stream()]);
    expect((await t.logOf()).map(([type]) => type)).toEqual(['PurseOpened']);
  });

  test('a refused creation is refused for the state that is there, not for an assumed one', async () => {
    await t.open();
    t.start();
    expect(await outcomes([t.open(t.path, -1)])).toEqual(['CONFLICT']);
    t.purseId = randomUUID();
    expect(await outcomes([t.open(t.path, -1)])).toEqual(['INVALID_AMOUNT']);
  });

  test('a refused creation does not spoil what follows it on the same stream', async () => {
    await t.open();
    await t.putIn(1);
    t.start();
    expect(await outcomes([t.open(t.path, -1), t.putIn(2), t.open(), t.takeOut(1)])).toEqual([
      'CONFLICT',
      [1, 2],
      'CONFLICT',
      [2],
    ]);
    t.purseId = randomUUID();
    expect(await outcomes([t.open(t.path, -1), t.putIn(2), t.open(), t.putIn(3)])).toEqual([
      'INVALID_AMOUNT',
      'REFERENCE_NOT_FOUND',
      [],
      [3],
    ]);
  });

  test('a repeated creation on a cold cache is recognised', async () => {
    const once = () =>
      t.path.execute(purse, new OpenPurse({ purseId: t.purseId, limit: 5 }), envelope({ commandId: 'create' }));
    await once();
    t.start();
    expect(await once()).toMatchObject({ replayed: true, revision: 0, position: 1, events: [] });
    expect(await t.logOf()).toHaveLength(1);
  });

  test('their state is not told before it is written', async () => {
    let commit = () => {};
    t.store.faults.push(async (really) => {
      await new Promise<void>((resolve) => {
        commit = resolve;
      });
      return really();
    });
    const opened = t.open();
    const facts = t.path.state<Purse>(purse, t.purseId);
    await new Promise((resolve) => setTimeout(resolve, 5));
    commit();
    expect((await facts).state.isOpen).toBe(true);
    await opened;
  });
});

describe('a repeated command id', () => {
  test('within the window answers as before and appends nothing', async () => {
    await t.open();
    const first = await t.putIn(1, { commandId: 'c1' });
    await t.putIn(2);
    const again = await t.putIn(1, { commandId: 'c1' });
    expect([first.replayed, again.replayed]).toEqual([false, true]);
    expect(again).toMatchObject({ state: { coins: [1, 2] }, revision: 2, position: 3, events: [] });
    expect(await t.coinsInLog()).toEqual([1, 2]);
  });

  test('in the same mailbox happens once', async () => {
    await t.open();
    const all = await Promise.all(['c1', 'c2', 'c1', 'c1'].map((commandId) => t.putIn(1, { commandId })));
    expect(all.map(({ replayed }) => replayed)).toEqual([false, false, true, true]);
    expect(await t.coinsInLog()).toEqual([1, 1]);
  });

  test('beyond the window is looked for from the position of its first attempt', async () => {
    await t.open();
    const { position: since } = await t.path.state(purse, t.purseId);
    await t.putIn(1, { commandId: 'c1', since });
    for (let i = 0; i < 600; i += 100) await Promise.all(Array.from({ length: 100 }, (_, k) => t.putIn(100 + i + k)));
    const before = await t.memory.head();
    const again = await Promise.all([
      t.putIn(1, { commandId: 'c1', since }),
      t.putIn(2, { commandId: 'c2', since }),
      t.putIn(1, { commandId: 'c1', since }),
      t.putIn(2, { commandId: 'c2', since }),
    ]);
    expect(again.map(({ replayed }) => replayed)).toEqual([true, false, true, true]);
    expect(await t.memory.head()).toBe(before + 1);
    t.start();
    expect((await t.putIn(1, { commandId: 'c1', since })).replayed).toBe(true);
    expect((await t.putIn(2, { commandId: 'c2', since })).replayed).toBe(true);
    expect(await t.memory.head()).toBe(before + 1);
  });

  test('that may have begun its stream costs no read where it does, and one where the window does not reach back to it', async () => {
    const opening = () => new OpenPurse({ purseId: t.purseId, limit: 5 });
    const open = (extra = {}) => t.path.execute(purse, opening(), envelope({ commandId: 'c1', ...extra }));
    const asked = () => [t.store.loads.length, t.store.reads, t.store.exclusive.length, t.store.searches];
    expect([(await open({ since: 0 })).replayed, asked()]).toEqual([false, [0, 0, 0, 0]]);
    expect([(await t.putIn(1, { commandId: 'c2', since: 0 })).replayed, asked()]).toEqual([false, [0, 0, 0, 0]]);
    t.start();
    expect([(await open({ since: 0 })).replayed, asked()]).toEqual([true, [0, 0, 1, 0]]);
    await Promise.all(Array.from({ length: 600 }, () => t.putIn(7)));
    t.start();
    expect(await outcomes([open()])).toEqual(['CONFLICT']);
    t.start();
    const before = asked();
    expect((await open({ since: 0 })).replayed).toBe(true);
    expect(asked().map((count, i) => count - before[i]!)).toEqual([0, 0, 1, 1]);
  });

  test('found beyond the window in what another process wrote is answered with what that one left', async () => {
    await t.open();
    const since = await t.memory.head();
    await Promise.all(Array.from({ length: 600 }, () => t.putIn(7)));
    const other = writePathOn(t.memory).path;
    await t.putIn(1, { commandId: 'c1', since }, other);
    const here = await t.putIn(1, { commandId: 'c1', since });
    expect(here.replayed).toBe(true);
    expect(here.state.coins.at(-1)).toBe(1);
    expect(here.revision).toBe(601);
  });

  test('that was refused is decided anew', async () => {
    await t.open();
    const take = () =>
      t.path.execute(purse, new TakeOut({ purseId: t.purseId, coin: 1 }), envelope({ commandId: 'c1' }));
    expect(await outcomes([take()])).toEqual(['INVALID_INPUT']);
    await t.putIn(1);
    expect(await outcomes([take(), take()])).toEqual([[], []]);
  });
});

describe('answers of keyed requests', () => {
  test('are written with the events they rest on, and a repetition writes its own', async () => {
    await t.open();
    await t.putIn(1, { commandId: 'c1', answer: answerOf('k1') });
    await t.putIn(1, { commandId: 'c1', answer: answerOf('k2') });
    expect([...t.memory.answers.values()].map(({ key, body }) => [key, body])).toEqual([
      ['k1', '[1]'],
      ['k2', '[1]'],
    ]);
  });

  test('a key answered elsewhere fails its own command only, which then changes nothing', async () => {
    await t.open();
    await t.putIn(1, { answer: answerOf('k1') });
    const answers = await Promise.allSettled([
      t.putIn(2),
      t.putIn(3, { answer: answerOf('k1') }),
      t.putIn(4, { answer: answerOf('k4') }),
    ]);
    expect(answers.map((one) => (one.status === 'fulfilled' ? one.value.state.coins : one.reason))).toEqual([
      [1, 2],
      new KeyTaken(),
      [1, 2, 4],
    ]);
    expect((answers[1] as PromiseRejectedResult).reason).toBeInstanceOf(KeyTaken);
    expect(await t.coinsInLog()).toEqual([1, 2, 4]);
  });

  test('one key twice at the same moment, on one stream or on two, is one effect', async () => {
    await t.open();
    const same = { commandId: 'c1', answer: answerOf('k1') };
    expect((await Promise.all([t.putIn(1, same), t.putIn(1, same)])).map(({ replayed }) => replayed)).toEqual([
      false,
      true,
    ]);
    const first = t.purseId;
    const other = randomUUID();
    t.purseId = other;
    await t.open();
    t.purseId = first;
    const one = t.putIn(2, { answer: answerOf('k2') });
    t.purseId = other;
    const two = t.putIn(2, { answer: answerOf('k2') });
    const settled = await Promise.allSettled([one, two]);
    expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
    expect((settled[1] as PromiseRejectedResult).reason).toBeInstanceOf(KeyTaken);
    expect(await t.coinsInLog()).toEqual([]);
  });
});
