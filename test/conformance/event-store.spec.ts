import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type {
  Append,
  AppendOutcome,
  EventStore,
  KeyedAnswer,
  LoggedEvent,
  Snapshot,
  StoredEvent,
} from '../../libs/kernel/event-store.port.ts';
import { eventStores, type TestStore } from './event-store.stores.ts';

const event = (type = 'Happened', payload = '{}'): StoredEvent => ({
  id: randomUUID(),
  type,
  payload,
  metadata: '{"commandId":"c"}',
});
const append = (stream: string, expectedRevision: number, count = 1, answers: KeyedAnswer[] = []): Append => ({
  stream,
  expectedRevision,
  events: Array.from({ length: count }, () => event()),
  answers,
});
const answer = (key: string, body = '{"ok":true}'): KeyedAnswer => ({ key, bodyHash: 'hash', status: 201, body });
const fresh = () => `thing-${randomUUID()}`;

/** One suite for every adapter of the port (architecture §6). */
describe.each(Object.entries(eventStores))('event store: %s', (_, open) => {
  let subject: TestStore;
  let store: EventStore;
  beforeAll(async () => {
    subject = await open();
    ({ store } = subject);
  });
  afterAll(() => subject.stop());

  const revisions = async (stream: string) => (await store.readStream(stream, -1)).map((one) => one.revision);
  const positions = async (stream: string) => (await store.readStream(stream, -1)).map((one) => one.position);

  /** Everything after a position, page by page. */
  const readOn = async (from: number, limit: number) => {
    const events: LoggedEvent[] = [];
    for (let after = from; ; ) {
      const page = await store.readAll(after, limit);
      expect(page.events.length).toBeLessThanOrEqual(limit);
      events.push(...page.events);
      if (page.upTo === after) return events;
      after = page.upTo;
    }
  };

  test('an empty log has head 0 and nothing to read', async () => {
    const empty = await open();
    try {
      if (!empty.isEmpty) return;
      expect(await empty.store.head()).toBe(0);
      expect(await empty.store.readAll(0, 10)).toEqual({ events: [], upTo: 0 });
      expect(await empty.store.readAll(0, 10, ['Happened'])).toEqual({ events: [], upTo: 0 });
    } finally {
      await empty.stop();
    }
  });

  test('what is appended is read back to the byte, revisions from 0', async () => {
    const stream = fresh();
    const head = await store.head();
    const events = [event('First', '{"a":1}'), event('Second', '{ "spaced" :  "x" }')];
    const outcomes = await store.append([{ stream, expectedRevision: -1, events, answers: [] }]);
    const [first, second] = await positions(stream);
    expect(await store.readStream(stream, -1)).toEqual([
      { ...events[0], stream, revision: 0, position: first },
      { ...events[1], stream, revision: 1, position: second },
    ]);
    expect(head).toBeLessThan(first!);
    expect(first).toBeLessThan(second!);
    expect(await store.head()).toBe(second);
    expect(outcomes).toEqual([{ outcome: 'appended', firstPosition: second! - 1 }]);
    if (subject.isContiguous) expect([first, second]).toEqual([head + 1, head + 2]);
  });

  test('metadata comes back to the byte too, whatever it is', async () => {
    const stream = fresh();
    const texts = ['{"commandId":"c"}', '{ "b" : 1.0, "2":"x", "1":[] }', '{"a":1,"a":2}', '"text"', '5', 'null', ''];
    const events = texts.map((metadata) => ({ ...event(), metadata }));
    await store.append([{ stream, expectedRevision: -1, events, answers: [] }]);
    expect((await store.readStream(stream, -1)).map((one) => one.metadata)).toEqual(texts);
    expect((await store.readAll((await positions(stream))[0]! - 1, 7)).events.map((one) => one.metadata)).toEqual(
      texts,
    );
  });

  test('the streams that changed after a position are told once each, with their newest revision', async () => {
    const [one, other] = [fresh(), fresh()];
    const head = await store.head();
    expect(await store.changedStreams(head)).toEqual({ streams: [], upTo: head });
    await store.append([append(one, -1, 2), append(other, -1, 1)]);
    await store.append([append(one, 1, 3)]);
    const { streams, upTo } = await store.changedStreams(head);
    expect(upTo).toBe(await store.head());
    expect(new Map(streams.map(({ stream, revision }) => [stream, revision]))).toEqual(
      new Map([
        [one, 4],
        [other, 0],
      ]),
    );
    expect(streams).toHaveLength(2);
    const lastButOne = (await positions(one))[3]!;
    expect((await store.changedStreams(lastButOne)).streams).toEqual([{ stream: one, revision: 4 }]);
  });

  test('a wrong expected revision is a conflict, and nothing of that append is written', async () => {
    const stream = fresh();
    await store.append([append(stream, -1, 2)]);
    for (const expected of [-1, 0, 2, 17]) {
      const key = randomUUID();
      expect(await store.append([append(stream, expected, 1, [answer(key)])])).toEqual([{ outcome: 'conflict' }]);
      expect(await subject.answer(key)).toBeUndefined();
    }
    expect(await store.append([append(fresh(), 0)])).toEqual([{ outcome: 'conflict' }]);
    expect(await revisions(stream)).toEqual([0, 1]);
  });

  test('a conflict leaves the others of the batch untouched, and positions without a hole', async () => {
    const [before, conflicting, after] = [fresh(), fresh(), fresh()];
    const head = await store.head();
    const outcomes = await store.append([append(before, -1, 2), append(conflicting, 5, 3), append(after, -1, 2)]);
    const [ofBefore, ofAfter] = [await positions(before), await positions(after)];
    expect(outcomes).toEqual([
      { outcome: 'appended', firstPosition: ofBefore[1]! - 1 },
      { outcome: 'conflict' },
      { outcome: 'appended', firstPosition: ofAfter[1]! - 1 },
    ]);
    const logged = (await store.readAll(head, 10)).events.map(({ stream, position }) => [stream, position]);
    const expected = [...ofBefore.map((at) => [before, at]), ...ofAfter.map((at) => [after, at])];
    expect(logged).toEqual(expected.sort(([, a], [, b]) => Number(a) - Number(b)));
    if (subject.isContiguous) expect([...ofBefore, ...ofAfter]).toEqual([1, 2, 3, 4].map((step) => head + step));
  });

  test('a taken key stops its append only, and is told before a conflict', async () => {
    const [first, second, third] = [fresh(), fresh(), fresh()];
    const key = randomUUID();
    await store.append([append(first, -1, 1, [answer(key, '"first"')])]);
    const head = await store.head();
    const outcomes = await store.append([
      append(second, -1, 1, [answer(randomUUID()), answer(key, '"second"')]),
      append(third, -1, 1, [answer(randomUUID())]),
      append(first, 99, 1, [answer(key)]),
    ]);
    expect(outcomes).toEqual([
      { outcome: 'key-taken', key },
      { outcome: 'appended', firstPosition: (await positions(third))[0] },
      { outcome: 'key-taken', key },
    ]);
    expect(await store.head()).toBeGreaterThan(head);
    expect(await revisions(second)).toEqual([]);
    expect(await revisions(third)).toEqual([0]);
    expect(await subject.answer(key)).toEqual(answer(key, '"first"'));
  });

  test('answers without events are remembered when the revision is as expected', async () => {
    const stream = fresh();
    await store.append([append(stream, -1, 1)]);
    const head = await store.head();
    const [key, other] = [randomUUID(), randomUUID()];
    expect(await store.append([append(stream, 0, 0, [answer(key)]), append(stream, 1, 0, [answer(other)])])).toEqual([
      { outcome: 'appended', firstPosition: head },
      { outcome: 'conflict' },
    ]);
    expect(await subject.answer(key)).toEqual(answer(key));
    expect(await subject.answer(other)).toBeUndefined();
    expect(await store.head()).toBe(head);
  });

  test('the same append again, after its answer was lost, conflicts or is recognised, and writes nothing twice', async () => {
    const stream = fresh();
    const key = randomUUID();
    const lost = append(stream, -1, 3);
    const outcome = await store.append([lost]);
    expect([[{ outcome: 'conflict' }], outcome]).toContainEqual(await store.append([lost]));
    const keyed = append(stream, 2, 1, [answer(key)]);
    await store.append([keyed]);
    expect(await store.append([keyed])).toEqual([{ outcome: 'key-taken', key }]);
    expect(await revisions(stream)).toEqual([0, 1, 2, 3]);
  });

  test('readStream and readStreamSince begin after what they are given', async () => {
    const [stream, other] = [fresh(), fresh()];
    await store.append([append(stream, -1, 2)]);
    await store.append([append(other, -1, 1)]);
    await store.append([append(stream, 1, 2)]);
    const all = await store.readStream(stream, -1);
    expect(all.map((one) => one.revision)).toEqual([0, 1, 2, 3]);
    expect(await store.readStream(stream, 1)).toEqual(all.slice(2));
    expect(await store.readStream(stream, 3)).toEqual([]);
    expect(await store.readStream(stream, 0, 2)).toEqual(all.slice(1, 3));
    expect(await store.readStream(stream, 2, 2)).toEqual(all.slice(3));
    expect(await store.readStreamSince(stream, all[1]!.position)).toEqual(all.slice(2));
    expect(await store.readStreamSince(stream, all[1]!.position + 1)).toEqual(all.slice(2));
    expect(await store.readStreamSince(stream, 0)).toEqual(all);
    expect(await store.readStreamSince(fresh(), 0)).toEqual([]);
  });

  const snapshot = (stream: string, revision: number, version = 1): Snapshot => ({
    stream,
    revision,
    position: revision + 1,
    version,
    state: `{"at":${revision}}`,
    window: `[${revision}]`,
  });

  test('loadStreams gives each stream from its snapshot on, also one of another version and one that is not there', async () => {
    const [plain, taken, missing] = [fresh(), fresh(), fresh()];
    await store.append([append(plain, -1, 2), append(taken, -1, 4)]);
    await store.saveSnapshots([snapshot(taken, 2, 7)]);
    const loaded = await store.loadStreams([plain, taken, missing]);
    expect([...loaded.keys()].sort()).toEqual([plain, taken, missing].sort());
    expect(loaded.get(plain)).toEqual({ snapshot: undefined, events: await store.readStream(plain, -1) });
    expect(loaded.get(taken)).toEqual({ snapshot: snapshot(taken, 2, 7), events: await store.readStream(taken, 2) });
    expect(loaded.get(missing)).toEqual({ snapshot: undefined, events: [] });
    const begun = await store.loadStreams([plain, taken, missing], 1);
    expect([plain, taken, missing].map((stream) => begun.get(stream)!.events.map((one) => one.revision))).toEqual([
      [0],
      [3],
      [],
    ]);
  });

  test('snapshots only move forward, except that another version replaces', async () => {
    const stream = fresh();
    await store.append([append(stream, -1, 9)]);
    const kept = async () => (await store.loadStreams([stream])).get(stream)!.snapshot;
    await store.saveSnapshots([]);
    await store.saveSnapshots([snapshot(stream, 5)]);
    await store.saveSnapshots([snapshot(stream, 3)]);
    expect(await kept()).toEqual(snapshot(stream, 5));
    await store.saveSnapshots([snapshot(stream, 8)]);
    expect(await kept()).toEqual(snapshot(stream, 8));
    await store.saveSnapshots([snapshot(stream, 4, 2)]);
    expect(await kept()).toEqual(snapshot(stream, 4, 2));
  });

  test('readAll gives everything once, in order, whatever the page size', async () => {
    const head = await store.head();
    const streams = Array.from({ length: 7 }, fresh);
    await store.append(streams.map((stream) => append(stream, -1, 3)));
    const expected = (await Promise.all(streams.map(positions))).flat().sort((a, b) => a - b);
    for (const limit of [1, 4, 21, 100]) {
      expect((await readOn(head, limit)).map((one) => one.position)).toEqual(expected);
    }
    if (subject.isContiguous) expect(expected).toEqual(Array.from({ length: 21 }, (_, i) => head + 1 + i));
  });

  test('readAll goes on from any position, also from one at which no event stands', async () => {
    const stream = fresh();
    await store.append([append(stream, -1, 5)]);
    const places = await positions(stream);
    for (const [i, place] of places.entries()) {
      for (const after of [place - 1, place - 0.5].map(Math.floor)) {
        const { events } = await store.readAll(after, 10);
        expect(events.map((one) => one.position)).toEqual(places.slice(i));
      }
    }
    const between = places[1]! + Math.floor((places[2]! - places[1]!) / 2);
    expect((await store.readAll(between, 2)).events.map((one) => one.position)).toEqual(places.slice(2, 4));
    expect((await store.readAll(between, 10, ['Happened'])).events.map((one) => one.position)).toEqual(places.slice(2));
  });

  test('readAll of some types skips none of them, moves past the others and never beyond the head', async () => {
    const rare = `Rare${randomUUID()}`;
    const head = await store.head();
    const types = Array.from({ length: 120 }, (_, i) => (i % 40 === 39 ? rare : 'Common'));
    const stream = fresh();
    await store.append([{ stream, expectedRevision: -1, events: types.map((type) => event(type)), answers: [] }]);
    const places = await positions(stream);
    const end = await store.head();
    expect(end).toBe(places[119]);
    for (const limit of [1, 2, 3, 50]) {
      const found: number[] = [];
      let after = head;
      for (let reads = 0; after < end; reads += 1) {
        const { events, upTo } = await store.readAll(after, limit, [rare]);
        found.push(...events.map((one) => one.position));
        expect(upTo).toBeGreaterThan(after);
        expect(upTo).toBeLessThanOrEqual(end);
        expect(reads).toBeLessThan(121);
        after = upTo;
      }
      expect(found).toEqual([places[39], places[79], places[119]]);
    }
  });

  test('subscribers are woken with the head; one that has stopped is not', async () => {
    const heads: number[] = [];
    const stopped: number[] = [];
    let woken = () => {};
    const stop = await store.subscribe((head) => {
      heads.push(head);
      woken();
    });
    await (await store.subscribe((head) => stopped.push(head)))();
    await store.append([append(fresh(), 5)]);
    const before = await store.head();
    const stream = fresh();
    await store.append([append(stream, -1, 2)]);
    const head = await store.head();
    expect(head).toBe((await positions(stream))[1]);
    if (heads.at(-1) !== head) {
      await new Promise<void>((resolve) => {
        woken = () => heads.at(-1) === head && resolve();
      });
    }
    expect(heads.filter((one) => one > head)).toEqual([]);
    expect(stopped.filter((one) => one > before)).toEqual([]);
    if (subject.isContiguous) expect(heads.filter((one) => one > before)).toEqual([head]);
    await stop();
  });

  test('appendExclusively shows the newer events, and nobody else is between them and its append', async () => {
    const stream = fresh();
    await store.append([append(stream, -1, 3)]);
    let competing: Promise<AppendOutcome[]> | undefined;
    const shown: number[][] = [];
    const outcome = await store.appendExclusively(stream, 0, async (newer) => {
      shown.push(newer.map((one) => one.revision));
      if (!competing) {
        competing = store.append([append(stream, 2)]);
        await Promise.race([competing, new Promise((resolve) => setTimeout(resolve, 50))]);
      }
      return append(stream, newer.at(-1)!.revision, 2);
    });
    const [other] = await competing!;
    const length = other!.outcome === 'appended' ? 6 : 5;
    expect(shown).toEqual(other!.outcome === 'appended' ? [[1, 2], [3]] : [[1, 2]]);
    expect(await revisions(stream)).toEqual(Array.from({ length }, (_, i) => i));
    expect(outcome).toEqual({ outcome: 'appended', firstPosition: (await positions(stream))[length - 1]! - 1 });
    if (subject.isContiguous) expect(other).toEqual({ outcome: 'conflict' });
  });

  test('appendExclusively may write nothing, meet a taken key, or fail; the next writer goes on', async () => {
    const stream = fresh();
    const key = randomUUID();
    await store.append([append(stream, -1, 1, [answer(key)])]);
    expect(await store.appendExclusively(stream, -1, async () => undefined)).toBeUndefined();
    expect(await store.appendExclusively(stream, -1, async () => append(stream, 0, 1, [answer(key)]))).toEqual({
      outcome: 'key-taken',
      key,
    });
    await expect(
      store.appendExclusively(stream, -1, async () => {
        throw new Error('a fault in deciding');
      }),
    ).rejects.toThrow('a fault in deciding');
    expect((await store.append([append(stream, 0)]))[0]!.outcome).toBe('appended');
    expect(await revisions(stream)).toEqual([0, 1]);
  });

  test('500 appends with 5,000 events are one batch', async () => {
    const streams = Array.from({ length: 500 }, fresh);
    const head = await store.head();
    const outcomes = await store.append(streams.map((stream) => append(stream, -1, 10, [answer(randomUUID())])));
    const events = await readOn(head, 6_000);
    expect(events).toHaveLength(5_000);
    const places = new Map(streams.map((stream) => [stream, [] as number[]]));
    for (const { stream, revision, position } of events) {
      expect(revision).toBe(places.get(stream)!.length);
      places.get(stream)!.push(position);
    }
    expect(outcomes).toEqual(
      streams.map((stream) => ({ outcome: 'appended', firstPosition: places.get(stream)![9]! - 9 })),
    );
    expect(await store.head()).toBe(events.at(-1)!.position);
    if (subject.isContiguous) {
      expect(events.map((one) => [one.stream, one.position])).toEqual(
        streams.flatMap((stream, s) => Array.from({ length: 10 }, (_, i) => [stream, head + 1 + s * 10 + i])),
      );
    }
  });

  const nasty = [
    '"',
    '\\',
    "'; DROP TABLE events; --",
    '{},{NULL}',
    'NULL',
    '\n\r\t\b\f',
    '\u0000',
    '\u001e',
    '\u001e\u001e',
    '\u007f\u0080\u2028\u2029\ufeff',
    '\ud800',
    '\udfff\ud800',
    '😀 e\u0301 ﷽ مرحبا',
    '$1 %s \\x1e \\u001e',
    '',
  ];

  test.each(nasty.map((text) => [JSON.stringify(text), text]))('a payload with %s comes back', async (_name, text) => {
    const stream = fresh();
    const key = randomUUID();
    const payload = JSON.stringify({ [text]: text, deep: [[{ text }]] });
    const events = [event('Said', payload), event('Said', payload)];
    await store.append([{ stream, expectedRevision: -1, events, answers: [answer(key, payload)] }]);
    expect((await store.readStream(stream, -1)).map((one) => one.payload)).toEqual([payload, payload]);
    expect((await subject.answer(key))!.body).toBe(payload);
  });

  test('any JSON value comes back as it was written', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.json({ stringUnit: 'binary' }), { minLength: 1, maxLength: 5 }),
        async (payloads) => {
          const stream = fresh();
          await store.append([
            { stream, expectedRevision: -1, events: payloads.map((payload) => event('Said', payload)), answers: [] },
          ]);
          expect((await store.readStream(stream, -1)).map((one) => one.payload)).toEqual(payloads);
        },
      ),
      { numRuns: 100 },
    );
  });
});

test('JSON text never holds a raw U+001E, nor any other control character: lists of it can be joined by one', () => {
  fc.assert(
    fc.property(fc.jsonValue({ stringUnit: 'binary' }), (value) => {
      // biome-ignore lint/suspicious/noControlCharactersInRegex: it is what must not occur
      expect(JSON.stringify(value)).not.toMatch(/[\u0000-\u001f]/);
    }),
    { numRuns: 1_000 },
  );
  for (let code = 0; code < 0x20; code += 1) {
    expect(JSON.stringify(String.fromCharCode(code))).toHaveLength(
      code === 8 || (code > 8 && code < 14 && code !== 11) ? 4 : 8,
    );
  }
});
