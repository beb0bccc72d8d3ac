import type { LoggedEvent } from '../../../libs/kernel/event-store.port.ts';
import type { Engine } from '../../shared/engine.ts';
import { IS_DEAD } from './deliveries.ts';
import { isGapless, replay } from './replay.ts';

/** Something that follows the log: a partition of the read models, a group of processes, the relay. */
export interface Follower {
  name: string;
  kind: 'read models' | 'processes' | 'relay';
  position: number;
  head: number;
  lagEvents: number;
  /** The lag was counted up to a limit: there is more. */
  isMore?: true;
  /** Age of the oldest event that it has not carried; 0 when there is none. */
  lagSeconds: number;
  /** Positions per second while it was looked at. */
  rate: number;
  lastError?: string;
  failedAt?: string;
  advancedAt: string;
  owner?: string;
  heartbeatSeconds?: number;
}

/** A lease of something that has no checkpoint. */
export interface HeldLease {
  name: string;
  owner?: string;
  heartbeatSeconds: number;
}

export interface TimerQueue {
  process: string;
  waiting: number;
  due: number;
  /** How long the earliest one has been due. */
  lateSeconds: number;
  nextAt: string;
}

export interface DeliveryQueue {
  platform: string;
  environment: string;
  pending: number;
  due: number;
  lateSeconds: number;
  /** Given up after their last attempt, and not looked at yet. */
  failed: number;
  lastError?: string;
}

export interface Status {
  head: number;
  followers: Follower[];
  leases: HeldLease[];
  timers: TimerQueue[];
  deliveries: DeliveryQueue[];
  /** Work of processes that is parked. */
  parked: number;
  /** Webhooks are sent for events after this position; set by an import. */
  deliveriesFrom?: number;
  /** Events that read models pass over by an operator's order. */
  skipped: number[];
}

interface CheckpointRow {
  name: string;
  position: string;
  last_error: string | null;
  failed_at: Date | null;
  advanced_at: Date;
}

interface LeaseRow {
  name: string;
  owner: string | null;
  age: number;
}

/** Events that are counted where a lag cannot be had by subtraction. */
const COUNT_UP_TO = 20_000;

/** How everything that works in the background stands. Rates are measured over `sampleMs`. */
export async function readStatus(engine: Engine, sampleMs: number): Promise<Status> {
  const { pool } = engine;
  const checkpoints = async () =>
    (
      await pool.query<CheckpointRow>(
        'SELECT name, position, last_error, failed_at, advanced_at FROM checkpoints ORDER BY name',
      )
    ).rows;
  const before = new Map((await checkpoints()).map(({ name, position }) => [name, Number(position)]));
  const startedMs = performance.now();
  if (sampleMs > 0) await new Promise((resolve) => setTimeout(resolve, sampleMs));
  const rows = await checkpoints();
  const seconds = (performance.now() - startedMs) / 1_000;
  const head = await engine.store.head();
  const leases = await readLeases(engine);
  const followers: Follower[] = [];
  for (const row of rows) {
    if (row.name === 'deliveries') continue;
    const moved = Number(row.position) - (before.get(row.name) ?? 0);
    followers.push(await follower(engine, row, head, sampleMs > 0 ? moved / seconds : 0, leases));
  }
  const relays = await pool.query<CheckpointRow>(
    `SELECT 'relay/' || topic AS name, position, NULL AS last_error, NULL AS failed_at, advanced_at FROM relays ORDER BY topic`,
  );
  for (const row of relays.rows) followers.push(await follower(engine, row, head, 0, leases));
  const from = rows.find(({ name }) => name === 'deliveries');
  const known = new Set(followers.map(({ name }) => name));
  return {
    head,
    followers,
    leases: [...leases.values()].filter(({ name }) => !known.has(name) && !name.includes('/member/')),
    timers: await timerQueues(engine),
    deliveries: await deliveryQueues(engine),
    parked: await parkedWork(engine),
    ...(from && { deliveriesFrom: Number(from.position) }),
    skipped: (
      await pool.query<{ position: string }>('SELECT position FROM projection_skips ORDER BY position')
    ).rows.map(({ position }) => Number(position)),
  };
}

async function readLeases({ pool }: Engine): Promise<Map<string, HeldLease>> {
  const { rows } = await pool.query<LeaseRow>(
    `SELECT name, owner, EXTRACT(epoch FROM clock_timestamp() - heartbeat_at)::float8 AS age FROM leases ORDER BY name`,
  );
  return new Map(
    rows.map(({ name, owner, age }) => [name, { name, ...(owner && { owner }), heartbeatSeconds: Math.max(0, age) }]),
  );
}

async function follower(
  engine: Engine,
  row: CheckpointRow,
  head: number,
  rate: number,
  leases: ReadonlyMap<string, HeldLease>,
): Promise<Follower> {
  const { name, last_error: lastError, failed_at: failedAt, advanced_at: advancedAt } = row;
  const position = Number(row.position);
  const lease = leases.get(name);
  return {
    name,
    kind: name.startsWith('live') ? 'read models' : name.startsWith('processes') ? 'processes' : 'relay',
    position,
    head,
    ...(await behind(engine, name, position, head)),
    rate,
    ...(lastError && { lastError }),
    ...(failedAt && { failedAt: failedAt.toISOString() }),
    advancedAt: advancedAt.toISOString(),
    ...(lease?.owner && { owner: lease.owner, heartbeatSeconds: lease.heartbeatSeconds }),
  };
}

/** How much of the log a follower has before it, that of its partition only. */
async function behind(engine: Engine, name: string, position: number, head: number) {
  const partition = /^\w+\/(\d+)$/.exec(name)?.[1];
  const { partitions, partitionOf } = engine.partitions;
  const isPartOf = name.startsWith('live/');
  const isMine = ({ metadata }: LoggedEvent) =>
    !isPartOf || partitions === 1 || partitionOf(JSON.parse(metadata).platform) === Number(partition);
  let [lagEvents, since] = [0, undefined as string | undefined];
  let isMore = false;
  const canSubtract = isGapless(engine) && !isPartOf;
  for await (const batch of replay(engine, { after: position, upTo: head, ...(canSubtract && { batchSize: 1 }) })) {
    for (const event of batch) {
      if (!isMine(event)) continue;
      since ??= JSON.parse(event.metadata).at as string;
      lagEvents += 1;
    }
    isMore = batch.at(-1)!.position - position > COUNT_UP_TO || lagEvents >= COUNT_UP_TO;
    if (isMore || canSubtract) break;
  }
  if (canSubtract) lagEvents = Math.max(0, head - position);
  const lagSeconds = since ? Math.max(0, (engine.clock.nowMs() - Date.parse(since)) / 1_000) : 0;
  return { lagEvents, lagSeconds, ...(isMore && !canSubtract && { isMore: true as const }) };
}

async function timerQueues({ pool, clock }: Engine): Promise<TimerQueue[]> {
  const now = new Date(clock.nowMs());
  const { rows } = await pool.query<{ process: string; waiting: number; due: number; next: Date }>(
    `SELECT process, count(*)::int AS waiting, (count(*) FILTER (WHERE due_at <= $1))::int AS due, min(due_at) AS next
       FROM timers GROUP BY process ORDER BY process`,
    [now],
  );
  return rows.map(({ process, waiting, due, next }) => ({
    process,
    waiting,
    due,
    lateSeconds: Math.max(0, (now.getTime() - next.getTime()) / 1_000),
    nextAt: next.toISOString(),
  }));
}

async function deliveryQueues({ pool, clock }: Engine): Promise<DeliveryQueue[]> {
  const now = new Date(clock.nowMs());
  const { rows } = await pool.query<{
    platform: string;
    environment: string;
    pending: number;
    due: number;
    oldest: Date | null;
    failed: number;
    error: string | null;
  }>(
    `SELECT platform, environment,
            (count(*) FILTER (WHERE status = 'PENDING'))::int AS pending,
            (count(*) FILTER (WHERE status = 'PENDING' AND next_attempt_at <= $1))::int AS due,
            min(next_attempt_at) FILTER (WHERE status = 'PENDING' AND next_attempt_at <= $1) AS oldest,
            (count(*) FILTER (WHERE ${IS_DEAD}))::int AS failed,
            (array_agg(COALESCE(last_error, 'HTTP ' || last_status) ORDER BY last_attempt_at DESC)
              FILTER (WHERE last_attempt_at IS NOT NULL))[1] AS error
       FROM deliveries d WHERE status IN ('PENDING', 'FAILED') GROUP BY platform, environment ORDER BY platform, environment`,
    [now],
  );
  return rows.map(({ oldest, error, ...queue }) => ({
    ...queue,
    lateSeconds: oldest ? (now.getTime() - oldest.getTime()) / 1_000 : 0,
    ...(error && { lastError: error }),
  }));
}

async function parkedWork({ pool }: Engine): Promise<number> {
  const { rows } = await pool.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM dead_letters WHERE status <> 'GIVEN_UP'`,
  );
  return rows[0]!.count;
}
