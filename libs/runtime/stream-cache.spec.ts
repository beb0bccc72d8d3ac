import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { envelope, OpenPurse, outcomes, type Purse, PurseTest, PutIn, purse, TakeOut } from './execute.examples.ts';

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

  describe('of a decider with personal data', () => {
    const personal = { CoinIn: { subject: 'purseId', fields: ['coin'] } };
    const cautious = { ...purse, personal };
    const knowing = { ...cautious, holdsPersonal: ({ coins }: Purse) => coins.includes(13) };
    const open = (on: typeof purse) => t.path.execute(on, new OpenPurse({ purseId: t.purseId, limit: 5 }), envelope());
    const putIn = (on: typeof purse, coin: number, parts = 1) =>
      t.path.execute(on, new PutIn({ purseId: t.purseId, coin, parts }), envelope());
    const kept = async () => {
      await t.path.drain();
      return (await t.memory.loadStreams([t.stream()])).get(t.stream())!.snapshot;
    };

    test('a snapshot is made of a state that holds none, and of no other', async () => {
      await open(knowing);
      await putIn(knowing, 7, 250);
      await putIn(knowing, 13);
      expect(await kept()).toBeUndefined(); // it came when the snapshot was due
      await putIn(knowing, 7, 250);
      expect(await kept()).toBeUndefined();
      await t.path.execute(knowing, new TakeOut({ purseId: t.purseId, coin: 13 }), envelope());
      const snapshot = await kept();
      expect([snapshot?.revision, JSON.parse(snapshot!.state).coins]).toEqual([502, Array(500).fill(7)]);
      await putIn(knowing, 13, 250);
      expect(await kept()).toEqual(snapshot);
    });

    test('none is made where nothing says which states hold some; a long stream is read in pages', async () => {
      await open(cautious);
      await putIn(cautious, 7, 4_500);
      expect(await kept()).toBeUndefined();
      t.start();
      const pages: number[] = [];
      const { readStream, loadStreams } = t.store;
      t.store.loadStreams = async (...args) => {
        const found = await loadStreams.apply(t.store, args);
        for (const { events } of found.values()) pages.push(events.length);
        return found;
      };
      t.store.readStream = async (...args) => {
        const events = await readStream.apply(t.store, args);
        pages.push(events.length);
        return events;
      };
      const { state, revision } = await t.path.state<Purse>(cautious, t.purseId);
      expect([pages, revision, state.coins]).toEqual([[2_000, 2_000, 501], 4_500, Array(4_500).fill(7)]);
    });

    test('a stream that was taken to be new is not taken to be read before its last page', async () => {
      await open(cautious);
      await putIn(cautious, 7, 4_500);
      t.start();
      const states: Promise<{ revision: number }>[] = [];
      const ask = () => states.push(t.path.state(cautious, t.purseId));
      const { readStream } = t.store;
      t.store.readStream = (...args) => {
        ask();
        return readStream.apply(t.store, args);
      };
      t.store.faults.push(async (really) => {
        const again = open(cautious); // waits until this flush is over
        ask();
        while (states.length < 3) await new Promise(setImmediate);
        states.push(again.catch(({ code }) => ({ revision: code })));
        return really();
      });
      await t.path.execute(purse, new OpenPurse({ purseId: randomUUID(), limit: 5 }), envelope());
      const revisions = (await Promise.all(states)).map(({ revision }) => revision);
      expect(revisions).toEqual([4_500, 4_500, 4_500, 'CONFLICT']);
    });
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
