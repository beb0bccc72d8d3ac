import { openKafkaSink } from '../../../libs/adapters/kafka/kafka.ts';
import { databaseCheck, logTo, type Part, type PartContext } from '../../shared/part.ts';
import { Relay } from './relay.ts';
import { RelayWatch, relayMetrics } from './relay-watch.ts';

/** The relay as a part of the platform. */
export async function startRelay({ config, engine }: PartContext): Promise<Part> {
  if (!config.kafka) throw new Error('A relay brings the log to Kafka: set FEED=kafka, or do without relays.');
  const { topic, partitions, ...connection } = config.kafka;
  const relay = new Relay({
    store: engine.store,
    pool: engine.pool,
    topic,
    partitions,
    open: () => openKafkaSink(connection, { topic, partitions }),
    log: logTo(engine),
    ...relayMetrics(),
  });
  relay.start();
  const watch = new RelayWatch(engine, relay, topic);
  return {
    checks: [databaseCheck(engine), watch.check],
    async stop() {
      await watch.stop();
      await relay.stop();
    },
  };
}
