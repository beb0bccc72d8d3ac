import { LRUCache } from 'lru-cache';
import type { Clock } from '../kernel/clock.ts';
import type { Tenant } from '../kernel/messages.ts';

/** What is known of a platform's clock. */
interface Heard {
  aheadMs: number;
  /** Its stream was looked into: what is here is not only what some event told. */
  isKnown: boolean;
}

const KNOWN = 100_000;

/**
 * The clocks of the platforms: each one is wall time, and in the sandbox as far ahead of it as the platform has moved it. The one place
 * where wall time becomes a platform's time. A clock is only ever moved forward, so of two things that were heard of it the greater one
 * is right, in whatever order they come: from the platform's own stream, from events that were read, from timers.
 */
export class PlatformClock implements Clock {
  private readonly wall: Clock;
  private readonly load: (tenant: Tenant) => Promise<number>;
  private readonly heard = new LRUCache<string, Heard>({ max: KNOWN });

  /** `load`: how far a sandbox platform has moved its clock, in milliseconds, as its stream says. */
  constructor(wall: Clock, load: (tenant: Tenant) => Promise<number>) {
    this.wall = wall;
    this.load = load;
  }

  nowMs(tenant?: Tenant): number {
    return this.wall.nowMs() + (tenant ? this.aheadMs(tenant) : 0);
  }

  /** How far the platform's clock is ahead of wall time, in milliseconds, as far as it is known here. */
  aheadMs({ platform, environment }: Tenant): number {
    return environment === 'sandbox' ? (this.heard.get(platform)?.aheadMs ?? 0) : 0;
  }

  /** To be waited for before a platform's time is asked for the first time; undefined when its clock is known. */
  know(tenant: Tenant): Promise<void> | undefined {
    return this.isKnown(tenant) ? undefined : this.refresh(tenant);
  }

  isKnown({ platform, environment }: Tenant): boolean {
    return environment !== 'sandbox' || this.heard.get(platform)?.isKnown === true;
  }

  /** Looks into the platform's stream. */
  async refresh(tenant: Tenant): Promise<void> {
    this.learn(tenant, await this.load(tenant));
    const heard = this.heard.get(tenant.platform);
    if (heard) heard.isKnown = true;
  }

  /** Notes that a platform's clock is ahead by so many milliseconds at least. */
  learn({ platform, environment }: Tenant, aheadMs: number): void {
    if (environment !== 'sandbox') return;
    const heard = this.heard.get(platform);
    if (heard) heard.aheadMs = Math.max(heard.aheadMs, aheadMs);
    else this.heard.set(platform, { aheadMs, isKnown: false });
  }
}
