import { randomUUID } from 'node:crypto';
import { describe, expect, jest } from '@jest/globals';
import pg from 'pg';
import { Relay, type RelayOptions } from '../../apps/relay/src/relay.ts';
import { KafkaFeed, type KafkaFeedOptions } from '../../libs/adapters/kafka/feed.ts';
import { type KafkaConnection, openKafkaSink } from '../../libs/adapters/kafka/kafka.ts';
import { encodeMessage, type OutgoingMessage } from '../../libs/adapters/kafka/message.ts';
import { partitionOf, platformOf } from '../../libs/adapters/kafka/partition.ts';
import { MemoryEventStore } from '../../libs/adapters/memory/event-store.ts';
import { PostgresEventStore } from '../../libs/adapters/postgres/event-store.ts';
import type { EventStore, LoggedEvent } from '../../libs/kernel/event-store.port.ts';
import type { FeedFollower, RunningFeed } from '../../libs/kernel/feed.port.ts';
import { migrate } from '../../migrations/index.ts';
import type { Carried } from '../conformance/feed.follower.ts';
import { freshDatabase, type TestDatabase } from '../database.ts';
import { eventually } from '../eventually.ts';
import { fetchKafka } from './fetch.ts';

const fetched = await fetchKafka();
if ('reason' in fetched) console.info(`skipped: the suites on a real Kafka broker, because ${fetched.reason}`);

/** Kafka's programs; empty where `describeKafka` skips. */
export const jars = 'jars' in fetched ? fetched.jars : '';
/** Suites that need a broker: skipped, with the reason printed, where none can run. */
export const describeKafka = 'jars' in fetched ? describe : describe.skip;

/** The patience of a test that waits for brokers: generous, as it only counts when something is broken. */
export const KAFKA_MS = 180_000;

jest.setTimeout(KAFKA_MS);

export const quiet = (): void => {};

/** A log, a topic, and what is made on them; ends everything. */
export class Deployment {
  readonly store: EventStore;
  readonly topic = `events.${randomUUID()}`;
  readonly partitions: number;
  readonly pool: pg.Pool;
  readonly connection: KafkaConnection;
  readonly database: TestDatabase;
  private readonly ends: (() => Promise<unknown>)[] = [];
  private appended = 0;

  private constructor(connection: KafkaConnection, partitions: number, database: TestDatabase, isShared: boolean) {
    this.connection = connection;
    this.partitions = partitions;
    this.database = database;
    this.pool = new pg.Pool({ connectionString: database.url, max: 5 });
    this.pool.on('error', () => {}); // one that ends when the database is deleted
    if (!isShared) this.store = new MemoryEventStore();
    else {
      const store = new PostgresEventStore(database.url, this.pool);
      this.store = store;
      this.ends.push(() => store.close());
    }
  }

  /** On the log of this process, or on one in Postgres that other processes share. */
  static async open(
    connection: readonly string[] | KafkaConnection,
    { partitions = 4, isShared = false } = {},
  ): Promise<Deployment> {
    const database = await freshDatabase();
    await migrate(database.url);
    return new Deployment(
      'brokers' in connection ? connection : { brokers: connection },
      partitions,
      database,
      isShared,
    );
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
    this.ended(relay);
    relay.start();
    return relay;
  }

  async follow(follower: FeedFollower, options: Partial<KafkaFeedOptions> = {}): Promise<RunningFeed> {
    return this.ended(await this.feed(options).follow(follower));
  }

  /** To be ended with the rest, before it. */
  ended<T extends { stop(): Promise<unknown> }>(one: T): T {
    this.ends.unshift(() => one.stop());
    return one;
  }

  /** What a relay sends of events, in its order, from the beginning of the log on. */
  async messages(): Promise<OutgoingMessage[]> {
    const last = new Map<number, number>();
    return (await this.log()).map((event) => {
      const platform = platformOf(event);
      const partition = partitionOf(platform, this.partitions);
      const value = encodeMessage({ position: event.position, previous: last.get(partition) ?? 0, event });
      last.set(partition, event.position);
      return { partition, key: platform, value };
    });
  }

  async log(): Promise<LoggedEvent[]> {
    return (await this.store.readAll(0, 100_000)).events;
  }

  /** Writes into the topic what somebody else than the relay at work would. */
  async send(messages: readonly OutgoingMessage[]): Promise<void> {
    const sink = await openKafkaSink(this.connection, this);
    await sink.send(messages);
    await sink.close();
  }

  /** Waits until all that is in the log was carried, and holds it against the log. */
  async expectCarried(carried: Carried): Promise<void> {
    const log = await this.log();
    await eventually(
      async () => carried.all().length,
      (count) => count >= log.length,
      KAFKA_MS / 2,
    );
    expect(carried.all()).toEqual(log);
    for (let partition = 0; partition < this.partitions; partition += 1) {
      const mine = log.filter((event) => partitionOf(platformOf(event), this.partitions) === partition);
      expect(carried.events(partition)).toEqual(mine);
    }
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
    for (const end of this.ends) await end();
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
