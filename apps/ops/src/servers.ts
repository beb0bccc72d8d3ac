import type { KafkaConfig } from '../../../libs/runtime/config.ts';
import { leaseOf } from '../../relay/src/relay.ts';
import { type Diagnosis, fail, messageOf, ok, warn } from './diagnosis.ts';
import { count, duration } from './output.ts';
import type { Status } from './status.ts';

const ANSWER_MS = 5_000;
/** A holder that has been silent for so long has lost its lease to whoever asks. */
export const HEARTBEAT_SECONDS = 10;

/** Whether the EventStoreDB of a connection string answers. */
export async function eventStoreDb(url: string): Promise<Diagnosis> {
  const { reachEventStoreDb } = await import('../../../libs/adapters/eventstoredb/client.ts');
  const asked = performance.now();
  try {
    await reachEventStoreDb(url, ANSWER_MS);
    return ok('connectivity', `EventStoreDB answers in ${Math.round(performance.now() - asked)} ms`);
  } catch (error) {
    const isRefused = (error as { type?: string }).type === 'access-denied';
    const advice = isRefused
      ? 'Correct user and password in ESDB_URL, or give that user access to all streams.'
      : 'See that it runs, can be reached from here, and that the address and `tls` in ESDB_URL are right.';
    return fail('connectivity', `EventStoreDB: ${messageOf(error)}`, advice);
  }
}

/** Whether each broker that is configured can be talked to, and the topic is as it must be. */
export async function* kafka({ brokers, topic, partitions, ...login }: KafkaConfig): AsyncGenerator<Diagnosis> {
  const { describeTopic, reachBroker } = await import('../../../libs/adapters/kafka/kafka.ts');
  const failures = await Promise.all(
    brokers.map((broker) => reachBroker(broker, login).then(() => undefined, messageOf)),
  );
  const reached = brokers.filter((_, i) => failures[i] === undefined);
  for (const [i, failure] of failures.entries()) {
    const name = `Kafka broker ${brokers[i]}`;
    const advice =
      'See that it runs, can be reached from here, and that KAFKA_TLS and KAFKA_SASL are as it wants them.';
    if (failure === undefined) yield ok('connectivity', `${name} answers`);
    else yield (reached.length > 0 ? warn : fail)('connectivity', `${name}: ${failure}`, advice);
  }
  if (reached.length === 0) return;
  try {
    yield judgeTopic({ topic, partitions }, await describeTopic({ ...login, brokers: reached }, topic));
  } catch (error) {
    const advice =
      'See that all brokers run, that the addresses they announce can be reached from here, and what their logs say.';
    yield fail('topic', messageOf(error), advice);
  }
}

type Copies = { partition: number; replicas: number; inSync: number };

function judgeTopic(
  wanted: Pick<KafkaConfig, 'topic' | 'partitions'>,
  found: readonly Copies[] | undefined,
): Diagnosis {
  const { topic, partitions } = wanted;
  if (!found) {
    const advice = `A relay makes it when it starts; where the login may not, make it with ${partitions} partitions.`;
    return fail('topic', `there is no topic ${topic}`, advice);
  }
  if (found.length !== partitions) {
    const advice = `Set KAFKA_PARTITIONS=${found.length} for every part; docs/operations.md says how to change the number.`;
    return fail('topic', `${topic} has ${found.length} partitions, not ${partitions}`, advice);
  }
  const behind = found.filter(({ replicas, inSync }) => inSync < replicas).map(({ partition }) => partition);
  return behind.length > 0
    ? warn(
        'topic',
        `${topic}: replicas of partitions ${behind.join(', ')} are not in sync`,
        'See that all brokers run.',
      )
    : ok('topic', `${topic} has ${partitions} partitions, each with a leader and all its replicas in sync`);
}

/** Who brings the log into the topic, and how far it is behind. */
export function relay({ followers, leases }: Pick<Status, 'followers' | 'leases'>, topic: string): Diagnosis {
  const follower = followers.find(({ name }) => name === leaseOf(topic));
  const { owner, heartbeatSeconds = 0 } = follower ?? leases.find(({ name }) => name === leaseOf(topic)) ?? {};
  if (owner === undefined || heartbeatSeconds > HEARTBEAT_SECONDS)
    return fail('relay', `nobody brings the log into ${topic}`, 'Start a relay: read models stand still without one.');
  const behind = follower
    ? `${count(follower.lagEvents)} events, ${duration(follower.lagSeconds)} behind`
    : 'nothing is there yet';
  return ok('relay', `${owner} brings the log into ${topic}: ${behind}`);
}
