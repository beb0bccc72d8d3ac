import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { EventStoreDb, EventStoreDbOptions } from '../../libs/adapters/eventstoredb/event-store.ts';
import { envelope, OpenPurse, type Purse, PutIn, purse, writePathOn } from '../../libs/runtime/execute.examples.ts';
import { eventually } from '../eventually.ts';
import { append, bareStore, event, fresh } from './bare.ts';
import { startEventStoreServer, type TestServer, type TestServerOptions } from './server.ts';

/** What the adapter makes of the bad days of a server (docs/why/eventstoredb.md). */
let server: TestServer;
let store: EventStoreDb;
let cleanUps: (() => Promise<unknown>)[];

beforeEach(async () => {
  cleanUps = [];
  server = await serve();
  ({ store } = open());
});
afterEach(async () => {
  for (const cleanUp of cleanUps.reverse()) await cleanUp();
});

async function serve(options: TestServerOptions = {}): Promise<TestServer> {
  const started = await startEventStoreServer(options);
  cleanUps.push(() => started.stop());
  return started;
}

function open(options: Partial<EventStoreDbOptions> = {}, url = server.url) {
  const opened = bareStore(url, options);
  cleanUps.push(() => opened.store.close());
  return opened;
}

const lengthOf = (stream: string, on = server) => on.log.stream(stream).length;

/** The outcome of one append, and where the log says that its last event stands. */
async function appended(stream: string, count = 3) {
  const [outcome] = await store.append([append(stream, -1, count)]);
  return { outcome, last: server.log.stream(stream).at(-1)!.position, length: lengthOf(stream) };
}

describe('an append whose answer is lost', () => {
  test.each(['lostAnswers', 'brokenAnswers', 'timeouts'] as const)(
    '(%s) is recognised when it is repeated',
    async (fault) => {
      server.weather[fault] = 2;
      const { outcome, last, length } = await appended(fresh());
      expect(length).toBe(3);
      expect(outcome).toEqual({ outcome: 'appended', firstPosition: last - 2 });
      expect(server.calls.get('Append')).toBe(3);
    },
  );

  test('and that another writer has gone on from is recognised too', async () => {
    const stream = fresh();
    server.weather.lostAnswers = 1;
    const lost = store.append([append(stream, -1, 2)]);
    await eventually(
      async () => lengthOf(stream),
      (length) => length === 2,
    );
    const other = open();
    expect(await other.store.append([append(stream, 1, 1)])).toMatchObject([{ outcome: 'appended' }]);
    const second = server.log.stream(stream)[1]!.position;
    expect(await lost).toEqual([{ outcome: 'appended', firstPosition: second - 1 }]);
    expect(lengthOf(stream)).toBe(3);
  });

  test('is of unknown outcome when nothing is heard in time, and others of the batch are not waited for twice', async () => {
    const { store: impatient } = open({ deadlineMs: 3_000, attemptMs: 1_500 });
    const [stream, other] = [fresh(), fresh()];
    server.weather.lostAnswers = 9;
    await expect(impatient.append([append(stream, -1), append(other, -1)])).rejects.toThrow(
      'the outcome of 2 of 2 appends is unknown',
    );
    expect([lengthOf(stream), lengthOf(other)]).toEqual([1, 1]);
  });
});

test('an append that was not written, and another writer was faster, is a conflict', async () => {
  const stream = fresh();
  server.weather.notReady = 1;
  const late = store.append([append(stream, -1)]);
  server.log.append(stream, -1, [{ ...event(), contentType: 'x', data: new Uint8Array(), metadata: new Uint8Array() }]);
  expect(await late).toEqual([{ outcome: 'conflict' }]);
});

test('positions that the server does not tell with an append are read', async () => {
  server.weather.hidesAppendPositions = true;
  const { outcome, last } = await appended(fresh());
  expect(outcome).toEqual({ outcome: 'appended', firstPosition: last - 2 });
});

test('a server that does not tell positions of a stream is refused by name', async () => {
  server.weather.hidesStreamPositions = true;
  const stream = fresh();
  await store.append([append(stream, -1)]);
  await expect(store.readStream(stream, -1)).rejects.toThrow('EventStoreDB 22.6 or newer is needed');
});

test('what the server will never take is not tried again', async () => {
  server.weather.maxAppendBytes = 100;
  const large = { ...append(fresh(), -1), events: [event('Large', JSON.stringify('x'.repeat(200)))] };
  await expect(store.append([large])).rejects.toMatchObject({
    message: 'the outcome of 1 of 1 appends is unknown',
    cause: { type: 'maximum-append-size-exceeded' },
  });
  expect(server.calls.get('Append')).toBe(1);
});

test('every append is a call of its own: none of them shares the fate of another', async () => {
  await store.append(Array.from({ length: 5 }, () => append(fresh(), -1)));
  expect(server.calls.get('Append')).toBe(5);
  expect(server.calls.get('BatchAppend')).toBeUndefined();
});

describe('a server that does not answer', () => {
  test('for a while: calls are made again, on another connection', async () => {
    const stream = fresh();
    server.weather.isSilent = true;
    const writing = store.append([append(stream, -1)]);
    const reading = store.readStream(stream, -1);
    const head = store.head();
    await eventually(
      async () => server.calls.get('Append') ?? 0,
      (calls) => calls >= 2,
    );
    server.weather.isSilent = false;
    expect(await writing).toMatchObject([{ outcome: 'appended' }]);
    expect((await reading).length).toBeLessThanOrEqual(1);
    await head;
    expect(lengthOf(stream)).toBe(1);
  });

  test('at all: every call ends in its time', async () => {
    const { store: impatient } = open({ deadlineMs: 300, attemptMs: 100 });
    server.weather.isSilent = true;
    const calls = [
      impatient.append([append(fresh(), -1)]),
      impatient.readStream('thing-1', -1),
      impatient.readStreamSince('thing-1', 0),
      impatient.readAll(0, 10),
      impatient.changedStreams(0),
      impatient.loadStreams(['thing-1']),
      impatient.head(),
    ];
    const settled = await Promise.allSettled(calls);
    expect(settled.map(({ status }) => status)).toEqual(calls.map(() => 'rejected'));
  });

  test('and was stopped goes on where it was when it is started again on its port', async () => {
    const stream = fresh();
    await store.append([append(stream, -1, 2)]);
    await server.stop();
    const writing = store.append([append(stream, 1)]);
    const reading = store.readStream(stream, 0);
    await serve({ port: server.port, log: server.log });
    expect(await writing).toMatchObject([{ outcome: 'appended' }]);
    expect((await reading).map((one) => one.revision).slice(0, 1)).toEqual([1]);
    expect(lengthOf(stream)).toBe(3);
  });
});

describe('a read that is under way', () => {
  const LENGTH = 200;
  const read = (by: EventStoreDb, stream: string) =>
    by.readStream(stream, -1).then(
      (events) => events.length,
      () => 'an error',
    );

  beforeEach(() => {
    server.weather.recordMs = 50;
  });

  test('when its connection is given up, because another call on it was not answered, is an error', async () => {
    const { store: impatient } = open({ deadlineMs: 1_000, attemptMs: 500 });
    const stream = fresh();
    await impatient.append([append(stream, -1, LENGTH)]);
    server.weather.lostAnswers = 1;
    const [length] = await Promise.all([read(impatient, stream), impatient.append([append(fresh(), -1)])]);
    expect(length).toBe('an error');
    server.weather.recordMs = 0;
    expect(await read(impatient, stream)).toBe(LENGTH);
  });

  test('when the store is closed is an error', async () => {
    const { store: closing } = open();
    const stream = fresh();
    await closing.append([append(stream, -1, LENGTH)]);
    const reading = read(closing, stream);
    await eventually(
      async () => server.calls.get('Read') ?? 0,
      (calls) => calls > 0,
    );
    await closing.close();
    expect(await reading).toBe('an error');
  });
});

describe('a node that is not the leader', () => {
  test('sends appends and reads to the leader', async () => {
    const leader = await serve({ log: server.log });
    server.weather.leaderAt = { host: '127.0.0.1', port: leader.port };
    const stream = fresh();
    expect(await store.append([append(stream, -1, 2)])).toMatchObject([{ outcome: 'appended' }]);
    expect((await store.readStream(stream, -1)).map((one) => one.revision)).toEqual([0, 1]);
    expect(leader.calls.get('Append')).toBe(1);
  });

  test('becomes the leader while there is work', async () => {
    const other = await serve({ log: server.log });
    const stream = fresh();
    const nodes = [server, other];
    for (let revision = -1; revision < 11; revision += 1) {
      if (revision % 4 === 3) {
        const [leader, follower] = nodes.reverse();
        leader!.weather.leaderAt = undefined;
        follower!.weather.leaderAt = { host: '127.0.0.1', port: leader!.port };
      }
      expect(await store.append([append(stream, revision)])).toMatchObject([{ outcome: 'appended' }]);
    }
    expect((await store.readStream(stream, -1)).map((one) => one.revision)).toEqual(
      Array.from({ length: 12 }, (_, i) => i),
    );
  });

  test('is found among the nodes of a connection string', async () => {
    const leader = await serve({ log: server.log });
    server.weather.leaderAt = { host: '127.0.0.1', port: leader.port };
    const { store: clustered } = open({}, `esdb://127.0.0.1:${server.port},127.0.0.1:${leader.port}?tls=false`);
    expect(await clustered.append([append(fresh(), -1)])).toMatchObject([{ outcome: 'appended' }]);
    expect(server.calls.get('Append')).toBeUndefined();
  });
});

describe('a subscription', () => {
  /** The newest position that a subscriber was told of. */
  async function subscribed(options: Partial<EventStoreDbOptions> = {}) {
    const { store: watching } = open(options);
    let newest = 0;
    await watching.subscribe((head) => {
      newest = Math.max(newest, head);
    });
    return async (stream: string) => {
      const position = server.log.stream(stream).at(-1)!.position;
      await eventually(
        async () => newest,
        (told) => told === position,
      );
    };
  }

  test('that the server breaks or ends is opened again and tells what was appended meanwhile', async () => {
    const told = await subscribed({ watchMs: 60_000 });
    for (let round = 0; round < 3; round += 1) {
      const stream = fresh();
      server.breakCalls();
      await store.append([append(stream, -1)]);
      await told(stream);
    }
    expect(server.calls.get('Read')).toBeGreaterThanOrEqual(4);
  });

  test('outlives a restart of the server', async () => {
    const told = await subscribed();
    await server.stop();
    const stream = fresh();
    await serve({ port: server.port, log: server.log });
    await store.append([append(stream, -1)]);
    await told(stream);
  });

  test('that is silent while the log grows is replaced', async () => {
    const told = await subscribed();
    const first = fresh();
    await store.append([append(first, -1)]);
    await told(first);
    server.weather.isSubscriptionSilent = true;
    const second = fresh();
    await store.append([append(second, -1)]);
    await told(second);
    const opened = () => [...server.log.records].length && (server.calls.get('Read') ?? 0);
    const before = opened();
    await eventually(
      async () => opened(),
      (reads) => reads > before,
    );
  });

  test('that cannot be opened yet is, later', async () => {
    server.weather.notReady = 2;
    const told = await subscribed();
    const stream = fresh();
    await store.append([append(stream, -1)]);
    await told(stream);
  });
});

test('the end of one connection leaves the appends on another one alone', async () => {
  const other = await serve();
  const { store: second } = open({}, other.url);
  const streams = Array.from({ length: 40 }, fresh);
  const writing = Promise.all(streams.map((stream) => second.append([append(stream, -1)])));
  const broken = Promise.all(streams.map((stream) => store.append([append(stream, -1)])));
  server.breakCalls();
  await server.stop();
  expect((await writing).flat().map((one) => one.outcome)).toEqual(streams.map(() => 'appended'));
  await serve({ port: server.port, log: server.log });
  expect((await broken).flat().map((one) => one.outcome)).toEqual(streams.map(() => 'appended'));
  expect(streams.map((stream) => lengthOf(stream))).toEqual(streams.map(() => 1));
});

test('events of the server itself are passed over, however many there are', async () => {
  const stream = fresh();
  await store.append([append(stream, -1)]);
  const [known] = await store.readStream(stream, -1);
  const system = { contentType: 'application/json', data: new Uint8Array([123, 125]), metadata: new Uint8Array() };
  const many = Array.from({ length: 3_000 }, () => ({ ...event('$statsCollected'), ...system }));
  server.log.append('$stats-1', 'any', many);
  expect(await store.head()).toBe(known!.position);
  expect(await open().store.head()).toBe(known!.position);
  expect(await store.readAll(known!.position, 10)).toEqual({ events: [], upTo: known!.position });
  const reads = server.calls.get('Read')!;
  expect(await store.readAll(known!.position, 10)).toEqual({ events: [], upTo: known!.position });
  expect(server.calls.get('Read')! - reads).toBe(1);
  await store.append([append(stream, 0)]);
  expect((await store.readAll(known!.position, 10)).events.map((one) => one.revision)).toEqual([1]);
});

describe('the write path on it', () => {
  test('answers a command once whose commit was answered by nothing, and puts one coin in', async () => {
    const { path } = writePathOn(open({ deadlineMs: 500, attemptMs: 200 }).store);
    await path.execute(purse, new OpenPurse({ purseId: 'p', limit: 5 }), envelope());
    server.weather.lostAnswers = 3;
    const done = await path.execute(purse, new PutIn({ purseId: 'p', coin: 1 }), envelope());
    expect((done.state as Purse).coins).toEqual([1]);
    expect(lengthOf('purse-p')).toBe(2);
  });

  test('two that decide one command differently in the same millisecond both have what is in the log', async () => {
    const [first, second] = [writePathOn(store).path, writePathOn(open().store).path];
    await first.execute(purse, new OpenPurse({ purseId: 'p', limit: 5 }), envelope());
    await second.state(purse, 'p');
    const putIn = (path: typeof first, coin: number) =>
      path.execute(purse, new PutIn({ purseId: 'p', coin }), envelope({ commandId: 'c1' }));
    const answers = await Promise.all([putIn(first, 7), putIn(second, 8)]);
    const inLog = server.log.stream('purse-p').map(({ data }) => JSON.parse(Buffer.from(data).toString()).coin);
    expect(answers.map(({ state }) => (state as Purse).coins)).toEqual([inLog.slice(1), inLog.slice(1)]);
    expect([inLog.length, answers.map(({ replayed }) => replayed).sort()]).toEqual([2, [false, true]]);
  });

  test('waits for what it lost against to be readable, and takes the log for nothing less than it is', async () => {
    const [{ path, logged }, other] = [writePathOn(store), writePathOn(open().store).path];
    await path.execute(purse, new OpenPurse({ purseId: 'p', limit: 5 }), envelope());
    await other.execute(purse, new PutIn({ purseId: 'p', coin: 8 }), envelope());
    const before = new Map(server.calls);
    server.weather.staleReads = 4;
    const { state } = await path.execute(purse, new PutIn({ purseId: 'p', coin: 7 }), envelope());
    const called = (method: string) => server.calls.get(method)! - before.get(method)!;
    expect([(state as Purse).coins, logged, called('Append'), called('Read')]).toEqual([[8, 7], [], 3, 5]);
  });

  test('one that appends without a pause neither starves nor doubles another one', async () => {
    const [busy, late] = [writePathOn(store).path, writePathOn(open().store).path];
    await busy.execute(purse, new OpenPurse({ purseId: 'q', limit: 5 }), envelope());
    const putIn = (path: typeof busy, coin: number) =>
      path.execute(purse, new PutIn({ purseId: 'q', coin }), envelope()) as Promise<{ state: unknown }>;
    let isOver = false;
    let count = 0;
    const keepBusy = async () => {
      while (!isOver) await Promise.all([putIn(busy, ++count), putIn(busy, ++count)]);
    };
    cleanUps.push(async () => {
      isOver = true;
    });
    const working = keepBusy();
    for (let coin = 100_001; coin <= 100_010; coin += 1) await putIn(late, coin);
    isOver = true;
    await working;
    const { state } = await writePathOn(open().store).path.state<Purse>(purse, 'q');
    expect(state.coins.filter((coin) => coin < 100_000)).toEqual(Array.from({ length: count }, (_, i) => i + 1));
    expect(state.coins.filter((coin) => coin > 100_000)).toEqual(Array.from({ length: 10 }, (_, i) => 100_001 + i));
    expect(lengthOf('purse-q')).toBe(1 + count + 10);
  });
});
