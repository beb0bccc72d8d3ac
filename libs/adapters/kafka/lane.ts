import { messageOf } from '../../kernel/errors.ts';
import type { EventStore, LoggedEvent } from '../../kernel/event-store.port.ts';
import { type FeedFollower, type FeedPosition, TakenOver } from '../../kernel/feed.port.ts';
import { eventAt } from '../event-at.ts';
import type { PlacedMessage } from './message.ts';

export interface LaneOptions {
  partition: number;
  follower: FeedFollower;
  store: Pick<EventStore, 'readAll'>;
  /** The partition of an event. */
  partitionOf: (event: LoggedEvent) => number;
  /** Most events carried at once, and read at once where something is missing. */
  batchSize: number;
}

/**
 * What a lane did with messages: `lost` when another follower has taken the partition over, or this one is not sure of what it carried;
 * `refused` when it is not taken or the follower threw. Nothing may be concluded then.
 */
export type Accepted = 'accepted' | 'lost' | 'refused';

/**
 * One partition on its way to the follower, wherever its messages come from and in whatever state: what is older than where the follower
 * stands is dropped, and where something is missing in between it is read from the store. Its calls run one after another.
 */
export class PartitionLane {
  readonly partition: number;
  private readonly options: LaneOptions;
  private standing: FeedPosition | undefined;
  /** The first event that came from the topic since the partition was taken is the one that the store has there. */
  private isOfThisLog = false;
  private queue: Promise<unknown> = Promise.resolve();
  /** Why it stands still; undefined while it goes on. */
  failure: string | undefined;

  constructor(options: LaneOptions) {
    this.options = options;
    this.partition = options.partition;
  }

  /** Where the follower stands, while this lane has the partition. */
  get position(): FeedPosition | undefined {
    return this.standing;
  }

  /** Asks the follower for the partition, unless it has it; undefined while another follower holds it. */
  take(): Promise<FeedPosition | undefined> {
    return this.alone(async () => {
      try {
        if (!this.standing) this.isOfThisLog = false;
        this.standing ??= await this.options.follower.take(this.partition);
        if (!this.standing) this.failure = undefined; // that is the other follower's to go on
        return this.standing;
      } catch (error) {
        this.failure = messageOf(error);
        throw error;
      }
    });
  }

  /** Gives the partition back after what is under way, whether or not it stands: a follower that threw may still hold it. */
  release(): Promise<void> {
    return this.alone(async () => {
      this.failure = undefined;
      this.standing = undefined;
      await this.options.follower.release(this.partition);
    });
  }

  /** Carries what is new in these messages, oldest first. `alive` is called between batches and may throw: what was carried stays so. */
  accept(messages: readonly PlacedMessage[], alive: () => Promise<void> = async () => {}): Promise<Accepted> {
    return this.alone(async () => {
      if (!this.standing) return 'refused';
      if (!this.options.follower.isSure(this.partition)) {
        this.standing = undefined;
        return 'lost';
      }
      try {
        for (const step of this.steps(messages)) {
          await (step.missingUpTo === undefined
            ? this.carryOwn(step.events, step.mark)
            : this.fill(step.missingUpTo, step.mark, alive));
          await alive().catch((error: unknown) => {
            throw new NotAlive(error);
          });
        }
        this.failure = undefined;
        return 'accepted';
      } catch (error) {
        if (error instanceof NotAlive) throw error.cause;
        this.standing = undefined; // the follower says anew where it stands
        const isLost = error instanceof TakenOver;
        this.failure = isLost ? undefined : messageOf(error);
        return isLost ? 'lost' : 'refused';
      }
    });
  }

  /** What is to be done, in order. Made as it is asked for, since each step moves where the partition stands. */
  private *steps(messages: readonly PlacedMessage[]): Generator<Step> {
    let events: LoggedEvent[] = [];
    let mark = '';
    for (const { offset, message } of messages) {
      const { event, previous, position } = message;
      const reached = events.at(-1)?.position ?? this.standing!.position;
      const needed = event ? previous : position;
      if (needed > reached) {
        if (events.length > 0) yield { events, mark };
        events = [];
        yield { events, mark: offset, missingUpTo: needed };
      }
      if (event && position > (events.at(-1)?.position ?? this.standing!.position)) {
        const { partition } = this;
        const belongs = this.options.partitionOf(event);
        if (belongs !== partition)
          throw new Error(`position ${position} is in partition ${partition}, not in ${belongs}`);
        events.push(event);
      }
      mark = after(offset);
      if (events.length >= this.options.batchSize) {
        yield { events, mark };
        events = [];
      }
    }
    if (events.length > 0) yield { events, mark };
  }

  /** Reads from the store what Kafka does not have. */
  private async fill(upTo: number, mark: string, alive: () => Promise<void>): Promise<void> {
    const { store, batchSize, partitionOf } = this.options;
    let read = this.standing!.position;
    while (read < upTo) {
      const { events, upTo: readUpTo } = await store.readAll(read, batchSize);
      if (readUpTo <= read) throw new Error(`the store ends at ${readUpTo}, the feed says that it reaches ${upTo}`);
      read = readUpTo;
      const ours = events.filter((event) => event.position <= upTo && partitionOf(event) === this.partition);
      if (ours.length > 0) await this.carry(ours, mark);
      await alive().catch((error: unknown) => {
        throw new NotAlive(error);
      });
    }
    if (this.standing!.position < upTo) {
      throw new Error(`position ${upTo} of the feed is not an event of partition ${this.partition} in this store`);
    }
  }

  /**
   * The store may have gone back in time, to a copy that lacks its last events: those are in the topic still, and others have, or will
   * have, their positions. A follower goes back with the store and takes the partition anew, so it is then that this is looked at.
   */
  private async carryOwn(events: readonly LoggedEvent[], mark: string): Promise<void> {
    if (!this.isOfThisLog) {
      const { position, id } = events[0]!;
      const known = await eventAt(this.options.store, position);
      if (known?.id !== id)
        throw new Error(`position ${position} of the feed is another event than the store has there, if it has one`);
      this.isOfThisLog = true;
    }
    await this.carry(events, mark);
  }

  private async carry(events: readonly LoggedEvent[], mark: string): Promise<void> {
    await this.options.follower.carry(this.partition, { events, mark });
    this.standing = { position: events.at(-1)!.position, mark };
  }

  private alone<T>(work: () => Promise<T>): Promise<T> {
    const done = this.queue.then(work);
    this.queue = done.catch(() => {});
    return done;
  }
}

interface Step {
  events: LoggedEvent[];
  /** The offset to go on from when this step is done. */
  mark: string;
  /** Instead of `events`: what the store has up to this position. */
  missingUpTo?: number;
}

/** It is not the follower that failed. */
class NotAlive extends Error {
  constructor(cause: unknown) {
    super('the consumer is not a member of its group any more', { cause });
  }
}

const after = (offset: string): string => (BigInt(offset) + 1n).toString();
