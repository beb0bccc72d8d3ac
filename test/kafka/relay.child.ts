import pg from 'pg';
import { Relay } from '../../apps/relay/src/relay.ts';
import { openKafkaSink } from '../../libs/adapters/kafka/kafka.ts';
import { PostgresEventStore } from '../../libs/adapters/postgres/event-store.ts';

/** A relay as a process of its own, which a test can stop and continue: its settings as JSON in the first argument. */
const { url, brokers, topic, partitions, expiresMs } = JSON.parse(process.argv[2]!);
const pool = new pg.Pool({ connectionString: url, max: 3 });
pool.on('error', () => {});
const relay = new Relay({
  store: new PostgresEventStore(url, pool),
  pool,
  topic,
  partitions,
  open: () => openKafkaSink({ brokers }, { topic, partitions }),
  log: (level, message) => process.stdout.write(`${level} ${message}\n`),
  batchSize: 5,
  lease: { expiresMs, heartbeatMs: 200, pollMs: 50 },
  advanced: ({ position }) => process.stdout.write(`at ${position}\n`),
});
relay.start();
