import { messageOf } from '../../kernel/errors.ts';
import type { EventStore } from '../../kernel/event-store.port.ts';
import {
  type Feed,
  type FeedFollower,
  type FeedPosition,
  type RunningFeed,
  TakenOver,
} from '../../kernel/feed.port.ts';

export interface DirectFeedOptions {
  store: Pick<EventStore, 'readAll' | 'subscribe'>;
  /** Told why it stands still while the log cannot be read. What a follower throws is the follower's to tell. */
  log: (level: 'warn' | 'error', message: string, error?: unknown) => void;
  batchSize?: number;
}

const SAFETY_POLL_MS = 1_000;
/**
 * A batch costs a follower some ten statements, however small it is, and a row that changes twice in it is written once: after one of so
 * many events the next one waits a moment and is larger. Most events first.
 */
const GATHER = [
  { events: 60, ms: 100 },
  { events: 12, ms: 20 },
];
/** How often a partition that another follower holds is asked for. */
const HELD_POLL_MS = 500;
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;

/** The log itself as a feed: one partition, in the order of the log. It works on any event store. */
export class DirectFeed implements Feed {
  readonly partitions = 1;
  private readonly options: DirectFeedOptions;

  constructor(options: DirectFeedOptions) {
    this.options = options;
  }

  partitionOf(): number {
    return 0;
  }

  async follow(follower: FeedFollower): Promise<RunningFeed> {
    const following = new Following(follower, this.options);
    await following.start();
    return following;
  }
}

class Following implements RunningFeed {
  failure: string | undefined;
  private readonly follower: FeedFollower;
  private readonly options: DirectFeedOptions;
  private running = true;
  private loop: Promise<void> | undefined;
  private wake: () => void = () => {};
  private hurry: () => void = () => {};
  private unsubscribe: (() => Promise<void>) | undefined;
  private head = 0;
  private pauseMs = FIRST_PAUSE_MS;

  constructor(follower: FeedFollower, options: DirectFeedOptions) {
    this.follower = follower;
    this.options = options;
  }

  async start(): Promise<void> {
    this.unsubscribe = await this.options.store.subscribe((head) => {
      this.head = Math.max(this.head, head);
      this.wake();
    });
    this.loop = this.run();
  }

  async stop(): Promise<void> {
    this.running = false;
    this.wake();
    this.hurry();
    await this.unsubscribe?.();
    await this.loop;
  }

  private async run(): Promise<void> {
    while (this.running) {
      try {
        const stand = await this.follower.take(0);
        if (stand) await this.carryFrom(stand);
        else {
          this.failure = undefined;
          await this.pause(HELD_POLL_MS);
        }
      } catch (error) {
        if (error instanceof TakenOver) continue;
        this.failure = messageOf(error);
        await this.pause(this.pauseMs);
        this.pauseMs = Math.min(this.pauseMs * 2, LONGEST_PAUSE_MS);
      }
    }
    await this.follower.release(0);
  }

  /** Until it is stopped, or the follower cannot carry, or is not sure of what it has carried. */
  private async carryFrom({ position }: FeedPosition): Promise<void> {
    const { batchSize = 1_000 } = this.options;
    let after = position;
    while (this.running && this.follower.isSure(0)) {
      const { events, upTo } = await this.read(after, batchSize);
      if (events.length > 0) await this.follower.carry(0, { events });
      this.failure = undefined;
      this.pauseMs = FIRST_PAUSE_MS;
      const isAtEnd = events.length === 0 && upTo <= after;
      after = Math.max(upTo, events.at(-1)?.position ?? 0);
      const gather = events.length < batchSize && GATHER.find((busy) => events.length >= busy.events);
      if (gather) await this.pause(gather.ms);
      if (!isAtEnd) continue;
      if (this.head <= after) await this.untilWoken(SAFETY_POLL_MS);
      else this.head = after; // one more look: the head may be told before its events can be read
    }
  }

  private async read(after: number, limit: number) {
    try {
      return await this.options.store.readAll(after, limit);
    } catch (error) {
      this.options.log('error', `the log cannot be read after position ${after}`, error);
      throw error;
    }
  }

  /** Waits until there may be newer events. */
  private untilWoken(ms: number): Promise<void> {
    return this.sleep(ms, (end) => (this.wake = end));
  }

  /** Waits however many events come, unless the feed is stopped. */
  private pause(ms: number): Promise<void> {
    return this.sleep(ms, (end) => (this.hurry = end));
  }

  private sleep(ms: number, early: (end: () => void) => void): Promise<void> {
    if (!this.running) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      early(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }
}
