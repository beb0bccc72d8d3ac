import { setTimeout as pauseFor } from 'node:timers/promises';

/** How much is done at a time, and how much may wait for it: of everybody's and of each platform's work. */
export interface ShareLimits {
  doing: { all: number; each: number };
  waiting: { all: number; each: number };
}

const LIMITS: ShareLimits = { doing: { all: 500, each: 64 }, waiting: { all: 10_000, each: 1_000 } };

/** One attempt at a piece of work. Answers after how many milliseconds it is to be tried again; nothing when it is over. */
export type Attempt = () => Promise<number | undefined>;

/**
 * Does the work of platforms: of each no more than its share at a time, and theirs in turn, so that work which takes long holds up its own
 * platform only. What is to be tried again waits outside, so that it holds up nobody, and then for its turn. Memory is bounded: what
 * finds no room is not to be given, but to be found again later.
 */
export class Shares {
  private readonly relieved: () => void;
  private readonly limits: ShareLimits;
  /** What waits, by platform; the one whose turn is next stands first. */
  private readonly queues = new Map<string, (() => void)[]>();
  /** How much waits of each platform: for its turn, or to be tried again. */
  private readonly waiting = new Map<string, number>();
  private readonly doing = new Map<string, number>();
  private doingInAll = 0;
  private waitingInAll = 0;

  /** `relieved`: called when there is room again for what found none. */
  constructor(relieved: () => void, limits: ShareLimits = LIMITS) {
    this.relieved = relieved;
    this.limits = limits;
  }

  /** One more piece of work of the platform may be given. */
  hasRoom(platform: string): boolean {
    const { all, each } = this.limits.waiting;
    return this.waitingInAll < all && this.waitingOf(platform) < each;
  }

  /** There is room enough that looking for work which found none is worth it. */
  isRelieved(platform: string): boolean {
    const { all, each } = this.limits.waiting;
    return this.waitingInAll <= half(all) && this.waitingOf(platform) <= half(each);
  }

  /** Does the work when its turn has come; settled when that is over, or when `leaving` is raised before or between its attempts. */
  async run(platform: string, leaving: AbortSignal, attempt: Attempt): Promise<void> {
    for (;;) {
      const pauseMs = await this.turn(platform, leaving, attempt);
      if (pauseMs === undefined || leaving.aborted) return;
      this.waits(platform, 1);
      await pauseFor(pauseMs, undefined, { signal: leaving, ref: false }).catch(() => {}); // raised: looked at below
      this.waits(platform, -1);
      if (leaving.aborted) return;
    }
  }

  private turn(platform: string, leaving: AbortSignal, attempt: Attempt): Promise<number | undefined> {
    return new Promise((resolve) => {
      const left = () => resolve(undefined);
      leaving.addEventListener('abort', left);
      const queue = this.queues.get(platform) ?? [];
      this.queues.set(platform, queue);
      this.waits(platform, 1);
      queue.push(() => {
        leaving.removeEventListener('abort', left);
        resolve(attempt().finally(() => this.finished(platform)));
      });
      this.begin();
    });
  }

  private begin(): void {
    const { doing } = this.limits;
    for (const [platform, queue] of this.queues) {
      if (this.doingInAll >= doing.all) return;
      const busy = this.doing.get(platform) ?? 0;
      if (busy >= doing.each) continue;
      const work = queue.shift()!;
      this.queues.delete(platform);
      if (queue.length > 0) this.queues.set(platform, queue);
      this.doing.set(platform, busy + 1);
      this.doingInAll += 1;
      this.waits(platform, -1);
      work();
    }
  }

  private finished(platform: string): void {
    const left = this.doing.get(platform)! - 1;
    if (left === 0) this.doing.delete(platform);
    else this.doing.set(platform, left);
    this.doingInAll -= 1;
    this.begin();
  }

  private waits(platform: string, by: 1 | -1): void {
    const { waiting } = this.limits;
    const left = this.waitingOf(platform) + by;
    if (left === 0) this.waiting.delete(platform);
    else this.waiting.set(platform, left);
    this.waitingInAll += by;
    if (by < 0 && (left === half(waiting.each) || this.waitingInAll === half(waiting.all))) this.relieved();
  }

  private waitingOf(platform: string): number {
    return this.waiting.get(platform) ?? 0;
  }
}

const half = (count: number): number => Math.floor(count / 2);
