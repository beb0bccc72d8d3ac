import { setTimeout as sleep } from 'node:timers/promises';
import { type Kysely, type SelectQueryBuilder, sql } from 'kysely';
import { LRUCache } from 'lru-cache';
import type pg from 'pg';
import type { Feed } from '../kernel/feed.port.ts';
import { fromJson } from '../kernel/json.ts';
import type { Tenant } from '../kernel/messages.ts';
import type { AnyProjection } from '../kernel/projection.ts';
import { decodeCursor, encodeCursor, filtersHash, type Page, page, USUAL_LIMIT } from './http/pagination.ts';
import { rowsById } from './rows-by-id.ts';

/** Every read table as kysely sees it: the columns of `stateProjection`, and filter columns by name. */
// biome-ignore lint/suspicious/noExplicitAny: filter columns differ per table and are declared by its projection
export type ReadTables = Record<string, any>;

/** A read of one table, already limited to the caller's platform and environment. */
// biome-ignore lint/suspicious/noExplicitAny: see ReadTables
export type TenantQuery = SelectQueryBuilder<any, any, any>;

interface PageRequest {
  limit: number;
  cursor?: string;
  sortOrder?: 'asc' | 'desc';
}

interface PageRow {
  id: string;
  state: string;
  /** `created_at` as text. */
  key: string;
}

const COUNT_UP_TO = 10_000;
/** Texts of queries that differ by their filters; further ones go unnamed. */
const NAMED_QUERIES = 200;
const WAIT_MS = 2_000;
const LOOK_EVERY_MS = 150;

/** How a feed divides platforms among partitions, each with a position of its own in the read tables. */
export type Partitions = Pick<Feed, 'partitions' | 'partitionOf'>;

/** Whether the tables hold every event of a partition up to a position of the log, at which another partition's event may be. */
export type IsWhole = (partition: number, position: number) => Promise<boolean>;

export const onePartition: Partitions = { partitions: 1, partitionOf: () => 0 };

/** A read that waits for a position of a partition, or of any. */
interface Waiting {
  partition: number | undefined;
  position: number;
  done: () => void;
}

/**
 * Reads for one platform in one environment: there is no read without a tenant. A read waits until the tables have passed what this
 * process wrote for the platform before (read your writes), at most two seconds. How far the tables are is known per partition of the
 * feed; a platform's events are all in one.
 */
export class ReadModel {
  private readonly pool: pg.Pool;
  private readonly db: Kysely<ReadTables>;
  private readonly written = new Map<string, number>();
  private readonly tooMany = new LRUCache<string, true>({ max: 1_000, ttl: 10_000 });
  private readonly names = new Map<string, string>();
  /** By table. */
  private readonly loaders = new Map<string, ReturnType<typeof rowsById>>();
  private readonly partitions: Partitions;
  private readonly projectedBy: number[];
  /** Those on whose behalf a read has waited in vain. */
  private readonly impatient = new WeakSet<Tenant>();
  private readonly waitMs: number;
  private readonly isWhole: IsWhole | undefined;
  private waiting: Waiting[] = [];
  /** Grows whenever what was known is forgotten. */
  private doubts = 0;
  /** Position up to which the read tables are known to have come, in the partition that is furthest. */
  projected = 0;

  constructor(pool: pg.Pool, db: Kysely<ReadTables>, partitions = onePartition, waitMs = WAIT_MS, isWhole?: IsWhole) {
    this.isWhole = isWhole;
    this.pool = pool;
    this.db = db;
    this.partitions = partitions;
    this.waitMs = waitMs;
    this.projectedBy = Array(partitions.partitions).fill(0);
  }

  /** Called by the write path after a commit. */
  noteWritten(tenant: Tenant, position: number): void {
    if (position > this.position(tenant)) this.written.set(tenant.platform, position);
  }

  /** Called when a projector has advanced. */
  noteProjected(position: number, partition = 0): void {
    if (!(position > this.projectedBy[partition]!)) return;
    this.projectedBy[partition] = position;
    this.projected = Math.max(this.projected, position);
    if (this.waiting.length > 0)
      this.endWaiting((one) => one.position <= position && (one.partition ?? partition) === partition);
  }

  /** From now on nothing is known of the tables: their database may have crashed, which undoes the projectors' last commits. */
  noteUnknown(): void {
    this.projectedBy.fill(0);
    this.projected = 0;
    this.doubts += 1;
  }

  /** The position that a read of this platform has to see. */
  position(tenant: Tenant): number {
    return this.written.get(tenant.platform) ?? 0;
  }

  /** Position up to which the tables are known to show this platform. */
  shown(tenant: Tenant): number {
    return this.projectedBy[this.partitions.partitionOf(tenant.platform)]!;
  }

  /**
   * Waits until the tables have come to `position`, at most two seconds; true when they have. Without a tenant: those of any partition,
   * which are all where the feed has one.
   */
  async caughtUp(position: number, tenant?: Tenant): Promise<boolean> {
    if (position === 0) return true;
    const partition = tenant && this.partitions.partitionOf(tenant.platform);
    const projected = partition === undefined ? this.projected : this.projectedBy[partition]!;
    if (projected >= position) return true;
    return new Promise((resolve) => {
      const waiter = {
        partition,
        position,
        done: () => {
          clearTimeout(timer);
          resolve(true);
        },
      };
      const timer = setTimeout(() => {
        this.waiting = this.waiting.filter((one) => one !== waiter);
        resolve(false);
      }, this.waitMs);
      this.waiting.push(waiter);
      if (this.isWhole && partition !== undefined) void this.lookWhether(this.isWhole, partition, waiter);
    });
  }

  /**
   * A read may be asked to see another platform's event: where the log ended when an answer was repeated, say. Its own partition never
   * comes to that position, and shows all there is up to there. Looked for only when it takes long, which is seldom.
   */
  private async lookWhether(isWhole: IsWhole, partition: number, waiter: Waiting): Promise<void> {
    const { position } = waiter;
    for (;;) {
      await sleep(LOOK_EVERY_MS, undefined, { ref: false });
      if (!this.waiting.includes(waiter)) return;
      const { doubts } = this;
      if (!(await isWhole(partition, position).catch(() => false)) || doubts !== this.doubts) continue;
      this.projectedBy[partition] = Math.max(this.projectedBy[partition]!, position);
      return this.endWaiting((one) => one.position <= position && one.partition === partition);
    }
  }

  private endWaiting(isDue: (one: Waiting) => boolean): void {
    const due = this.waiting.filter(isDue);
    this.waiting = this.waiting.filter((one) => !isDue(one));
    for (const one of due) one.done();
  }

  /** The same tenant, for reads that have waited long enough: they show what there is. */
  waited(tenant: Tenant): Tenant {
    const impatient = { ...tenant };
    this.impatient.add(impatient);
    return impatient;
  }

  /** Waits until the tables show what this process wrote for the platform. */
  private async fresh(tenant: Tenant): Promise<void> {
    if (this.shown(tenant) >= this.position(tenant) || this.impatient.has(tenant)) return;
    await this.caughtUp(this.position(tenant), tenant);
  }

  /** The state of one resource of the caller's, or undefined. */
  async byId<S>(projection: AnyProjection, tenant: Tenant, id: string): Promise<S | undefined> {
    await this.fresh(tenant);
    const { name } = projection;
    const loader = this.loaders.get(name) ?? rowsById((query) => this.pool.query(query), name);
    this.loaders.set(name, loader);
    const state = await loader.load({ id, tenant });
    return state === undefined ? undefined : fromJson<S>(state);
  }

  /** The states of a resource's rows that `narrow` leaves, newest first, without pages. */
  async all<S>(
    projection: AnyProjection,
    tenant: Tenant,
    narrow: (query: TenantQuery) => TenantQuery = (q) => q,
  ): Promise<S[]> {
    await this.fresh(tenant);
    const rows = await narrow(this.rowsOf(projection, tenant))
      .select('state')
      .orderBy('created_at', 'desc')
      .orderBy('id', 'desc')
      .execute();
    return rows.map((row) => fromJson<S>(row.state));
  }

  /** One page of a list: keyset by creation time and id, total exact up to 10,000 and left out above (decision 17). */
  async page<S, V>(
    projection: AnyProjection,
    tenant: Tenant,
    query: PageRequest,
    narrow: (query: TenantQuery) => TenantQuery,
    view: (state: S) => V,
  ): Promise<Page<V>> {
    const filters = filtersHash({ ...query, list: projection.name, tenant });
    const after = query.cursor === undefined ? undefined : decodeCursor(query.cursor, filters);
    await this.fresh(tenant);
    const order = query.sortOrder ?? 'desc';
    const matching = () => narrow(this.rowsOf(projection, tenant));
    let rowsQuery = matching()
      .select(['id', 'state', keyOf.as('key')])
      .orderBy('created_at', order)
      .orderBy('id', order)
      .limit(rowsToRead(query.limit));
    if (after) rowsQuery = rowsQuery.where(beyond(String(after.key), after.id, order));
    const [rows, total] = await Promise.all([this.rows<PageRow>(rowsQuery), this.count(matching(), filters)]);
    return page(
      rows,
      query.limit,
      total,
      (last) => encodeCursor({ key: last.key, id: last.id }, filters),
      (row) => view(fromJson<S>(row.state)),
    );
  }

  /** Runs a query under a name of its own, so that the server parses each text once per connection; there are few of them. */
  private async rows<R extends object>(query: TenantQuery): Promise<R[]> {
    const { sql: text, parameters } = query.compile();
    if (!this.names.has(text) && this.names.size < NAMED_QUERIES) this.names.set(text, `list_${this.names.size}`);
    const name = this.names.get(text);
    const { rows } = await this.pool.query<R>({ ...(name && { name }), text, values: [...parameters] });
    return rows;
  }

  private rowsOf(projection: AnyProjection, tenant: Tenant): TenantQuery {
    return this.db
      .selectFrom(projection.name)
      .where('platform', '=', tenant.platform)
      .where('environment', '=', tenant.environment);
  }

  /** That there are more than can be counted is remembered for some seconds: counting them anew each time is what costs. */
  private async count(matching: TenantQuery, filters: string): Promise<number | undefined> {
    if (this.tooMany.has(filters)) return undefined;
    const counted = matching.select(sql`1`.as('one')).limit(sql.lit(COUNT_UP_TO + 1));
    const counting = this.db.selectFrom(counted.as('counted')).select(sql<string>`count(*)`.as('total'));
    const [row] = await this.rows<{ total: string }>(counting);
    const total = Number(row!.total);
    if (total <= COUNT_UP_TO) return total;
    this.tooMany.set(filters, true);
    return undefined;
  }
}

/**
 * How many rows to read for a page: one more shows that there are more. PostgreSQL plans a query anew each time when it is to be told how many,
 * which costs it more than to read them: the usual number stands in the text.
 */
const rowsToRead = (limit: number) => (limit === USUAL_LIMIT ? sql.lit(limit + 1) : limit + 1);

/** `created_at` in the form that cursors carry, to the microsecond. */
const keyOf = sql<string>`to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;

const beyond = (key: string, id: string, order: 'asc' | 'desc') =>
  order === 'desc'
    ? sql<boolean>`(created_at, id) < (${key}::timestamptz, ${id})`
    : sql<boolean>`(created_at, id) > (${key}::timestamptz, ${id})`;
