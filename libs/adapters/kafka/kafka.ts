import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Admin,
  type Consumer,
  type EachBatchPayload,
  Kafka,
  logLevel,
  type Producer,
  type RetryOptions,
} from 'kafkajs';
import { withDeadline } from '../deadline.ts';
import { decodeMessage, type FeedSink, type OutgoingMessage, type PlacedMessage } from './message.ts';

/** How to reach the brokers. */
export interface KafkaConnection {
  /** `host:port`, any of the cluster. */
  brokers: readonly string[];
  tls?: boolean;
  sasl?: KafkaLogin | undefined;
}

export interface KafkaLogin {
  mechanism: 'plain' | 'scram-sha-256' | 'scram-sha-512';
  username: string;
  password: string;
}

/** A topic with a fixed number of partitions. */
export interface KafkaTopic {
  topic: string;
  partitions: number;
}

/** Of one partition in one send: a batch must stay below what a broker takes, 1 MiB by default. */
const BATCH_BYTES = 500_000;
const BATCH_LIMIT_BYTES = '1048588';
const SEND_MS = 30_000;
const CLOSE_MS = 10_000;
const ANSWER_MS = 10_000;
/** The supervisors above begin anew, with metadata of their own, when these do not help. */
const RETRY: RetryOptions = {
  retries: 5,
  initialRetryTime: 100,
  maxRetryTime: 1_000,
  restartOnFailure: async () => false,
};

/** The client. It says nothing by itself: whoever uses it reports what failed, once. */
function kafkaClient({ brokers, tls = false, sasl }: KafkaConnection, retry = RETRY): Kafka {
  return new Kafka({
    clientId: 'ledgerline',
    brokers: [...brokers],
    ssl: tls,
    // a copy, since kafkajs writes an authenticator into it
    ...(sasl && { sasl: { ...sasl } as { mechanism: 'plain'; username: string; password: string } }),
    connectionTimeout: 3_000,
    authenticationTimeout: 5_000,
    requestTimeout: 15_000,
    retry,
    logLevel: logLevel.NOTHING,
  });
}

/** Makes the topic where it is missing. Throws when it has another number of partitions: a platform would then be in two of them. */
async function ensureTopic(admin: Admin, { topic, partitions }: KafkaTopic): Promise<void> {
  if (!(await admin.listTopics()).includes(topic)) {
    const configEntries = [{ name: 'max.message.bytes', value: BATCH_LIMIT_BYTES }];
    await admin.createTopics({ topics: [{ topic, numPartitions: partitions, configEntries }], waitForLeaders: false });
  }
  const found = await partitionsOf(admin, topic);
  if (found !== partitions) throw new Error(`the topic ${topic} has ${found} partitions, not ${partitions}`);
}

/** How many there are. Waits until a topic that has just been made is known to the broker that is asked, and led by one. */
async function partitionsOf(admin: Admin, topic: string): Promise<number> {
  const deadline = performance.now() + ANSWER_MS;
  for (;;) {
    try {
      const { topics } = await admin.fetchTopicMetadata({ topics: [topic] });
      return topics[0]!.partitions.length;
    } catch (error) {
      const isYoung = ['UNKNOWN_TOPIC_OR_PARTITION', 'LEADER_NOT_AVAILABLE'].includes(originOf(error).type ?? '');
      if (!isYoung || performance.now() > deadline) throw error;
    }
    await sleep(100);
  }
}

/**
 * Asks a broker (`host:port`) who is in its cluster: the first question that needs the login. Throws what is wrong with it, after some
 * seconds at the latest.
 */
export async function reachBroker(broker: string, login: Omit<KafkaConnection, 'brokers'>): Promise<void> {
  try {
    await asked({ ...login, brokers: [broker] }, (admin) => admin.describeCluster());
  } catch (error) {
    const { type, broker: silent = broker } = originOf(error);
    // it has answered when some topic of its cluster is not well, or when the client went on to another broker that it named
    if (type !== 'LEADER_NOT_AVAILABLE' && silent === broker) throw error;
  }
}

/** How many brokers have a partition, and how many of those have all of it. */
export interface PartitionCopies {
  partition: number;
  replicas: number;
  inSync: number;
}

/**
 * The partitions of a topic, each with a broker that leads it; undefined when there is no such topic. Throws when a partition has no
 * leader, or when nobody answers.
 */
export async function describeTopic(
  connection: KafkaConnection,
  topic: string,
): Promise<PartitionCopies[] | undefined> {
  try {
    const { topics } = await asked(connection, (admin) => admin.fetchTopicMetadata({ topics: [topic] }));
    return topics[0]!.partitions
      .map(({ partitionId, replicas, isr }) => ({
        partition: partitionId,
        replicas: replicas.length,
        inSync: isr.length,
      }))
      .toSorted((a, b) => a.partition - b.partition);
  } catch (error) {
    const { type } = originOf(error);
    if (type === 'UNKNOWN_TOPIC_OR_PARTITION') return undefined;
    if (type === 'LEADER_NOT_AVAILABLE') throw new Error(`a partition of the topic ${topic} has no leader`); // kafkajs drops which
    throw error;
  }
}

/** What the client wraps: `type` is what a broker calls its refusal, `broker` the one that could not be talked to. */
function originOf(error: unknown): { type?: string; broker?: string } {
  let origin = error;
  while (origin instanceof Error && origin.cause) origin = origin.cause;
  return origin as { type?: string; broker?: string };
}

/** An answer to one question, asked once. */
async function asked<T>(connection: KafkaConnection, question: (admin: Admin) => Promise<T>): Promise<T> {
  const admin = kafkaClient(connection, { retries: 0 }).admin();
  try {
    return await withDeadline(
      admin.connect().then(() => question(admin)),
      ANSWER_MS,
      'no answer',
    );
  } finally {
    await closed(admin);
  }
}

/** Opens what a relay writes to. */
export async function openKafkaSink(connection: KafkaConnection, topic: KafkaTopic): Promise<FeedSink> {
  const kafka = kafkaClient(connection);
  const admin = kafka.admin();
  const producer = kafka.producer({
    allowAutoTopicCreation: false,
    idempotent: false,
    createPartitioner:
      () =>
      ({ message }) =>
        message.partition!,
  });
  try {
    await admin.connect();
    await ensureTopic(admin, topic);
    await producer.connect();
    return new KafkaSink(producer, topic.topic);
  } catch (error) {
    await closed(producer);
    throw error;
  } finally {
    await closed(admin);
  }
}

/**
 * One send at a time, acknowledged by all replicas in step. What a broker does not answer in time is not known to be kept; the relay
 * then sends it again, and what comes twice is dropped by its position.
 */
class KafkaSink implements FeedSink {
  private readonly producer: Producer;
  private readonly topic: string;

  constructor(producer: Producer, topic: string) {
    this.producer = producer;
    this.topic = topic;
  }

  async send(messages: readonly OutgoingMessage[]): Promise<void> {
    for (const round of rounds(messages)) {
      const sent = this.producer.sendBatch({
        acks: -1,
        timeout: 10_000,
        topicMessages: [{ topic: this.topic, messages: round }],
      });
      await withDeadline(sent, SEND_MS, 'no broker acknowledged');
    }
  }

  close(): Promise<void> {
    return closed(this.producer);
  }
}

/** What a consumer tells. */
export interface ConsumerEvents {
  /** From here on these partitions are its own, and no others. They are on hold; where to read from is for `readFrom` to say. */
  joined(partitions: readonly number[], consumer: GroupConsumer): void;
  /** Messages of one partition. False: they will be asked for again. `alive` is to be called now and then; it throws when the group went on. */
  received(partition: number, messages: readonly PlacedMessage[], alive: () => Promise<void>): Promise<boolean>;
  /** Something was asked of a broker and answered, if only that there is nothing. */
  fetched(): void;
  /** It has ended by itself. */
  crashed(error: Error): void;
  /** A message that is not one of a relay, or of a later version. */
  unreadable(partition: number, offset: string): void;
}

/** A member of a group of consumers. It keeps no offsets in Kafka. */
export interface GroupConsumer {
  hold(partition: number): void;
  /** Ends the hold. From this offset; from the oldest there is, when it is undefined or not an offset of the topic as it is now. */
  readFrom(partition: number, offset: string | undefined): Promise<void>;
  close(): Promise<void>;
}

export interface GroupOptions {
  group: string;
  /** A member that is silent for so long is out of the group. */
  sessionMs: number;
  /** Partitions whose messages are handled at the same time. */
  concurrency: number;
}

/** Joins the group and begins. */
export async function openGroupConsumer(
  connection: KafkaConnection,
  { topic, partitions }: KafkaTopic,
  { group, sessionMs, concurrency }: GroupOptions,
  events: ConsumerEvents,
): Promise<GroupConsumer> {
  const kafka = kafkaClient(connection);
  const admin = kafka.admin();
  const consumer = kafka.consumer({
    groupId: group,
    allowAutoTopicCreation: false,
    sessionTimeout: sessionMs,
    rebalanceTimeout: sessionMs * 2,
    heartbeatInterval: sessionMs / 5,
    maxWaitTimeInMs: 500,
    maxBytesPerPartition: 2 * BATCH_BYTES,
    retry: RETRY,
  });
  const handle = new KafkaGroupConsumer(consumer, admin, topic);
  const { CRASH, FETCH, GROUP_JOIN } = consumer.events;
  consumer.on(CRASH, ({ payload }) => events.crashed(payload.error));
  consumer.on(FETCH, () => events.fetched());
  consumer.on(GROUP_JOIN, ({ payload }) => {
    const mine = payload.memberAssignment[topic] ?? [];
    consumer.pause([{ topic, partitions: mine }]); // kafkajs has forgotten where it was
    events.joined(mine, handle);
  });
  try {
    await admin.connect();
    await ensureTopic(admin, { topic, partitions });
    await consumer.connect();
    await consumer.subscribe({ topic, fromBeginning: true });
    await consumer.run({
      autoCommit: false,
      eachBatchAutoResolve: false,
      partitionsConsumedConcurrently: concurrency,
      eachBatch: (payload) => hand(payload, events),
    });
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

async function hand(payload: EachBatchPayload, events: ConsumerEvents): Promise<void> {
  const { batch, resolveOffset, heartbeat, isRunning, isStale } = payload;
  if (!isRunning() || isStale()) return;
  const messages: PlacedMessage[] = [];
  for (const { offset, value } of batch.messages) {
    const message = value === null ? undefined : decodeMessage(value.toString('utf8'));
    if (message) messages.push({ offset, message });
    else events.unreadable(batch.partition, offset);
  }
  const isDone = await events.received(batch.partition, messages, heartbeat);
  if (isDone && !isStale()) resolveOffset(batch.lastOffset());
}

class KafkaGroupConsumer implements GroupConsumer {
  private readonly consumer: Consumer;
  private readonly admin: Admin;
  private readonly topic: string;
  private ends: ReturnType<Admin['fetchTopicOffsets']> | undefined;

  constructor(consumer: Consumer, admin: Admin, topic: string) {
    this.consumer = consumer;
    this.admin = admin;
    this.topic = topic;
  }

  hold(partition: number): void {
    this.consumer.pause([{ topic: this.topic, partitions: [partition] }]);
  }

  async readFrom(partition: number, offset: string | undefined): Promise<void> {
    // those who ask at the same moment share the answer
    const asked = () => withDeadline(this.admin.fetchTopicOffsets(this.topic), ANSWER_MS, 'no broker told the offsets');
    this.ends ??= asked().finally(() => {
      this.ends = undefined;
    });
    const { low, high } = (await this.ends).find((one) => one.partition === partition)!;
    const isThere = /^\d+$/.test(offset ?? '') && BigInt(offset!) >= BigInt(low) && BigInt(offset!) <= BigInt(high);
    this.consumer.seek({ topic: this.topic, partition, offset: isThere ? offset! : low });
    this.consumer.resume([{ topic: this.topic, partitions: [partition] }]);
  }

  async close(): Promise<void> {
    await Promise.all([closed(this.consumer), closed(this.admin)]);
  }
}

/** Splits messages so that no partition gets more in one send than a broker takes; the order in a partition stays. */
export function rounds(messages: readonly OutgoingMessage[], limitBytes = BATCH_BYTES): OutgoingMessage[][] {
  const all: OutgoingMessage[][] = [];
  let round: OutgoingMessage[] = [];
  let bytes = new Map<number, number>();
  for (const message of messages) {
    const size = Buffer.byteLength(message.value);
    const sum = (bytes.get(message.partition) ?? 0) + size;
    if (sum > limitBytes && sum > size) {
      all.push(round);
      [round, bytes] = [[], new Map()];
    }
    round.push(message);
    bytes.set(message.partition, (bytes.get(message.partition) ?? 0) + size);
  }
  return round.length > 0 ? [...all, round] : all;
}

/** Disconnects; a broker that does not answer does not hold it up. Whatever is lost with the connection is not needed any more. */
async function closed(client: { disconnect(): Promise<void> }): Promise<void> {
  await withDeadline(client.disconnect(), CLOSE_MS, 'not closed').catch(() => {});
}
