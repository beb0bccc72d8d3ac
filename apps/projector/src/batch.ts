import type { RecordedEvent, Tenant } from '../../../libs/kernel/messages.ts';
import type { Announcement, Announcer, AnyProjection, Row, Rows } from '../../../libs/kernel/projection.ts';

/** Rows that the projector wrote last, so that they need not be read again: it is the only writer while it holds the lease. */
export class RowCache {
  private readonly tables = new Map<string, Map<string, Row>>();
  private readonly rowsPerTable: number;

  constructor(rowsPerTable: number) {
    this.rowsPerTable = rowsPerTable;
  }

  get(table: string, id: string): Row | undefined {
    return this.tables.get(table)?.get(id);
  }

  put(table: string, row: Row): void {
    let rows = this.tables.get(table);
    if (!rows) {
      rows = new Map();
      this.tables.set(table, rows);
    }
    rows.delete(row.id);
    rows.set(row.id, row);
    if (rows.size > this.rowsPerTable) rows.delete(rows.keys().next().value!);
  }

  clear(): void {
    this.tables.clear();
  }
}

/** An announcement with the event it comes from. */
export interface Announced {
  announcement: Announcement;
  event: RecordedEvent;
  tenant: Tenant;
}

/** Who has to do with events of one type, in the order of the catalogue. */
export interface Route {
  projections: readonly AnyProjection[];
  announcers: readonly Announcer[];
}

/** Every type of event that somebody handles. */
export type Routes = ReadonlyMap<string, Route>;

export function routesOf(projections: readonly AnyProjection[], announcers: readonly Announcer[]): Routes {
  const types = new Set([...projections, ...announcers].flatMap(({ handles }) => handles));
  const handling = <T extends { handles: readonly string[] }>(all: readonly T[], type: string) =>
    all.filter(({ handles }) => handles.includes(type));
  return new Map(
    [...types].map((type) => [
      type,
      { projections: handling(projections, type), announcers: handling(announcers, type) },
    ]),
  );
}

/** The rows of one batch in memory: read once, folded event by event across all projections, then written. */
export class Batch {
  readonly announcements: Announced[] = [];
  private readonly projections: readonly AnyProjection[];
  private readonly routes: Routes;
  private readonly cache: RowCache;
  private readonly old = new Map<AnyProjection, Map<string, Row>>();
  private readonly rows = new Map<AnyProjection, Map<string, Row>>();

  constructor(projections: readonly AnyProjection[], routes: Routes, cache: RowCache) {
    this.projections = projections;
    this.routes = routes;
    this.cache = cache;
    for (const projection of projections) {
      this.old.set(projection, new Map());
      this.rows.set(projection, new Map());
    }
  }

  /** Brings in the rows that the events may touch: from the cache, else with one read per table. */
  async read(
    events: readonly RecordedEvent[],
    load: (projection: AnyProjection, ids: string[]) => Promise<readonly Row[]>,
  ): Promise<void> {
    const missing = new Map<AnyProjection, Set<string>>();
    for (const event of events) {
      for (const projection of this.routes.get(event.type)?.projections ?? []) {
        if (projection.insertOnly) continue;
        for (const id of projection.keys(event)) {
          const cached = this.cache.get(projection.name, id);
          if (cached) this.old.get(projection)!.set(id, cached);
          else setOf(missing, projection).add(id);
        }
      }
    }
    for (const [projection, ids] of missing) {
      for (const row of await load(projection, [...ids])) this.old.get(projection)!.set(row.id, row);
    }
  }

  /** Folds the events into the rows. Announced is what `isHeard`: a payload that nobody is sent need not be made. */
  apply(events: readonly RecordedEvent[], isHeard: (tenant: Tenant) => boolean): void {
    const read = (projection: AnyProjection, id: string) => this.get(projection, id);
    const rows = new Map(this.projections.map((projection) => [projection, this.rowsFor(projection)]));
    for (const event of events) {
      const route = this.routes.get(event.type);
      if (!route) continue;
      for (const projection of route.projections) projection.apply(rows.get(projection)!, event);
      if (route.announcers.length === 0 || !isHeard(event.meta.tenant)) continue;
      for (const announcer of route.announcers) {
        for (const announcement of announcer.announce(event, read as never)) {
          if (!announcement.isAwaited) this.announcements.push({ announcement, event, tenant: event.meta.tenant });
        }
      }
    }
  }

  /** The tables with their changed rows. */
  *changed(): Iterable<[AnyProjection, Row[]]> {
    for (const [projection, rows] of this.rows) if (rows.size > 0) yield [projection, [...rows.values()]];
  }

  /** The rows of a projection as they were before the batch. */
  before(projection: AnyProjection): Map<string, Row> {
    return this.old.get(projection)!;
  }

  rowsOf(projection: AnyProjection): Row[] {
    return [...this.rows.get(projection)!.values()];
  }

  /** After the commit: what was written is what the next batch starts from. */
  keep(): void {
    for (const [projection, rows] of this.rows) {
      if (!projection.insertOnly) for (const row of rows.values()) this.cache.put(projection.name, row);
    }
  }

  private rowsFor(projection: AnyProjection): Rows {
    const changed = this.rows.get(projection)!;
    return { get: (id) => this.get(projection, id), set: (row) => changed.set(row.id, row) };
  }

  private get(projection: AnyProjection, id: string): Row | undefined {
    return this.rows.get(projection)?.get(id) ?? this.old.get(projection)?.get(id);
  }
}

function setOf<K>(sets: Map<K, Set<string>>, key: K): Set<string> {
  const set = sets.get(key) ?? new Set();
  sets.set(key, set);
  return set;
}
