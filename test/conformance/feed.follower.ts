import type { LoggedEvent } from '../../libs/kernel/event-store.port.ts';
import type { FeedBatch, FeedFollower, FeedPosition } from '../../libs/kernel/feed.port.ts';

/** What followers of one feed have carried: stands for the database that they share. */
export class Carried {
  private readonly partitions = new Map<number, { events: LoggedEvent[]; mark?: string; owner?: RecordingFollower }>();

  of(partition: number) {
    let one = this.partitions.get(partition);
    if (!one) {
      one = { events: [] };
      this.partitions.set(partition, one);
    }
    return one;
  }

  /** Per partition, in the order in which they were carried. */
  events(partition: number): LoggedEvent[] {
    return this.of(partition).events;
  }

  /** All of them, by position. */
  all(): LoggedEvent[] {
    return [...this.partitions.values()].flatMap(({ events }) => events).sort((a, b) => a.position - b.position);
  }

  /** The partitions that are held by somebody. */
  held(): number[] {
    return [...this.partitions].flatMap(([partition, { owner }]) => (owner ? [partition] : [])).sort((a, b) => a - b);
  }
}

/** A follower that keeps what it is given, and fails and waits as a test wants it to. */
export class RecordingFollower implements FeedFollower {
  private readonly carried: Carried;
  /** `take 0`, `carry 0 <positions>`, `release 0`. */
  readonly calls: string[] = [];
  /** Partitions of which it is not sure any more; it is again when it is asked where it stands. */
  readonly unsure = new Set<number>();
  /** Called before a batch is kept; what it throws is thrown. */
  before: (partition: number, events: readonly LoggedEvent[]) => Promise<void> | void = () => {};

  constructor(carried: Carried) {
    this.carried = carried;
  }

  async take(partition: number): Promise<FeedPosition | undefined> {
    const one = this.carried.of(partition);
    if (one.owner && one.owner !== this) return undefined;
    this.calls.push(`take ${partition}`);
    this.unsure.delete(partition);
    one.owner = this;
    return { position: one.events.at(-1)?.position ?? 0, ...(one.mark !== undefined && { mark: one.mark }) };
  }

  isSure(partition: number): boolean {
    return !this.unsure.has(partition);
  }

  async carry(partition: number, { events, mark }: FeedBatch): Promise<void> {
    await this.before(partition, events);
    const one = this.carried.of(partition);
    if (one.owner !== this) throw new Error(`partition ${partition} is another one's`);
    this.calls.push(`carry ${partition} ${events.map(({ position }) => position).join(' ')}`);
    one.events.push(...events);
    if (mark !== undefined) one.mark = mark;
  }

  async release(partition: number): Promise<void> {
    this.calls.push(`release ${partition}`);
    const one = this.carried.of(partition);
    if (one.owner === this) one.owner = undefined;
  }

  /** The partitions that are this follower's. */
  owned(): number[] {
    return this.carried.held().filter((partition) => this.carried.of(partition).owner === this);
  }
}
