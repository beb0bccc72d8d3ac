import { randomUUID } from 'node:crypto';
import { describe } from '@jest/globals';
import pg from 'pg';
import { Relay, type RelayOptions } from '../../apps/relay/src/relay.ts';
import { KafkaFeed, type KafkaFeedOptions } from '../../libs/adapters/kafka/feed.ts';
import { openKafkaSink } from '../../libs/adapters/kafka/kafka.ts';
import { MemoryEventStore } from '../../libs/adapters/memory/event-store.ts';
import type { RunningFeed } from '../../libs/kernel/feed.port.ts';
import { migrate } from '../../migrations/index.ts';
import { freshDatabase, type TestDatabase } from '../database.ts';
import { fetchKafka } from './fetch.ts';

const fetched = await fetchKafka();
if ('reason' in fetched) console.info(`skipped: the suites on a real Kafka broker, because ${fetched.reason}`);

/** Kafka's programs; empty where `describeKafka` skips. */
export const jars = 'jars' in fetched ? fetched.jars : '';
/** Suites that need a broker: skipped, with the reason printed, where none can run. */
export const describeKafka = 'jars' in fetched ? describe : describe.skip;

/** For the first test of a file and for what waits for brokers; generous, as it only counts when something is broken. */
export const KAFKA_MS = 180_000;

export const quiet = (): void => {};

/** A log, a topic, and what is made on them; ends everything. */
export class Deployment {
  readonly store = new MemoryEventStore();
  readonly topic = `events.${randomUUID()}`;
  readonly partitions: number;
  readonly pool: pg.Pool;
  private readonly brokers: readonly string[];
  private readonly database: TestDatabase;
  private readonly ends: (() => Promise<unknown>)[] = [];
  private appended = 0;

  private constructor(brokers: readonly string[], partitions: number, database: TestDatabase) {
    this.brokers = brokers;
    this.partitions = partitions;
    this.database = database;
    this.pool = new pg.Pool({ connectionString: database.url, max: 5 });
  }

  static async open(brokers: readonly string[], partitions = 4): Promise<Deployment> {
    const database = await freshDatabase();
    await migrate(database.url);
    return new Deployment(brokers, partitions, database);
  }

  get connection() {
    return { brokers: this.brokers };
  }

  feed(options: Partial<KafkaFeedOptions> = {}): KafkaFeed {
    const { connection, topic, partitions, store } = this;
    return new KafkaFeed({
      connection,
      topic,
      partitions,
      store,
      log: quiet,
      sessionMs: 6_000,
      retryMs: 100,
      ...options,
    });
  }

  relay(options: Partial<RelayOptions> = {}): Relay {
    const { connection, topic, partitions, store, pool } = this;
    const relay = new Relay({
      store,
      pool,
      topic,
      partitions,
      open: () => openKafkaSink(connection, { topic, partitions }),
      log: quiet,
      markMs: 500,
      lease: { pollMs: 50, heartbeatMs: 200 },
      ...options,
    });
    this.ends.push(() => relay.stop());
    relay.start();
    return relay;
  }

  ended(running: RunningFeed): RunningFeed {
    this.ends.push(() => running.stop());
    return running;
  }

  /** One event per platform named, each a stream of its own. */
  async append(...platforms: string[]): Promise<void> {
    await this.store.append(
      platforms.map((platform) => ({
        stream: `thing-${randomUUID()}`,
        expectedRevision: -1,
        events: [happened(platform, ++this.appended)],
        answers: [],
      })),
    );
  }

  async stop(): Promise<void> {
    await Promise.all(this.ends.map((end) => end()));
    await this.pool.end();
    await this.database.drop();
  }
}

/** An event with text that is easily spoilt on its way. */
export const happened = (platform: string, number: number) => ({
  id: randomUUID(),
  type: 'Happened',
  payload: `{ "number": ${number},  "text": "\\u0000 \\ud800 é \\" \u2028" }`,
  metadata: JSON.stringify({ commandId: 'c', platform, environment: 'sandbox' }),
});

/** Names of platforms enough that every one of a few partitions has some. */
export const platforms = (count: number): string[] => Array.from({ length: count }, (_, i) => `platform-${i}`);
