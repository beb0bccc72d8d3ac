import { partitioner } from '../../libs/adapters/kafka/partition.ts';
import type { EventStore } from '../../libs/kernel/event-store.port.ts';
import type { Feed } from '../../libs/kernel/feed.port.ts';
import type { KafkaConfig } from '../../libs/runtime/config.ts';
import { onePartition, type Partitions } from '../../libs/runtime/read-model.ts';
import type { Log } from './supervised-thread.ts';

/** The partitions of the feed that a configuration names; the log itself has one. */
export const partitionsOf = (kafka: KafkaConfig | undefined): Partitions =>
  kafka ? { partitions: kafka.partitions, partitionOf: partitioner(kafka.partitions) } : onePartition;

/** The feed that a configuration names; undefined: the log itself. */
export async function openFeed(
  kafka: KafkaConfig | undefined,
  { store, log }: { store: Pick<EventStore, 'readAll'>; log: Log },
): Promise<Feed | undefined> {
  if (!kafka) return undefined;
  const { KafkaFeed } = await import('../../libs/adapters/kafka/feed.ts');
  const { topic, partitions, ...connection } = kafka;
  return new KafkaFeed({ connection, topic, partitions, group: `${topic}.projector`, store, log });
}
