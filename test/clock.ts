import type { Clock } from '../libs/kernel/clock.ts';

/** A clock that runs like the real one and can be moved forward. */
export class TestClock implements Clock {
  private offsetMs = 0;

  nowMs(): number {
    return Date.now() + this.offsetMs;
  }

  advance(ms: number): void {
    this.offsetMs += ms;
  }
}
