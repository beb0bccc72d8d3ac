import type { LoggedEvent } from './event-store.port.ts';

/** Where a follower stands in one partition. It is kept by the follower, in the transaction that carries a batch. */
export interface FeedPosition {
  /** Log position of the last event carried; 0: none yet. */
  position: number;
  /** The feed's own mark of that place, as it came with the batch (a Kafka offset); absent: nothing was carried from this feed yet. */
  mark?: string;
}

/** Events of one partition that follow each other, oldest first. */
export interface FeedBatch {
  events: readonly LoggedEvent[];
  mark?: string;
}

/** Why a follower could not carry: another one has the partition now. */
export class TakenOver extends Error {}

/**
 * What reads a feed. Calls for one partition come one after another; those of different partitions may overlap. Being called says
 * nothing about being the only one: a follower keeps others out by its own transaction.
 */
export interface FeedFollower {
  /** A partition is to be followed from here on: answers where it stands, undefined while another follower holds it. */
  take(partition: number): Promise<FeedPosition | undefined>;
  /**
   * Whether all that it said it carried is known to be kept. False after something that can undo a commit which was not waited for, such
   * as a crash of the database: the feed then asks `take` again, though nothing new has come.
   */
  isSure(partition: number): boolean;
  /**
   * Carries a batch whose events all come after where the partition stands. When it throws, the feed asks `take` again before the next;
   * `TakenOver` is no failure.
   */
  carry(partition: number, batch: FeedBatch): Promise<void>;
  /**
   * The partition is no longer this follower's: another one may take it when this resolves. Also called after `take` or `carry` threw,
   * when it may still be held, and for one that never was.
   */
  release(partition: number): Promise<void>;
}

/** How events reach their followers: in the order of the log within a partition, each at least once, none left out. */
export interface Feed {
  /** Fixed for the life of a deployment. */
  readonly partitions: number;
  /** The partition of a platform's events. 0 or above. */
  partitionOf(platform: string): number;
  follow(follower: FeedFollower): Promise<RunningFeed>;
}

export interface RunningFeed {
  /** Why it stands still, for readiness and alarms; undefined while it goes on. */
  readonly failure: string | undefined;
  /** Finishes the batches under way and releases what was taken. */
  stop(): Promise<void>;
}
