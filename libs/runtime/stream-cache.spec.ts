import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { envelope, OpenPurse, outcomes, type Purse, PurseTest, PutIn, purse } from './execute.examples.ts';

let t: PurseTest;
beforeEach(() => {
  t = new PurseTest();
});
afterEach(() => t.path.drain());

describe('memory of streams', () => {
  test('a snapshot brings back the state and the ids of the commands before it', async () => {
    await t.open();
    const since = await t.memory.head();
    for (let i = 0; i < 300; i += 1) void t.putIn(i + 1, { commandId: `c${i}` });
    await t.path.drain();
    await t.putIn(301, { commandId: 'c300' });
    const snapshot = (await t.memory.loadStreams([t.stream()])).get(t.stream())!;
    expect(snapshot.snapshot).toMatchObject({ revision: 300, position: 301, version: 1 });
    expect(snapshot.events).toHaveLength(1);
    t.start();
    const again = await t.putIn(1, { commandId: 'c0', since });
    expect(again.replayed).toBe(true);
    expect(again.state.coins).toEqual(Array.from({ length: 301 }, (_, i) => i + 1));
    expect((await t.putIn(1, { commandId: 'c300' })).replayed).toBe(true);
    expect(await t.coinsInLog()).toHaveLength(301);
  });

  test('a snapshot of another version is not used', async () => {
    await t.open();
    await t.putIn(1);
    const state = JSON.stringify({ isOpen: true, limit: 0, coins: [666] });
    const window = '{"from":0,"positions":[]}';
    await t.memory.saveSnapshots([{ stream: t.stream(), revision: 1, position: 2, version: 99, state, window }]);
    t.start();
    expect(await t.coins()).toEqual([1]);
    expect(await outcomes([t.putIn(2)])).toEqual([[1, 2]]);
  });

  test('snapshots that cannot be saved are said, and nothing else happens', async () => {
    t.store.saveSnapshots = async () => {
      throw new Error('disk full');
    };
    await t.open();
    await Promise.all(Array.from({ length: 250 }, (_, i) => t.putIn(i + 1)));
    await t.path.drain();
    expect(t.logged).toEqual(['warn: snapshots could not be saved']);
    expect(await outcomes([t.putIn(9)])).toHaveLength(1);
  });

  test('the least recently used streams are forgotten, never one with work under way', async () => {
    t.start({ cacheSize: 10 });
    const ids = Array.from({ length: 40 }, () => randomUUID());
    await Promise.all(ids.map((id) => t.path.execute(purse, new OpenPurse({ purseId: id, limit: 1 }), envelope())));
    const rounds = Array.from({ length: 5 }, (_, round) =>
      ids.map((id) => t.path.execute(purse, new PutIn({ purseId: id, coin: round + 1 }), envelope())),
    );
    await Promise.all(rounds.flat());
    for (const id of ids) {
      const { state } = await t.path.state<Purse>(purse, id);
      expect(state.coins).toEqual([1, 2, 3, 4, 5]);
    }
    expect(t.store.exclusive).toEqual([]);
    t.start({ cacheSize: 10 });
    for (const id of ids) await t.path.state(purse, id);
    t.store.loads.length = 0;
    await t.path.state(purse, ids.at(-1)!);
    expect(t.store.loads).toEqual([]);
    await t.path.state(purse, ids[0]!);
    expect(t.store.loads).toEqual([[`purse-${ids[0]}`]]);
  });

  test('streams that are made and then left alone do not push out those that are used again', async () => {
    await t.open();
    t.start({ cacheSize: 10 });
    await t.path.state(purse, t.purseId);
    for (let i = 0; i < 40; i += 1) {
      await t.path.execute(purse, new OpenPurse({ purseId: randomUUID(), limit: 1 }), envelope());
    }
    t.store.loads.length = 0;
    await t.path.state(purse, t.purseId);
    expect(t.store.loads).toEqual([]);
  });

  test('streams wanted at the same moment are read together, once', async () => {
    const ids = Array.from({ length: 20 }, () => randomUUID());
    await Promise.all(ids.map((id) => t.path.execute(purse, new OpenPurse({ purseId: id, limit: 1 }), envelope())));
    t.start();
    t.store.loads.length = 0;
    await Promise.all([...ids, ...ids].map((id) => t.path.state(purse, id)));
    expect(t.store.loads).toEqual([ids.map((id) => `purse-${id}`)]);
  });
});
