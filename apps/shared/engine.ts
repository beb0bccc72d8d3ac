import { randomUUID } from 'node:crypto';
import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import { connection, promptConnection } from '../../libs/adapters/postgres/connection.ts';
import { type Listener, listen } from '../../libs/adapters/postgres/listen.ts';
import {
  checkpointsOf,
  liveCheckpoints,
  partitionOfCheckpoint,
} from '../../libs/adapters/postgres/live-checkpoints.ts';
import { PostgresSubjectKeys } from '../../libs/adapters/postgres/subject-keys.ts';
import { deciders } from '../../libs/domain/index.ts';
import type { Clock } from '../../libs/kernel/clock.ts';
import type { KeyedAnswers } from '../../libs/kernel/event-store.port.ts';
import { EventCodec } from '../../libs/runtime/codec.ts';
import { Driver } from '../../libs/runtime/drive.ts';
import { WritePath } from '../../libs/runtime/execute.ts';
import { Freshness } from '../../libs/runtime/freshness.ts';
import type { Logger } from '../../libs/runtime/http/index.ts';
import type { PlatformClock } from '../../libs/runtime/platform-clock.ts';
import {
  type IsWhole,
  onePartition,
  type Partitions,
  ReadModel,
  type ReadTables,
} from '../../libs/runtime/read-model.ts';
import { derivedKey } from '../../libs/runtime/seal.ts';
import { migrate } from '../../migrations/index.ts';
import { noteClock, platformClocks } from './platform-clocks.ts';
import { openStore, type Store } from './store.ts';

export interface EngineOptions {
  databaseUrl: string;
  /** Connection string of the EventStoreDB that keeps the log; absent: Postgres keeps it. */
  esdbUrl?: string | undefined;
  masterKey: Buffer;
  logger: Logger;
  /** Wall time. */
  clock?: Clock;
  /** Those of the feed that the read models are fed from; the log itself has one. */
  partitions?: Partitions;
  /** Told after each commit what it held and how long it took, for metrics. */
  flushed?: (flush: { appends: number; events: number; ms: number }) => void;
  /** For how long PostgreSQL may say nothing to a question; absent: for as long as it takes to answer an operator's. */
  silenceMs?: number;
  /** How long a read waits for what was written before; tests on a busy machine are more patient. */
  readWaitMs?: number;
}

/** Everything that every role stands on: the log, the write path, the reads. */
export interface Engine {
  url: string;
  pool: pg.Pool;
  db: Kysely<ReadTables>;
  store: Store;
  /** Connection string of the EventStoreDB that keeps the log; absent: Postgres keeps it. */
  esdbUrl: string | undefined;
  keys: PostgresSubjectKeys;
  codec: EventCodec;
  /** Wall time, and the time of each platform. */
  clock: PlatformClock;
  writePath: WritePath;
  driver: Driver;
  readModel: ReadModel;
  /** Those of the feed that the read models are fed from. */
  partitions: Partitions;
  answers: KeyedAnswers;
  logger: Logger;
  /** A key for one purpose, derived from the master key. 32 bytes. */
  keyFor(purpose: string): Buffer;
  close(): Promise<void>;
}

export const systemClock: Clock = { nowMs: () => Date.now() };

/** Migrates the database and opens the engine on it. */
export async function openEngine({
  databaseUrl: url,
  esdbUrl,
  masterKey,
  logger,
  clock: wall = systemClock,
  partitions = onePartition,
  flushed,
  silenceMs,
  readWaitMs,
}: EngineOptions): Promise<Engine> {
  await migrate(url);
  const { pool, db, endPool } = openPool(url, logger, silenceMs);
  const log = (level: 'info' | 'warn' | 'error', message: string, error?: unknown) =>
    logger[level]({ err: error }, message);
  const { store, answers } = await openStore({ esdbUrl, url, pool, log });
  const keys = new PostgresSubjectKeys(pool, masterKey);
  const clock = platformClocks(wall, (): WritePath => writePath);
  const codec = new EventCodec(deciders, keys, {}, (tenant, aheadMs) => clock.learn(tenant, aheadMs));
  const isWhole = partitions.partitions > 1 ? wholeBy(pool, partitions) : undefined;
  const readModel = new ReadModel(pool, db, partitions, readWaitMs, isWhole);
  const writePath = new WritePath({
    store,
    codec,
    clock,
    writer: randomUUID(),
    log,
    committed: (flush) => {
      for (const [tenant, position] of flush.tenants) readModel.noteWritten(tenant, position);
      flushed?.(flush);
    },
  });
  const projected = followProjector(url, pool, readModel);
  const freshness = new Freshness(store, writePath, log, (stream) => noteClock(clock, stream));
  const close = async () => {
    await freshness.stop();
    await writePath.drain();
    await projected.close();
    await store.close();
    await endPool();
  };
  try {
    await projected.ready;
    await freshness.start();
  } catch (error) {
    await close();
    throw error;
  }
  return {
    url,
    pool,
    db,
    store,
    esdbUrl,
    keys,
    codec,
    clock,
    writePath,
    driver: new Driver(writePath, deciders),
    readModel,
    partitions,
    answers,
    logger,
    keyFor: (purpose) => derivedKey(masterKey, purpose),
    close,
  };
}

function openPool(url: string, logger: Logger, silenceMs: number | undefined) {
  const options =
    silenceMs === undefined ? connection(url, 'ledgerline') : promptConnection(url, 'ledgerline', silenceMs);
  const pool = new pg.Pool({ ...options, max: 10 });
  let isEnding = false;
  pool.on('error', ({ message }) => {
    if (!isEnding) logger.warn({ reason: message }, 'an idle database connection was lost');
  });
  const db = new Kysely<ReadTables>({ dialect: new PostgresDialect({ pool }) });
  const endPool = async () => {
    isEnding = true;
    await db.destroy(); // ends the pool too, but only when kysely has asked it for something
    if (!pool.ending) await pool.end();
  };
  return { pool, db, endPool };
}

/**
 * Tells the reads how far the projectors have come in each partition, wherever they run. After a lost connection the checkpoints are
 * read again; until then reads that have to see something wait.
 */
function followProjector(url: string, pool: pg.Pool, readModel: ReadModel): Listener {
  const told = (payload: string) => {
    if (!payload) return readAgain();
    const [partition, position] = payload.split(' ');
    return readModel.noteProjected(Number(position), Number(partition));
  };
  const readAgain = async () => {
    for (const [name, position] of await liveCheckpoints(pool)) {
      readModel.noteProjected(position, partitionOfCheckpoint(name));
    }
  };
  return listen(url, 'projected', told, () => readModel.noteUnknown());
}

/**
 * By what a relay has brought into the feed: a partition whose last event up to there is in the tables is whole up to there. That follows
 * from the log alone, so it holds for every topic with this number of partitions.
 */
function wholeBy(pool: pg.Pool, partitions: Partitions): IsWhole {
  const checkpoints = checkpointsOf(partitions);
  return async (partition, position) => {
    const { rowCount } = await pool.query({
      name: 'is_whole',
      text: `SELECT 1 FROM relays r, checkpoints c
              WHERE r.partitions = $1 AND r.position >= $2 AND c.name = $3 AND c.position >= r.last_positions[$4] LIMIT 1`,
      values: [partitions.partitions, position, checkpoints[partition], partition + 1],
    });
    return rowCount === 1;
  };
}
