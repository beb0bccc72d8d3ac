import { randomUUID } from 'node:crypto';
import { Relay } from '../apps/relay/src/relay.ts';
import type { Engine } from '../apps/shared/engine.ts';
import { openFeed } from '../apps/shared/feed.ts';
import { openKafkaSink } from '../libs/adapters/kafka/kafka.ts';
import type { Feed } from '../libs/kernel/feed.port.ts';
import type { KafkaConfig } from '../libs/runtime/config.ts';
import { startEventStoreServer } from './eventstoredb/server.ts';

/**
 * What keeps the log of test platforms, and how it reaches their read models. `TEST_ENGINE=postgres-kafka npx jest test/journeys` runs
 * the journeys on another engine than Postgres alone.
 */
export const ENGINES = ['postgres-direct', 'postgres-kafka', 'eventstoredb-direct', 'eventstoredb-kafka'] as const;
export type EngineName = (typeof ENGINES)[number];

const PARTITIONS = 3;

/** The engine of every test platform that does not choose one. */
export function engineOfThisRun(): EngineName {
  const named = process.env.TEST_ENGINE || 'postgres-direct';
  const found = ENGINES.find((name) => name === named);
  if (!found) throw new Error(`There is no engine ${named} for TEST_ENGINE. There are: ${ENGINES.join(', ')}.`);
  return found;
}

/** The servers of a test platform besides Postgres. */
export interface TestServers {
  /** Connection string of its EventStoreDB; absent: Postgres keeps the log. */
  esdbUrl: string | undefined;
  /** Its topic; absent: the log itself is the feed. */
  kafka: KafkaConfig | undefined;
  stop(): Promise<void>;
}

/** Brokers to make a topic on, with so many partitions. */
export interface TestTopic {
  brokers: readonly string[];
  partitions: number;
}

/** An EventStoreDB server of its own, or one that is there, and a topic of its own on the broker of the run or on others. */
export async function openServers(
  eventStore?: 'postgres' | 'eventstoredb' | { esdbUrl: string },
  topic?: TestTopic,
): Promise<TestServers> {
  const [defaultStore, feed] = engineOfThisRun().split('-');
  const kafka = topic || feed === 'kafka' ? topicOfItsOwn(topic ?? topicOfThisRun()) : undefined;
  const store = eventStore ?? defaultStore;
  if (typeof store === 'object') return { ...store, kafka, stop: async () => {} };
  if (store !== 'eventstoredb') return { esdbUrl: undefined, kafka, stop: async () => {} };
  const server = await startEventStoreServer();
  return { esdbUrl: server.url, kafka, stop: () => server.stop() };
}

function topicOfThisRun(): TestTopic {
  const brokers = process.env.TEST_KAFKA_BROKERS;
  if (!brokers) throw new Error('There is no Kafka for tests: run them with the jest configuration.');
  return { brokers: brokers.split(','), partitions: PARTITIONS };
}

const topicOfItsOwn = ({ brokers, partitions }: TestTopic): KafkaConfig => ({
  brokers: [...brokers],
  topic: `ledgerline.${randomUUID()}`,
  partitions,
  tls: false,
  sasl: undefined,
});

/** The feed of a platform's projector, with the relay that feeds it where there is a topic. */
export async function startFeed(
  { store, pool, logger }: Engine,
  kafka: KafkaConfig | undefined,
): Promise<{ feed: Feed | undefined; stop(): Promise<void> }> {
  if (!kafka) return { feed: undefined, stop: async () => {} };
  const log = (level: 'info' | 'warn' | 'error', message: string, error?: unknown) =>
    logger[level]({ err: error }, message);
  const { topic, partitions, ...connection } = kafka;
  const open = () => openKafkaSink(connection, { topic, partitions });
  const relay = new Relay({ store, pool, topic, partitions, open, log });
  relay.start();
  return { feed: await openFeed(kafka, { store, log }), stop: () => relay.stop() };
}
