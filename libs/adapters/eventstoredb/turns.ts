/** Appends in a row after which a stream is left to others for a moment; fewer where there are others. */
const RUN = 8;
const RUN_AMONG_OTHERS = 1;
/** How long after a lost race a stream counts as written by others too. */
const SHARED_MS = 2_000;
/** Appends closer to each other than this leave no gap for anybody else. */
const CLOSE_MS = 50;
/** In round trips: who has lost reads and appends, and may just have begun to read something older. */
const PAUSE_TRIPS = 4;
const LONGEST_PAUSE_MS = 40;
const REMEMBERED = 10_000;

interface Turn {
  run: number;
  lastAt: number;
  sharedUntil: number;
}

/**
 * The store has no lock, so one process that appends to a stream without a gap would keep every other one from it: whoever has lost a
 * race must read before it tries again, and the winner need not. Now and then the winner pauses for as long as that takes.
 */
export class Turns {
  private readonly streams = new Map<string, Turn>();
  private tripMs = 5;

  /** How long to leave a stream alone before the next append to it, in milliseconds. */
  pauseMs(stream: string, nowMs: number): number {
    const turn = this.streams.get(stream);
    if (!turn || turn.run < (nowMs < turn.sharedUntil ? RUN_AMONG_OTHERS : RUN)) return 0;
    turn.run = 0;
    return Math.max(0, Math.min(PAUSE_TRIPS * this.tripMs, LONGEST_PAUSE_MS) - (nowMs - turn.lastAt));
  }

  /** Called after an append that was written. */
  won(stream: string, nowMs: number, tookMs: number): void {
    this.tripMs += (tookMs - this.tripMs) / 8;
    const turn = this.of(stream);
    turn.run = nowMs - turn.lastAt < CLOSE_MS + tookMs ? turn.run + 1 : 1;
    turn.lastAt = nowMs;
  }

  /** Called after an append that met another one. */
  lost(stream: string, nowMs: number): void {
    const turn = this.of(stream);
    turn.run = 0;
    turn.sharedUntil = nowMs + SHARED_MS;
  }

  private of(stream: string): Turn {
    const turn = this.streams.get(stream) ?? { run: 0, lastAt: 0, sharedUntil: 0 };
    this.streams.delete(stream);
    this.streams.set(stream, turn);
    if (this.streams.size > REMEMBERED) this.streams.delete(this.streams.keys().next().value!);
    return turn;
  }
}
