import type { KeyObject } from 'node:crypto';
import type { WebhookSecret } from '../../shared/webhook-secrets.ts';

/** A webhook that is due, as it was claimed. */
export interface Delivery {
  webhookId: string;
  type: string;
  /** Empty: erased, with the person that it was about. */
  body: string;
  /** Attempts so far. */
  attempts: number;
  /** Failures of the retry schedule so far. */
  failures: number;
  /** When the schedule began, in milliseconds since the epoch. */
  startedMs: number;
  /** The same as the database has it, to the microsecond: another one is another schedule. */
  schedule: string;
}

/** A place in a platform's queue: when a delivery is due, and its id. */
export interface Cursor {
  dueAt: string;
  webhookId: string;
}

const FIRST_LIMIT = 8;
/** An answer slower than this counts against its receiver as much as a failure: it keeps a connection busy. */
const SLOW_MS = 2_000;
/** How many deliveries are fetched ahead, as a multiple of those that may be in flight. */
const AHEAD = 4;

/**
 * A receiver. How many deliveries may be in flight grows by one with every good answer and halves with every failed or slow one, so
 * that a dead receiver soon holds one connection and a fast one gets all it can use.
 */
export class Endpoint {
  readonly url: string;
  inFlight = 0;
  limit = FIRST_LIMIT;
  private readonly maxLimit: number;

  constructor(url: string, maxLimit: number) {
    this.url = url;
    this.maxLimit = maxLimit;
  }

  /** Whether one more may be sent, given how many connections are free for all. */
  maySend(free: number): boolean {
    return this.inFlight < Math.min(this.limit, Math.max(1, Math.floor(free / 2)));
  }

  /** Learns from what came of an attempt. */
  learn(isDelivered: boolean, durationMs: number): void {
    const isCongested = !isDelivered || durationMs > SLOW_MS;
    this.limit = isCongested ? Math.max(1, Math.floor(this.limit / 2)) : Math.min(this.maxLimit, this.limit + 1);
  }
}

/** How a platform's webhooks are signed, as of one revision of its configuration. */
export interface Signing {
  revision: string;
  secrets: readonly WebhookSecret[];
  key: KeyObject;
}

/** The deliveries of one platform in memory. */
export class Lane {
  /** `<platform>.<environment>`. */
  readonly id: string;
  readonly queue: Delivery[] = [];
  /** A new URL is a new endpoint: what still hangs at the old one is not held against it. */
  endpoint: Endpoint | undefined;
  signing: Signing | undefined;
  /** Its secrets could not be read the last time, which was said. */
  isUnsigned = false;
  /** Claimed and not recorded yet: queued, in flight, or done and waiting to be written. */
  held = 0;
  /** Where the last claim ended; undefined: the next one starts from the beginning. */
  cursor: Cursor | undefined;
  /** There may be more that is due. */
  hasMore = true;
  /** How often bodies of its webhooks were emptied: what was claimed before may hold what is not to be sent any more. */
  erasures = 0;

  constructor(id: string) {
    this.id = id;
  }

  /** How many deliveries to fetch now; none while enough are there. */
  get appetite(): number {
    const ahead = (this.endpoint?.limit ?? FIRST_LIMIT) * AHEAD;
    return this.queue.length * 2 > ahead ? 0 : ahead - this.queue.length;
  }
}
