import { beforeEach, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Carried, RecordingFollower } from '../../../test/conformance/feed.follower.ts';
import type { LoggedEvent } from '../../kernel/event-store.port.ts';
import { TakenOver } from '../../kernel/feed.port.ts';
import { MemoryEventStore } from '../memory/event-store.ts';
import { PartitionLane } from './lane.ts';
import { encodeMessage, type FeedMessage, type PlacedMessage } from './message.ts';

const PARTITIONS = 3;
/** Positions 1, 4, 7, … are of partition 1. */
const partitionOf = ({ position }: { position: number }) => position % PARTITIONS;

let store: MemoryEventStore;
let carried: Carried;
let follower: RecordingFollower;
let lane: PartitionLane;
let log: LoggedEvent[];
beforeEach(async () => {
  store = new MemoryEventStore();
  carried = new Carried();
  follower = new RecordingFollower(carried);
  lane = new PartitionLane({ partition: 1, follower, store, partitionOf, batchSize: 4 });
  await store.append(
    Array.from({ length: 30 }, (_, i) => ({
      stream: `thing-${i}`,
      expectedRevision: -1,
      events: [{ id: `e-${i}`, type: 'Happened', payload: '{}', metadata: '{}' }],
      answers: [],
    })),
  );
  log = (await store.readAll(0, 100)).events;
});

/** The relay's message for each event of partition 1, in its order: 1, 4, 7, … 28. */
const sent = (): FeedMessage[] =>
  log
    .filter((event) => partitionOf(event) === 1)
    .map((event) => ({ position: event.position, previous: Math.max(event.position - PARTITIONS, 0), event }));
const placed = (messages: readonly FeedMessage[], from = 0): PlacedMessage[] =>
  messages.map((message, i) => ({ offset: String(from + i), message }));
const all = [1, 4, 7, 10, 13, 16, 19, 22, 25, 28];
const positions = () => carried.events(1).map(({ position }) => position);

test('carries in batches, each with the offset to go on from', async () => {
  await lane.take();
  expect(await lane.accept(placed(sent(), 40))).toBe('accepted');
  expect(follower.calls).toEqual(['take 1', 'carry 1 1 4 7 10', 'carry 1 13 16 19 22', 'carry 1 25 28']);
  expect(lane.position).toEqual({ position: 28, mark: '50' });
  expect(carried.of(1).mark).toBe('50');
});

test('a follower that is not sure of what it carried is asked where it stands, even for messages that are old', async () => {
  await lane.take();
  await lane.accept(placed(sent()));
  carried.events(1).splice(3);
  follower.unsure.add(1);
  expect(await lane.accept(placed([{ position: 28, previous: 28 }], 10))).toBe('lost');
  expect([await lane.take(), lane.failure]).toEqual([{ position: 7, mark: '10' }, undefined]);
  expect(await lane.accept(placed([{ position: 28, previous: 28 }], 10))).toBe('accepted');
  expect(positions()).toEqual(all);
});

test('refuses while it has not taken the partition, or has given it back', async () => {
  expect(await lane.accept(placed(sent()))).toBe('refused');
  await lane.take();
  await lane.release();
  expect(await lane.accept(placed(sent()))).toBe('refused');
  expect(follower.calls).toEqual(['take 1', 'release 1']);
});

test('drops what it has seen: duplicates, rewound offsets, an old leader', async () => {
  await lane.take();
  const [one, two, three, four] = sent() as [FeedMessage, FeedMessage, FeedMessage, FeedMessage];
  await lane.accept(placed([one, one, two, one, two]));
  await lane.accept(placed([one, two, three, three]));
  await lane.accept(placed([two, three, four], 90));
  expect(follower.calls.slice(1)).toEqual(['carry 1 1 4', 'carry 1 7', 'carry 1 10']);
});

test('reads what is missing from the store, and only its own partition’s', async () => {
  await lane.take();
  const messages = sent();
  await lane.accept(placed([messages[0]!, messages[4]!], 7));
  expect(positions()).toEqual([1, 4, 7, 10, 13]);
  expect(lane.position).toEqual({ position: 13, mark: '9' });
});

test('what is read from the store instead of the topic leaves the offset at the message that told of it', async () => {
  await lane.take();
  follower.before = (_, events) => {
    if (events.some(({ position }) => position === 13)) throw new Error('a fault in carrying');
  };
  expect(await lane.accept(placed([sent()[4]!], 7))).toBe('refused');
  expect(positions()).toEqual([1, 4, 7, 10]);
  expect(carried.of(1).mark).toBe('7');
});

test('a mark tells that something is missing, and one that is not newer tells nothing', async () => {
  await lane.take();
  await lane.accept(placed([{ position: 7, previous: 7 }], 3));
  expect(positions()).toEqual([1, 4, 7]);
  await lane.accept(placed([{ position: 4, previous: 4 }], 4));
  await lane.accept(placed([{ position: 0, previous: 0 }], 5));
  expect(follower.calls).toEqual(['take 1', 'carry 1 1 4', 'carry 1 7']);
});

test('stops at a message whose past the store does not have, and at one of another partition', async () => {
  await lane.take();
  expect(await lane.accept(placed([{ position: 34, previous: 34 }]))).toBe('refused');
  expect(lane.failure).toBe('the store ends at 30, the feed says that it reaches 34');
  await lane.take();
  expect(await lane.accept(placed([{ position: 29, previous: 29 }]))).toBe('refused');
  expect(lane.failure).toBe('position 29 of the feed is not an event of partition 1 in this store');
  await lane.take();
  expect(await lane.accept(placed([{ position: 30, previous: 28, event: log[29]! }]))).toBe('refused');
  expect(lane.failure).toBe('position 30 is in partition 1, not in 0');
  expect(positions()).toEqual(all);
  await lane.take();
  expect(await lane.accept(placed([{ position: 28, previous: 28 }]))).toBe('accepted');
  expect(lane.failure).toBeUndefined();
});

test('an event that the store does not have, or has another one for, is not carried: the store has lost its end since it was sent', async () => {
  carried.events(1).push(...log.filter((event) => partitionOf(event) === 1).slice(0, 9));
  const lost = { ...log[27]!, id: 'e-lost' };
  const last = sent()[9]!;
  const beyond = { ...last, position: 31, previous: 28, event: { ...lost, position: 31 } };
  for (const [message, position] of [
    [{ ...last, event: lost }, 28],
    [{ ...beyond, previous: 25 }, 31],
  ] as const) {
    await lane.take();
    expect(await lane.accept(placed([sent()[8]!, message, last]))).toBe('refused');
    expect(lane.failure).toBe(
      `position ${position} of the feed is another event than the store has there, if it has one`,
    );
  }
  expect(positions()).toEqual(all.slice(0, 9));
  await lane.take();
  expect(await lane.accept(placed([last]))).toBe('accepted');
  expect(positions()).toEqual(all);
});

test('when the follower throws it is asked anew where it stands', async () => {
  await lane.take();
  follower.before = () => {
    throw new Error('a fault in carrying');
  };
  expect(await lane.accept(placed(sent()))).toBe('refused');
  expect([lane.failure, lane.position]).toEqual(['a fault in carrying', undefined]);
  follower.before = () => {};
  carried.events(1).push(log[0]!); // as far as it came
  expect(await lane.take()).toEqual({ position: 1 });
  expect(await lane.accept(placed(sent()))).toBe('accepted');
  expect(positions()).toEqual(all);
});

test('a follower that threw and has not been asked anew gives the partition back as well', async () => {
  await lane.take();
  follower.before = () => {
    throw new Error('a fault in carrying');
  };
  expect(await lane.accept(placed(sent()))).toBe('refused');
  await lane.release();
  expect([carried.held(), lane.position, lane.failure]).toEqual([[], undefined, undefined]);
});

test('when another follower has taken over, that is no failure', async () => {
  await lane.take();
  follower.before = () => {
    throw new TakenOver();
  };
  expect(await lane.accept(placed(sent()))).toBe('lost');
  expect([lane.failure, lane.position]).toEqual([undefined, undefined]);
});

test('what it stood still at is no failure of its own any more when another follower holds the partition', async () => {
  await lane.take();
  follower.before = () => {
    throw new Error('a fault in carrying');
  };
  expect([await lane.accept(placed(sent())), lane.failure]).toEqual(['refused', 'a fault in carrying']);
  carried.of(1).owner = new RecordingFollower(carried);
  expect([await lane.take(), lane.failure]).toEqual([undefined, undefined]);
});

test('when the consumer is out of its group, what was carried stays and the rest is left', async () => {
  await lane.take();
  let beats = 0;
  const alive = async () => {
    beats += 1;
    if (beats === 2) throw new Error('rebalancing');
  };
  await expect(lane.accept(placed(sent()), alive)).rejects.toThrow('rebalancing');
  expect(positions()).toEqual(all.slice(0, 8));
  expect(lane.failure).toBeUndefined();
  expect(await lane.accept(placed(sent()), async () => {})).toBe('accepted');
  expect(positions()).toEqual(all);
});

test('whatever order, loss and repetition Kafka comes up with, everything is carried once and in order', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(fc.nat({ max: 9 }), { maxLength: 12 }), { maxLength: 6 }),
      fc.array(fc.boolean(), { maxLength: 6 }),
      async (deliveries, releases) => {
        carried = new Carried();
        follower = new RecordingFollower(carried);
        lane = new PartitionLane({ partition: 1, follower, store, partitionOf, batchSize: 3 });
        const messages = sent();
        for (const [i, delivery] of deliveries.entries()) {
          if (releases[i]) await lane.release();
          await lane.take();
          await lane.accept(placed(delivery.map((n) => messages[n]!)));
          const reached = Math.max(
            0,
            ...deliveries.slice(0, i + 1).map((one) => Math.max(0, ...one.map((n) => n + 1))),
          );
          expect(positions()).toEqual(all.slice(0, reached));
        }
      },
    ),
    { numRuns: 200 },
  );
});

test('a relay’s text is what the lane is given', () => {
  expect(encodeMessage(sent()[1]!)).toContain('"position":4,"previous":1,');
});
