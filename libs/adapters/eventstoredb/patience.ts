/** A call that got no answer in its time: nothing is known of what it did. */
export class Silence extends Error {
  constructor(what: string, ms: number) {
    super(`no answer within ${ms} ms: ${what}`);
  }
}

/** What the client's errors say of themselves; they are recognised by it. */
export const kindOf = (error: unknown): string | undefined => (error as { type?: string } | undefined)?.type;

const PASSING = new Set(['not-leader', 'unavailable', 'cancelled', 'timeout', 'deadline-exceeded']);
/** Errors without a kind of their own that are of the connection or the cluster, not of the call. */
const PASSING_TEXT = /leader|RST_STREAM|connection|channel|socket|discover|write after end|ECONN/i;

/** True for errors of a moment: the same call may succeed when it is repeated. */
export function isPassing(error: unknown): boolean {
  if (error instanceof Silence) return true;
  const kind = kindOf(error);
  if (kind !== undefined && PASSING.has(kind)) return true;
  return (kind === undefined || kind === 'unknown') && PASSING_TEXT.test((error as Error | undefined)?.message ?? '');
}

/** True when the call was heard by nobody, or by somebody who is no longer there. */
export const isSilence = (error: unknown): boolean => error instanceof Silence || kindOf(error) === 'deadline-exceeded';

/** The answer of a call, or `Silence` when its time is over. The call itself is not ended. */
export async function inTime<T>(what: string, ms: number, call: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Silence(what, ms)), ms);
  });
  try {
    return await Promise.race([call, over]);
  } finally {
    clearTimeout(timer);
  }
}

/** Pauses between attempts: doubled each time up to a limit, somewhat random so that processes that failed together part. */
export class Backoff {
  private readonly firstMs: number;
  private readonly longestMs: number;
  private nextMs: number;

  constructor(firstMs: number, longestMs: number) {
    this.firstMs = firstMs;
    this.longestMs = longestMs;
    this.nextMs = firstMs;
  }

  /** The next pause, from half of it to the whole. */
  get pauseMs(): number {
    const pause = this.nextMs * (0.5 + Math.random() / 2);
    this.nextMs = Math.min(this.nextMs * 2, this.longestMs);
    return pause;
  }

  reset(): void {
    this.nextMs = this.firstMs;
  }
}

export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** At most so many at once; the others wait in order. */
export class Gate {
  private free: number;
  private readonly waiting: (() => void)[] = [];

  constructor(atOnce: number) {
    this.free = atOnce;
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.free > 0) this.free -= 1;
    else await new Promise<void>((resolve) => this.waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = this.waiting.shift();
      if (next) next();
      else this.free += 1;
    }
  }
}
