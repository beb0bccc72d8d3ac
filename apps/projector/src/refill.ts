import pg from 'pg';
import { checkpointsOf, liveCheckpoints } from '../../../libs/adapters/postgres/live-checkpoints.ts';
import type { LoggedEvent } from '../../../libs/kernel/event-store.port.ts';
import type { AnyProjection } from '../../../libs/kernel/projection.ts';
import { tableBeside } from '../../shared/rebuild-lock.ts';
import { Fill } from './fill.ts';
import { oneByOne } from './one-by-one.ts';
import { CannotBeProjected } from './partition.ts';
import type { RebuildOptions, RebuildSource } from './rebuild.ts';
import { skipsUpTo } from './skips.ts';
import { planAsUsual, prepareSession, type ReadTable } from './tables.ts';

type Options = Pick<RebuildOptions, 'signal' | 'progress' | 'batchSize' | 'keepEvery'> & { skips: ReadonlySet<number> };

/** Small enough to be garbage before the collector has to move it: larger batches cost a quarter more. */
const BATCH_SIZE = 1_000;
/** About ten seconds' work. To keep the position every changed row has to be written, and nothing is folded meanwhile. */
const KEEP_EVERY = 250_000;

/** The table that is filled beside the live one. */
export const besideOf = (projection: AnyProjection): string => tableBeside(projection.name);

/**
 * New tables beside the live ones, filled from the log as far as the live ones have come. How far they are filled is kept with them, so
 * that a filling that was interrupted goes on: rows may be ahead of the kept position, and applying an event twice changes nothing.
 */
export class Refill {
  /** Events replayed so far. */
  events = 0;
  private readonly source: RebuildSource;
  private readonly options: Options;
  private readonly db: Pick<pg.ClientBase, 'query'>;
  /** Each with the position up to which it was filled before. */
  private readonly fills: { fill: Fill; from: number }[];
  private readonly startedMs = performance.now();
  private position = 0;
  private startedAt = 0;
  private keptAt = 0;
  /** Where each partition of the live tables stands. */
  private live: readonly number[] = [];

  constructor(source: RebuildSource, projections: readonly AnyProjection[], options: Options, client: pg.ClientBase) {
    this.source = source;
    this.options = options;
    const db = oneByOne(client);
    this.db = db;
    this.fills = projections.map((projection) => ({ fill: new Fill(projection, besideOf(projection), db), from: 0 }));
  }

  /** Makes the tables, or finds those of a rebuild that was interrupted, of the same shape and with the same events left out. */
  async begin(): Promise<void> {
    await prepareSession(this.db);
    const { rows } = await this.db.query<{ name: string; version: number; position: string; skips: string }>(
      `SELECT name, version, position, skips FROM rebuilds WHERE to_regclass(quote_ident(name || '__rebuild')) IS NOT NULL`,
    );
    const known = new Map(rows.map((row) => [row.name, row]));
    for (const one of this.fills) {
      const { projection, table } = one.fill;
      const found = known.get(projection.name);
      const position = Number(found?.position ?? 0);
      if (found?.version === projection.version && found.skips === skipsUpTo(position, this.options.skips)) {
        one.from = position;
        one.fill.goesOn();
        continue;
      }
      await this.db.query('DELETE FROM rebuilds WHERE name = $1', [projection.name]);
      await this.db.query(`DROP TABLE IF EXISTS ${table.table}`);
      await table.create(this.db);
      one.fill.startsEmpty();
      await this.db.query(`ALTER TABLE ${table.table} SET (autovacuum_enabled = off)`);
    }
    this.position = Math.min(...this.fills.map(({ from }) => from));
    this.startedAt = this.position;
    await this.keep();
  }

  /** Fills up to the first event that the live tables do not show. Answers how many events that took. */
  async untilLive(): Promise<number> {
    const before = this.events;
    await this.look();
    await this.pass('stop');
    return this.events - before;
  }

  /** Fills in whatever else the live tables show, which stand still now. */
  async rest(): Promise<void> {
    await this.look();
    await this.pass('leave');
  }

  /** Makes the indexes, and the statistics that the planner goes by from then on: on two connections, since nothing else is done meanwhile. */
  async index(): Promise<void> {
    const tables = this.fills.map(({ fill }) => fill.table);
    const other = await this.source.pool.connect();
    const both = [this.db, other];
    const settled = ({ table }: ReadTable) => `ALTER TABLE ${table} RESET (autovacuum_enabled); ANALYZE ${table}`;
    try {
      for (const one of both) await one.query(`SET maintenance_work_mem = '128MB'`);
      await carryOut(
        tables.flatMap((table) => table.indexStatements()),
        both,
      );
      await carryOut(tables.map(settled), both);
    } finally {
      other.release(true);
    }
    await planAsUsual(this.db);
  }

  /** Makes the timers that rows wait for and that are not there, while the projectors stand still. */
  async makeUpTimers(client: Pick<pg.ClientBase, 'query'>): Promise<void> {
    for (const { fill } of this.fills) await fill.waiting.makeUp(client);
  }

  private async look(): Promise<void> {
    const known = await liveCheckpoints(this.db);
    this.live = checkpointsOf(this.source.partitions).map((name) => known.get(name) ?? 0);
  }

  private isShown({ position, metadata }: LoggedEvent): boolean {
    const { partitions } = this.source;
    if (partitions.partitions === 1) return position <= this.live[0]!;
    return position <= this.live[partitions.partitionOf(JSON.parse(metadata).platform ?? '')]!;
  }

  /**
   * Replays the log from here to where the live tables are at most; an event that they do not show stops it or is left out. The next batch
   * is fetched while this one is folded. Whatever ends it, what was filled is kept.
   */
  private async pass(atOther: 'stop' | 'leave'): Promise<void> {
    try {
      const { batchSize = BATCH_SIZE, keepEvery = KEEP_EVERY, signal } = this.options;
      const read = (after: number) => {
        const reading = after < Math.max(...this.live) ? this.source.store.readAll(after, batchSize) : undefined;
        reading?.catch(() => {}); // awaited in the next round, unless this one fails
        return reading;
      };
      let ahead = read(this.position);
      while (ahead) {
        const { events: logged, upTo } = await ahead;
        signal?.throwIfAborted();
        if (logged.length === 0 && upTo <= this.position) break;
        ahead = read(upTo);
        const shown = atOther === 'leave' ? logged.filter((e) => this.isShown(e)) : await this.shownFirst(logged);
        const hasStopped = atOther === 'stop' && shown.length < logged.length;
        await this.take(shown);
        this.position = hasStopped ? (shown.at(-1)?.position ?? this.position) : upTo;
        this.tell();
        if (hasStopped) break;
        if (atOther === 'stop' && this.events - this.keptAt >= keepEvery) await this.keep();
      }
    } catch (error) {
      if (atOther === 'stop') await this.keep(error).catch(() => {}); // `error` says what happened
      throw error;
    }
    if (atOther === 'stop') await this.keep();
    else for (const { fill } of this.fills) await fill.flush();
  }

  /** Those before the first that the live tables do not show; they may have come further since the last look. */
  private async shownFirst(logged: readonly LoggedEvent[]): Promise<readonly LoggedEvent[]> {
    if (logged.every((event) => this.isShown(event))) return logged;
    await this.look();
    const end = logged.findIndex((event) => !this.isShown(event));
    return end === -1 ? logged : logged.slice(0, end);
  }

  private async take(logged: readonly LoggedEvent[]): Promise<void> {
    const { skips } = this.options;
    const wanted = skips.size === 0 ? logged : logged.filter(({ position }) => !skips.has(position));
    try {
      await this.apply(wanted);
    } catch (failure) {
      if (await this.isDatabases(failure)) throw failure;
      for (const event of wanted) {
        await this.apply([event]).catch((error) => {
          throw new CannotBeProjected(event, error);
        });
        this.position = event.position;
      }
    }
    this.events += logged.length;
  }

  /** Whether the database failed, rather than an event. */
  private isDatabases(failure: unknown): Promise<boolean> {
    if (failure instanceof pg.DatabaseError) return Promise.resolve(true);
    return this.db.query('SELECT 1').then(
      () => false,
      () => true,
    );
  }

  /** All tables take them or none does: one that is stopped by an event stands before it. */
  private async apply(logged: readonly LoggedEvent[]): Promise<void> {
    const events = await this.source.codec.decode(logged);
    const last = events.at(-1)?.position ?? 0;
    const due = this.fills.filter(({ from }) => from < last);
    const folded = [];
    for (const { fill, from } of due) folded.push(await fill.fold(events.filter(({ position }) => position > from)));
    for (const [i, { fill }] of due.entries()) await fill.keep(folded[i]!);
  }

  /** Keeps how far the tables are filled: everything up to there is in them. `stopped`: why they are not filled further. */
  private async keep(stopped?: unknown): Promise<void> {
    for (const { fill } of this.fills) await fill.flush();
    const positions = this.fills.map(({ from }) => Math.max(from, this.position));
    await this.db.query(
      `INSERT INTO rebuilds (name, version, position, skips, last_error)
       SELECT *, $5 FROM unnest($1::text[], $2::int[], $3::bigint[], $4::text[])
       ON CONFLICT (name) DO UPDATE SET version = excluded.version, position = excluded.position, skips = excluded.skips,
         last_error = excluded.last_error, updated_at = now()`,
      [
        this.fills.map(({ fill }) => fill.projection.name),
        this.fills.map(({ fill }) => fill.projection.version),
        positions,
        positions.map((position) => skipsUpTo(position, this.options.skips)),
        stopped instanceof CannotBeProjected ? stopped.message : null,
      ],
    );
    this.keptAt = this.events;
  }

  private tell(): void {
    const rate = (this.position - this.startedAt) / ((performance.now() - this.startedMs) / 1_000);
    const tables = this.fills.map(({ fill }) => fill.projection.name);
    this.options.progress?.({ position: this.position, upTo: Math.max(...this.live), rate, tables });
  }
}

/** Has the statements carried out, each by whichever connection is free first. */
async function carryOut(
  statements: readonly string[],
  connections: readonly Pick<pg.ClientBase, 'query'>[],
): Promise<void> {
  const due = [...statements];
  const work = async (db: Pick<pg.ClientBase, 'query'>) => {
    for (let next = due.shift(); next !== undefined; next = due.shift()) await db.query(next);
  };
  await Promise.all(connections.map(work));
}
