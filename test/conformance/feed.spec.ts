import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { LoggedEvent } from '../../libs/kernel/event-store.port.ts';
import type { Feed, FeedFollower, RunningFeed } from '../../libs/kernel/feed.port.ts';
import { eventually } from '../eventually.ts';
import { describeKafka, happened, platforms } from '../kafka/kafka.ts';
import { type FeedKind, feedKinds, type TestFeed } from './feed.feeds.ts';
import { Carried, RecordingFollower } from './feed.follower.ts';

const PATIENCE_MS = 60_000;

/** One suite for every adapter of the port (libs/kernel/feed.port.ts). */
for (const [name, kind] of Object.entries(feedKinds)) {
  (kind.needsKafka ? describeKafka : describe)(`feed: ${name}`, () => suite(kind));
}

function suite(kind: FeedKind): void {
  let shared: Awaited<ReturnType<FeedKind['open']>>;
  let subject: TestFeed;
  let running: RunningFeed[];
  let carried: Carried;
  let count: number;
  beforeAll(async () => {
    shared = await kind.open();
  });
  afterAll(() => shared?.stop());
  beforeEach(async () => {
    subject = await shared.begin();
    [running, carried, count] = [[], new Carried(), 0];
  });
  afterEach(async () => {
    await Promise.all(running.map((one) => one.stop()));
    await subject.stop();
  });

  const append = async (...names: string[]) => {
    await subject.store.append(
      names.map((platform) => ({
        stream: `thing-${randomUUID()}`,
        expectedRevision: -1,
        events: [happened(platform, ++count), happened(platform, ++count)],
        answers: [],
      })),
    );
  };
  const follow = async (follower: FeedFollower, feed: Feed = subject.feed()) => {
    const one = await feed.follow(follower);
    running.push(one);
    return one;
  };
  const inLog = async () => (await subject.store.readAll(0, 100_000)).events;
  const positions = (events: readonly LoggedEvent[]) => events.map(({ position }) => position);
  const until = async (count: number) => {
    await eventually(
      async () => carried.all().length,
      (carriedSoFar) => carriedSoFar >= count,
      PATIENCE_MS,
    );
  };
  const platformIn = (feed: Feed, partition: number) =>
    platforms(1_000).find((platform) => feed.partitionOf(platform) === partition)!;

  test('every partition gets its platforms’ events in the order of the log, to the byte, none twice and none left out', async () => {
    const feed = subject.feed();
    await append(...platforms(40));
    await follow(new RecordingFollower(carried), feed);
    await until(80);
    for (let i = 0; i < 10; i += 1) await append(...platforms(10));
    await until(280);
    const log = await inLog();
    for (let partition = 0; partition < feed.partitions; partition += 1) {
      const mine = log.filter(({ metadata }) => feed.partitionOf(JSON.parse(metadata).platform) === partition);
      expect(mine.length).toBeGreaterThan(0);
      expect(carried.events(partition)).toEqual(mine);
    }
    expect(carried.all()).toEqual(log);
  });

  test('it begins after where the follower stands', async () => {
    const feed = subject.feed();
    await append(...platforms(20));
    const log = await inLog();
    const half = log.slice(0, 20);
    for (const event of half) carried.events(feed.partitionOf(JSON.parse(event.metadata).platform)).push(event);
    const follower = new RecordingFollower(carried);
    await follow(follower, feed);
    await until(40);
    expect(carried.all()).toEqual(log);
    const given = follower.calls
      .filter((call) => call.startsWith('carry '))
      .flatMap((call) => call.split(' ').slice(2));
    expect(given.map(Number).sort((a, b) => a - b)).toEqual(positions(log.slice(20)));
  });

  test('a follower that throws is asked where it stands, and is given the rest again from there', async () => {
    const feed = subject.feed();
    const follower = new RecordingFollower(carried);
    const platform = platformIn(feed, 0);
    let failures = 0;
    follower.before = async (partition, events) => {
      const poison = events.findIndex(({ position }) => position === 5);
      if (poison < 0 || failures === 3) return;
      failures += 1;
      carried.events(partition).push(...events.slice(0, poison));
      throw new Error('a fault in carrying');
    };
    const one = await follow(follower, feed);
    await append(platform, platform, platform, platform);
    await eventually(
      async () => one.failure,
      (failure) => failure !== undefined,
      PATIENCE_MS,
    ).catch((error) => {
      if (failures < 3) throw error; // it may be over sooner than it can be seen
    });
    await until(8);
    expect(carried.events(0)).toEqual(await inLog());
    expect(failures).toBe(3);
    expect(follower.calls.filter((call) => call === 'take 0').length).toBeGreaterThanOrEqual(4);
    await eventually(
      async () => one.failure,
      (failure) => failure === undefined,
      PATIENCE_MS,
    );
  });

  test('a follower that is not sure of what it carried is asked where it stands, though nothing new has come', async () => {
    const feed = subject.feed();
    const follower = new RecordingFollower(carried);
    await follow(follower, feed);
    await append(...platforms(20));
    await until(40);
    for (let partition = 0; partition < feed.partitions; partition += 1) {
      carried.events(partition).splice(1);
      follower.unsure.add(partition);
    }
    await until(40);
    expect(carried.all()).toEqual(await inLog());
  });

  test('what another follower holds is asked for until it is free', async () => {
    const feed = subject.feed();
    const outsider = new RecordingFollower(carried);
    for (let partition = 0; partition < feed.partitions; partition += 1) await outsider.take(partition);
    const follower = new RecordingFollower(carried);
    let asked = 0;
    const take = follower.take.bind(follower);
    follower.take = (partition) => {
      asked += 1;
      return take(partition);
    };
    await append(...platforms(10));
    await follow(follower, feed);
    await eventually(
      async () => asked,
      (times) => times > feed.partitions,
      PATIENCE_MS,
    );
    expect(carried.all()).toEqual([]);
    for (let partition = 0; partition < feed.partitions; partition += 1) await outsider.release(partition);
    await until(20);
    expect(carried.all()).toEqual(await inLog());
  });

  test('stopping finishes the batch under way and gives everything back; the next one goes on there', async () => {
    const follower = new RecordingFollower(carried);
    const feed = subject.feed();
    let reached = () => {};
    const underWay = new Promise<void>((resolve) => {
      reached = resolve;
    });
    let finish = () => {};
    const finished = new Promise<void>((resolve) => {
      finish = resolve;
    });
    follower.before = () => {
      reached();
      return finished;
    };
    const one = await follow(follower, feed);
    await append(platformIn(feed, 0));
    await underWay;
    const stopped = one.stop();
    finish();
    await stopped;
    expect(carried.held()).toEqual([]);
    expect(carried.events(0)).toEqual(await inLog());
    await append(...platforms(10));
    await follow(new RecordingFollower(carried));
    await until(22);
    expect(carried.all()).toEqual(await inLog());
  });

  test('two followers carry everything once between them, and one takes over from the other', async () => {
    const [first, second] = [new RecordingFollower(carried), new RecordingFollower(carried)];
    const one = await follow(first);
    await append(...platforms(20));
    await until(40);
    await follow(second);
    const { partitions } = subject.feed();
    if (partitions > 1) {
      await eventually(
        async () => [first.owned().length, second.owned().length],
        ([a, b]) => a === partitions / 2 && b === partitions / 2,
        PATIENCE_MS,
      );
    }
    for (let i = 0; i < 5; i += 1) await append(...platforms(20));
    await until(240);
    await one.stop();
    await append(...platforms(20));
    await until(280);
    expect(carried.all()).toEqual(await inLog());
    expect(second.owned()).toEqual(Array.from({ length: partitions }, (_, partition) => partition));
  });
}
