import type { Decider } from './decider.ts';
import type { Command, Event, RecordedEvent, Tenant } from './messages.ts';

/** Postgres types of a read table's columns. `state` holds JSON text written by `toJson`. */
export type ColumnType = 'text' | 'bigint' | 'int' | 'boolean' | 'timestamptz' | 'state' | 'text[]';

/** A row of a read table. `state` is an object here; `bigint` columns are `bigint`; times are RFC 3339 text. */
export type Row = Record<string, unknown> & { id: string };

/** The rows that a batch touches: read before it, changed event by event, written after it. */
export interface Rows<R extends Row = Row> {
  get(id: string): R | undefined;
  set(row: R): void;
}

/**
 * A read model: `(rows, events) → rows`, run in batches by the projector, which owns reading, writing and the checkpoint. Applying
 * an event twice must change nothing.
 */
export interface Projection<R extends Row = Row> {
  /** Name of the table. */
  name: string;
  /** Version of its shape; another one in the database starts a rebuild. */
  version: number;
  /** Column → type, beside the key `id text PRIMARY KEY` that every table has. */
  columns: Readonly<Record<string, ColumnType>>;
  /** Index definitions after `CREATE INDEX … ON <table>`. */
  indexes: readonly string[];
  handles: readonly string[];
  /** Events that are always the first of their row: a rebuild need not look for it. */
  begins?: readonly string[];
  /** True when rows are only added, never read or changed: a line of the journal. */
  insertOnly?: boolean;
  /** Ids of the rows that the event may touch and that have to be read first; empty for rows that are only inserted. */
  keys(event: RecordedEvent): readonly string[];
  apply(rows: Rows<R>, event: RecordedEvent): void;
}

// biome-ignore lint/suspicious/noExplicitAny: a list of projections holds every row type
export type AnyProjection = Projection<any>;

/** The row of a resource whose state is the decider's: the folded state, whose it is, and the columns that lists filter by. */
export interface StateRow<S = unknown> extends Row {
  platform: string;
  environment: string;
  state: S;
  revision: bigint;
  position: bigint;
  created_at: string;
  updated_at: string;
}

const STATE_COLUMNS = {
  platform: 'text',
  environment: 'text',
  state: 'state',
  revision: 'bigint',
  position: 'bigint',
  created_at: 'timestamptz',
  updated_at: 'timestamptz',
} as const satisfies Record<string, ColumnType>;

/**
 * The read model of a resource that *is* its decider's state: the fold is not written twice. `filters` gives the columns that lists
 * filter by. The table's version contains the decider's.
 */
export function stateProjection<S, E extends Event>(
  decider: Decider<S, Command, E>,
  options: {
    table: string;
    handles: readonly E['type'][];
    version?: number;
    columns?: Readonly<Record<string, ColumnType>>;
    indexes?: readonly string[];
    filters?: (state: S) => Record<string, unknown>;
    /** Fields of the state that the read side must not hold: secrets. */
    omit?: readonly (keyof S)[];
  },
): Projection<StateRow<S>> {
  const idOf = (event: RecordedEvent) => event.stream.slice(decider.name.length + 1);
  return {
    name: options.table,
    version: decider.version * 1_000 + (options.version ?? 1),
    columns: { ...STATE_COLUMNS, ...options.columns },
    indexes: ['(platform, environment, created_at DESC, id DESC)', ...(options.indexes ?? [])],
    handles: options.handles,
    keys: (event) => [idOf(event)],
    apply(rows, event) {
      const id = idOf(event);
      const before = rows.get(id);
      if (before && before.revision >= BigInt(event.revision)) return;
      const state = without(
        decider.evolve(before?.state ?? decider.initial, event as unknown as E & { at: string }),
        options.omit,
      );
      const row = before
        ? { ...before }
        : {
            id,
            ...tenantColumns(event.meta.tenant),
            created_at: event.at,
            state,
            revision: 0n,
            position: 0n,
            updated_at: '',
          };
      row.state = state;
      row.revision = BigInt(event.revision);
      row.position = BigInt(event.position);
      row.updated_at = event.at;
      rows.set(Object.assign(row, options.filters?.(state)) as StateRow<S>);
    },
  };
}

function without<S>(state: S, omit: readonly (keyof S)[] | undefined): S {
  if (!omit) return state;
  const kept = { ...state };
  for (const field of omit) delete kept[field];
  return kept;
}

/** The columns that every row carries: whose it is. */
export const tenantColumns = (tenant: Tenant) => ({ platform: tenant.platform, environment: tenant.environment });

/** A webhook to be sent: what happened to which resource, with its payload as of that moment. */
export interface Announcement {
  type: string;
  /** Public id of the resource, for `sequence` and for finding its deliveries. */
  resource: string;
  /** Strictly increasing per resource. */
  sequence: number;
  data: object;
  /** A process sends it, for the answer decides something: the projector leaves it to that process. */
  isAwaited?: true;
}

/** Reads a row as it stands after the event at hand. */
export type ReadRow = <R extends Row>(projection: Projection<R>, id: string) => R | undefined;

/** Event → webhooks: the rows that the payload is made from are those of `projections`, already advanced by the event. */
export interface Announcer {
  handles: readonly string[];
  announce(event: RecordedEvent, read: ReadRow): readonly Announcement[];
}
