import type pg from 'pg';
import { encodeMessage, type FeedSink, type OutgoingMessage } from '../../../libs/adapters/kafka/message.ts';
import { partitioner, platformOf } from '../../../libs/adapters/kafka/partition.ts';
import { type Held, Lease, LeaseLost, type LeaseOptions } from '../../../libs/adapters/postgres/lease.ts';
import { messageOf } from '../../../libs/kernel/errors.ts';
import type { EventStore, LoggedEvent } from '../../../libs/kernel/event-store.port.ts';
import { loadStanding, type RelayStanding, saveStanding } from './checkpoint.ts';

export interface RelayOptions {
  store: Pick<EventStore, 'readAll' | 'subscribe' | 'head'>;
  pool: pg.Pool;
  topic: string;
  partitions: number;
  /** Opens what it writes to; asked anew after every failure. */
  open(): Promise<FeedSink>;
  log: (level: 'info' | 'warn' | 'error', message: string, error?: unknown) => void;
  /** Most events sent at once. */
  batchSize?: number;
  /** How often every partition is told how far it goes, so that its followers know that nothing is missing. */
  markMs?: number;
  lease?: Partial<LeaseOptions>;
  /** Told after each batch. */
  advanced?: (batch: { position: number; events: number; ms: number }) => void;
}

const SAFETY_POLL_MS = 1_000;
const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 5_000;

/** Of all relays of a topic one is at work. */
export const leaseOf = (topic: string): string => `relay/${topic}`;

/**
 * Brings the log into the partitions of a topic, in the order of the log. One relay at a time has the lease. What it sends follows from
 * the log alone, so one that was stopped and sends on, or one that sends again what may have been lost, writes nothing that was not
 * written before; followers drop it by its position. It writes down how far it has come after the acknowledgement, forward only, and
 * only under the token of its lease.
 */
export class Relay {
  private readonly options: RelayOptions & { batchSize: number; markMs: number };
  private readonly partitionOf: (platform: string) => number;
  private readonly lease: Lease;
  private readonly stopping = new AbortController();
  private loop: Promise<void> | undefined;
  private unsubscribe: (() => Promise<void>) | undefined;
  private wake: () => void = () => {};
  private hurry: () => void = () => {};
  private isWoken = false;
  /** All events up to here are in the topic, as far as this relay knows. */
  position = 0;
  /** Why it stands still; undefined while it goes on, or while another relay is at work. */
  failure: string | undefined;
  /** When its last round ended, by `performance.now()`; it says nothing while another relay is at work. */
  progressAt = 0;

  constructor(options: RelayOptions) {
    this.options = { batchSize: 1_000, markMs: 5_000, ...options };
    this.partitionOf = partitioner(options.partitions);
    this.lease = new Lease(options.pool, leaseOf(options.topic), { role: 'relay', ...options.lease });
  }

  /** Whether this relay is the one at work. */
  get leads(): boolean {
    return this.lease.token !== undefined;
  }

  start(): void {
    this.loop = this.run();
  }

  /** Finishes the batch under way and hands over the lease. */
  async stop(): Promise<void> {
    this.stopping.abort();
    this.wake();
    this.hurry();
    await this.loop;
  }

  private async run(): Promise<void> {
    const { signal } = this.stopping;
    let pause = 0;
    while (!signal.aborted) {
      const before = this.progressAt;
      try {
        this.unsubscribe ??= await this.options.store.subscribe(() => {
          this.isWoken = true;
          this.wake();
        });
        if (!(await this.lease.tryAcquire())) this.failure = undefined; // another one is at work
        await this.lease.run((held, lost) => this.lead(held, lost), signal);
      } catch (error) {
        if (error instanceof LeaseLost)
          this.options.log('warn', `another relay goes on; this one was at ${this.position}`);
        else if (!signal.aborted) {
          this.failure = messageOf(error);
          this.options.log('error', `the relay stands at position ${this.position}`, error);
        }
      }
      if (this.progressAt !== before) pause = 0;
      pause = Math.min(Math.max(pause * 2, FIRST_PAUSE_MS), MAX_PAUSE_MS);
      await this.sleep(pause, (end) => (this.hurry = end));
    }
    await this.unsubscribe?.();
  }

  /** At work until it is stopped; throws `LeaseLost` when another one is. */
  private async lead(held: Held, lost: AbortSignal): Promise<void> {
    const { pool, topic, partitions } = this.options;
    let standing = await loadStanding(pool, topic, partitions);
    this.position = standing.position;
    const head = await this.options.store.head();
    if (head < standing.position) {
      throw new Error(
        `the log ends at ${head}, the topic ${topic} has it up to ${standing.position}: it is another log's`,
      );
    }
    const sink = await this.open(lost);
    try {
      let markedAt = Number.NEGATIVE_INFINITY;
      let reading = this.read(standing.position);
      while (!this.stopping.signal.aborted) {
        if (performance.now() - markedAt >= this.options.markMs) {
          await unless(lost, sink.send(standing.lastPositions.map(mark)));
          markedAt = performance.now();
        }
        const { events, upTo } = await unless(lost, reading);
        const isAtEnd = upTo <= standing.position;
        if (events.length > 0) {
          reading = this.read(upTo); // while these are sent
          standing = await this.bring(events, upTo, standing, sink, held, lost);
        } else {
          if (isAtEnd) await unless(lost, this.untilWoken());
          standing = { ...standing, position: Math.max(upTo, standing.position) };
          reading = this.read(standing.position);
        }
        this.failure = undefined;
        this.progressAt = performance.now();
      }
    } finally {
      await sink.close();
    }
  }

  private async open(lost: AbortSignal): Promise<FeedSink> {
    const opening = this.options.open();
    try {
      return await unless(AbortSignal.any([lost, this.stopping.signal]), opening);
    } catch (error) {
      opening.then(
        (sink) => sink.close(),
        () => {}, // it is the error that is thrown, or comes after the end
      );
      throw error;
    }
  }

  private read(after: number): ReturnType<EventStore['readAll']> {
    this.isWoken = false; // whatever comes from here on may not be in the answer
    const reading = this.options.store.readAll(after, this.options.batchSize);
    reading.catch(() => {}); // told where it is waited for
    return reading;
  }

  /** Sends a batch, waits for the acknowledgement and writes down how far the topic goes now. */
  private async bring(
    events: readonly LoggedEvent[],
    upTo: number,
    { lastPositions: before }: RelayStanding,
    sink: FeedSink,
    held: Held,
    lost: AbortSignal,
  ): Promise<RelayStanding> {
    const startedAt = performance.now();
    const { messages, lastPositions } = this.messagesOf(events, before);
    await unless(lost, sink.send(messages));
    const standing = { position: upTo, lastPositions };
    await unless(lost, saveStanding(this.options.pool, this.options.topic, standing, held));
    this.position = upTo;
    this.options.advanced?.({ position: upTo, events: events.length, ms: performance.now() - startedAt });
    return standing;
  }

  private messagesOf(events: readonly LoggedEvent[], before: readonly number[]) {
    const lastPositions = [...before];
    const messages = events.map((event): OutgoingMessage => {
      const platform = platformOf(event);
      const partition = this.partitionOf(platform);
      const { position } = event;
      const value = encodeMessage({ position, previous: lastPositions[partition]!, event });
      lastPositions[partition] = position;
      return { partition, key: platform, value };
    });
    return { messages, lastPositions };
  }

  /** Until there may be newer events, and at least a look now and then. */
  private untilWoken(): Promise<void> {
    return this.isWoken
      ? Promise.resolve()
      : this.sleep(Math.min(SAFETY_POLL_MS, this.options.markMs), (end) => (this.wake = end));
  }

  private sleep(ms: number, early: (end: () => void) => void): Promise<void> {
    if (this.stopping.signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      early(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }
}

/** Says how far a partition goes, and nothing else. */
const mark = (position: number, partition: number): OutgoingMessage => ({
  partition,
  key: null,
  value: encodeMessage({ position, previous: position }),
});

/** Does not wait longer than until the signal is raised, and then throws its reason. */
async function unless<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  let end = () => {};
  const raised = new Promise<never>((_, reject) => {
    end = () => reject(signal.reason);
    if (signal.aborted) end();
    else signal.addEventListener('abort', end);
  });
  try {
    return await Promise.race([work, raised]);
  } finally {
    signal.removeEventListener('abort', end);
  }
}
