import { messageOf } from '../../kernel/errors.ts';
import type { EventStore } from '../../kernel/event-store.port.ts';
import type { Feed, FeedFollower, RunningFeed } from '../../kernel/feed.port.ts';
import { type GroupConsumer, type KafkaConnection, type KafkaTopic, openGroupConsumer } from './kafka.ts';
import { PartitionLane } from './lane.ts';
import type { PlacedMessage } from './message.ts';
import { partitioner, platformOf } from './partition.ts';

export interface KafkaFeedOptions extends KafkaTopic {
  connection: KafkaConnection;
  /** What Kafka lost, or never had, is read from here. */
  store: Pick<EventStore, 'readAll'>;
  log: (level: 'info' | 'warn' | 'error', message: string, error?: unknown) => void;
  /** Those who follow together, each a part of the partitions; `<topic>.projector` when it is not given. */
  group?: string;
  /** Most events of a batch. */
  batchSize?: number;
  /** Partitions carried at the same time. */
  concurrency?: number;
  /** A follower that is silent for so long loses its partitions to the others. */
  sessionMs?: number;
  /** A relay says something in every partition every few seconds: after such a silence the consumer is made anew. */
  silenceMs?: number;
  /** Before a partition that could not be taken is asked for again. */
  retryMs?: number;
}

const MAX_PAUSE_MS = 5_000;
const CHECK_MS = 500;
const CLOSE_MS = 15_000;

/**
 * The log as a relay brought it into a Kafka topic, a platform's events in one partition. Order, completeness and "once" rest on
 * positions alone: a message older than where the follower stands is dropped, and what is missing before one is read from the store. So
 * whatever Kafka or its client does, give an offset anew, forget a topic, move partitions, costs time and changes nothing.
 */
export class KafkaFeed implements Feed {
  readonly partitions: number;
  readonly partitionOf: (platform: string) => number;
  private readonly options: KafkaFeedOptions;

  constructor(options: KafkaFeedOptions) {
    this.options = options;
    this.partitions = options.partitions;
    this.partitionOf = partitioner(options.partitions);
  }

  async follow(follower: FeedFollower): Promise<RunningFeed> {
    const following = new Following(this.options, follower, this.partitionOf);
    following.start();
    return following;
  }
}

/** One follower's way through the topic: makes a consumer, watches over it, and makes another one when it ends or falls silent. */
class Following implements RunningFeed {
  private readonly options: Required<KafkaFeedOptions>;
  private readonly lanes: PartitionLane[];
  private readonly stopping = new AbortController();
  private loop: Promise<void> | undefined;
  private trouble: string | undefined;

  constructor(options: KafkaFeedOptions, follower: FeedFollower, partitionOf: (platform: string) => number) {
    const defaults = { group: `${options.topic}.projector`, batchSize: 1_000, concurrency: 4, sessionMs: 10_000 };
    this.options = { ...defaults, silenceMs: 60_000, retryMs: 1_000, ...options };
    const { store, batchSize } = this.options;
    this.lanes = Array.from({ length: options.partitions }, (_, partition) => {
      return new PartitionLane({
        partition,
        follower,
        store,
        batchSize,
        partitionOf: (event) => partitionOf(platformOf(event)),
      });
    });
  }

  get failure(): string | undefined {
    return this.trouble ?? this.lanes.find(({ failure }) => failure !== undefined)?.failure;
  }

  start(): void {
    this.loop = this.run();
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    await this.loop;
  }

  private async run(): Promise<void> {
    const { signal } = this.stopping;
    let pause = 0;
    while (!signal.aborted) {
      const session = new Session(this.options, this.lanes, signal, () => {
        this.trouble = undefined;
        pause = 0;
      });
      try {
        await session.run();
      } catch (error) {
        this.trouble = `Kafka: ${messageOf(error)}`;
        this.options.log('error', 'the feed is taken up anew', error);
      }
      await Promise.all(this.lanes.map((lane) => this.release(lane)));
      pause = Math.min(Math.max(pause * 2, 250), MAX_PAUSE_MS);
      await sleep(pause, signal);
    }
  }

  private async release(lane: PartitionLane): Promise<void> {
    await lane.release().catch((error: unknown) => {
      this.options.log('warn', `partition ${lane.partition} was not given back`, error);
    });
  }
}

/** The life of one consumer. */
class Session {
  private readonly options: Required<KafkaFeedOptions>;
  private readonly lanes: readonly PartitionLane[];
  private readonly stopping: AbortSignal;
  private readonly advanced: () => void;
  /** Raised when this consumer's life is over, with the reason when it was not meant to be. */
  private readonly over = new AbortController();
  private consumer: GroupConsumer | undefined;
  /** Counts what the group has agreed on: what belongs to an earlier agreement is given up. */
  private generation = 0;
  private fetchedAt = performance.now();
  private busy = 0;
  /** Per partition of its own, when something came from it last, or when somebody else was last seen to hold it. */
  private readonly heardAt = new Map<number, number>();
  private readonly failures = new Map<number, number>();

  constructor(
    options: Required<KafkaFeedOptions>,
    lanes: readonly PartitionLane[],
    stopping: AbortSignal,
    advanced: () => void,
  ) {
    this.options = options;
    this.lanes = lanes;
    this.stopping = stopping;
    this.advanced = advanced;
  }

  /** Until it is stopped; throws when the consumer ends before that. */
  async run(): Promise<void> {
    if (this.stopping.aborted) return;
    const stop = () => this.over.abort();
    this.stopping.addEventListener('abort', stop);
    const ended = new Promise<void>((resolve) => this.over.signal.addEventListener('abort', () => resolve()));
    const watch = setInterval(() => this.watch(), CHECK_MS);
    const opening = this.open();
    try {
      await Promise.race([opening, ended]);
      await ended;
      if (!this.stopping.aborted) throw this.over.signal.reason;
    } finally {
      stop();
      clearInterval(watch);
      this.stopping.removeEventListener('abort', stop);
      const closing = opening.then(
        (consumer) => consumer.close(),
        () => {}, // thrown above, or of no interest any more
      );
      const patience = new AbortController();
      await Promise.race([closing, sleep(CLOSE_MS, patience.signal)]);
      patience.abort();
    }
  }

  private open(): Promise<GroupConsumer> {
    const { connection, topic, partitions, group, sessionMs, concurrency, log } = this.options;
    return openGroupConsumer(
      connection,
      { topic, partitions },
      { group, sessionMs, concurrency },
      {
        joined: (mine, consumer) => this.joined(mine, consumer),
        received: (partition, messages, alive) => this.received(partition, messages, alive),
        fetched: () => {
          this.fetchedAt = performance.now();
        },
        crashed: (error) => this.over.abort(error),
        unreadable: (partition, offset) =>
          log('warn', `passed over a message that no relay wrote: partition ${partition}, offset ${offset}`),
      },
    );
  }

  private joined(mine: readonly number[], consumer: GroupConsumer): void {
    if (this.over.signal.aborted) return; // the partitions may be the next consumer's already
    this.consumer = consumer;
    this.generation += 1;
    this.heardAt.clear();
    for (const lane of this.lanes) {
      if (mine.includes(lane.partition)) {
        this.heard(lane.partition);
        void this.begin(lane, this.generation, 0);
      } else {
        lane.release().catch((error: unknown) => {
          this.options.log('warn', `partition ${lane.partition} was not given back`, error);
        });
      }
    }
  }

  /** Takes a partition and reads on where its follower stands; again and again while that fails or another follower has it. */
  private async begin(lane: PartitionLane, generation: number, delayMs: number): Promise<void> {
    await sleep(delayMs, this.over.signal);
    while (!this.over.signal.aborted && generation === this.generation) {
      try {
        const standing = await lane.take();
        if (standing && this.consumer && generation === this.generation) {
          await this.consumer.readFrom(lane.partition, standing.mark);
          this.heard(lane.partition);
          return;
        }
        if (!standing && generation === this.generation) this.heard(lane.partition);
      } catch (error) {
        this.options.log('warn', `partition ${lane.partition} could not be taken up`, error);
      }
      await sleep(this.options.retryMs, this.over.signal);
    }
  }

  private async received(
    partition: number,
    messages: readonly PlacedMessage[],
    alive: () => Promise<void>,
  ): Promise<boolean> {
    const lane = this.lanes[partition];
    if (!lane || this.over.signal.aborted) return false;
    const { generation } = this;
    this.busy += 1;
    try {
      const outcome = await lane.accept(messages, async () => {
        this.over.signal.throwIfAborted();
        await alive();
      });
      if (outcome === 'accepted') {
        this.heard(partition);
        this.failures.delete(partition);
        this.advanced();
        return true;
      }
      if (outcome === 'lost' || lane.failure !== undefined) this.failed(lane, generation);
      return false;
    } catch (error) {
      if (this.over.signal.aborted) return false; // what was carried stays; the rest is the next one's
      throw error;
    } finally {
      this.busy -= 1;
    }
  }

  /** The follower threw, or another one has the partition: the others go on, this one is taken anew after a while. */
  private failed(lane: PartitionLane, generation: number): void {
    const { log, retryMs } = this.options;
    if (this.over.signal.aborted || generation !== this.generation) return;
    if (lane.failure !== undefined) log('error', `partition ${lane.partition} stands still: ${lane.failure}`);
    this.consumer?.hold(lane.partition);
    this.heard(lane.partition);
    const failures = (this.failures.get(lane.partition) ?? 0) + 1;
    this.failures.set(lane.partition, failures);
    void this.begin(lane, generation, Math.min(retryMs * 2 ** (failures - 1), MAX_PAUSE_MS));
  }

  private heard(partition: number): void {
    this.heardAt.set(partition, performance.now());
  }

  /** A consumer that does nothing without saying why is given up. */
  private watch(): void {
    const { silenceMs } = this.options;
    const now = performance.now();
    const seconds = silenceMs / 1_000;
    if (this.busy > 0) this.fetchedAt = now;
    if (now - this.fetchedAt > silenceMs) {
      this.over.abort(new Error(`no broker was asked for anything for ${seconds} s`));
      return;
    }
    for (const [partition, at] of this.heardAt) {
      if (now - at > silenceMs && this.busy === 0) {
        this.over.abort(new Error(`nothing came from the relay in partition ${partition} for ${seconds} s`));
        return;
      }
    }
  }
}

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  if (ms <= 0 || signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener('abort', end);
  });
}
