/** How much is done at a time, and how much may wait for it: of everybody's and of each platform's work. */
export interface ShareLimits {
  doing: { all: number; each: number };
  waiting: { all: number; each: number };
}

const LIMITS: ShareLimits = { doing: { all: 500, each: 64 }, waiting: { all: 10_000, each: 1_000 } };

/**
 * Does the work of platforms: of each no more than its share at a time, and theirs in turn, so that work which takes long holds up its own
 * platform only. Memory is bounded: what finds no room is not to be given, but to be found again later.
 */
export class Shares {
  private readonly relieved: () => void;
  private readonly limits: ShareLimits;
  /** What waits, by platform; the one whose turn is next stands first. */
  private readonly queues = new Map<string, (() => void)[]>();
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

  /** Does the work when its turn has come; settled when that is over, or when `leaving` is raised before. */
  run(platform: string, leaving: AbortSignal, work: () => Promise<void>): Promise<void> {
    return new Promise((resolve) => {
      const left = () => resolve();
      leaving.addEventListener('abort', left);
      const queue = this.queues.get(platform) ?? [];
      this.queues.set(platform, queue);
      this.waitingInAll += 1;
      queue.push(() => {
        leaving.removeEventListener('abort', left);
        resolve(work().finally(() => this.finished(platform)));
      });
      this.begin();
    });
  }

  private begin(): void {
    const { doing, waiting } = this.limits;
    for (const [platform, queue] of this.queues) {
      if (this.doingInAll >= doing.all) return;
      const busy = this.doing.get(platform) ?? 0;
      if (busy >= doing.each) continue;
      const work = queue.shift()!;
      this.queues.delete(platform);
      if (queue.length > 0) this.queues.set(platform, queue);
      this.doing.set(platform, busy + 1);
      this.doingInAll += 1;
      this.waitingInAll -= 1;
      work();
      if (queue.length === half(waiting.each) || this.waitingInAll === half(waiting.all)) this.relieved();
    }
  }

  private finished(platform: string): void {
    const left = this.doing.get(platform)! - 1;
    if (left === 0) this.doing.delete(platform);
    else this.doing.set(platform, left);
    this.doingInAll -= 1;
    this.begin();
  }

  private waitingOf(platform: string): number {
    return this.queues.get(platform)?.length ?? 0;
  }
}

const half = (count: number): number => Math.floor(count / 2);
