import { MemoryEventStore } from '../../libs/adapters/memory/event-store.ts';
import { DirectFeed } from '../../libs/adapters/postgres/direct-feed.ts';
import type { EventStore } from '../../libs/kernel/event-store.port.ts';
import type { Feed } from '../../libs/kernel/feed.port.ts';
import { KafkaCluster } from '../kafka/broker.ts';
import { Deployment, jars, quiet } from '../kafka/kafka.ts';

/** A feed to be tried on a log of its own. */
export interface TestFeed {
  store: EventStore;
  /** One as a process of its own would have it. */
  feed(): Feed;
  stop(): Promise<void>;
}

/** A kind of feed: what all its tests share, and how one begins. */
export interface FeedKind {
  needsKafka: boolean;
  open(): Promise<{ begin(): Promise<TestFeed>; stop(): Promise<void> }>;
}

/** Every adapter of the port. */
export const feedKinds: Readonly<Record<string, FeedKind>> = {
  direct: {
    needsKafka: false,
    async open() {
      const begin = async () => {
        const store = new MemoryEventStore();
        return { store, feed: () => new DirectFeed({ store, log: quiet }), stop: async () => {} };
      };
      return { begin, stop: async () => {} };
    },
  },
  kafka: {
    needsKafka: true,
    async open() {
      const cluster = await KafkaCluster.start(jars);
      const begin = async () => {
        const deployment = await Deployment.open(cluster.brokers);
        deployment.relay();
        return { store: deployment.store, feed: () => deployment.feed(), stop: () => deployment.stop() };
      };
      return { begin, stop: () => cluster.stop() };
    },
  },
};
