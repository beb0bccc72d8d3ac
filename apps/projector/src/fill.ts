import type pg from 'pg';
import type { RecordedEvent } from '../../../libs/kernel/messages.ts';
import type { AnyProjection, Row } from '../../../libs/kernel/projection.ts';
import { ReadTable } from './tables.ts';
import { Waiting } from './waiting.ts';

type Queryable = Pick<pg.ClientBase, 'query'>;

/** Rows that one table keeps in memory. Those that are never read again leave sooner. */
const ROWS_IN_MEMORY = 20_000;
const INSERTED_ROWS_IN_MEMORY = 4_000;
const ROWS_PER_WRITE = 2_000;
const UNIQUE_VIOLATION = '23505';

/**
 * Fills an empty table with the rows of a projection from the beginning of the log. Rows stay in memory between batches and are written
 * when there are too many of them, so that a row that a thousand events change is written a few times, not a thousand.
 */
export class Fill {
  readonly projection: AnyProjection;
  readonly table: ReadTable;
  /** What the rows wait for; of a table that was filled before, those that have changed since. */
  readonly waiting: Waiting;
  private readonly db: Queryable;
  private readonly handles: ReadonlySet<string>;
  /** Events whose rows cannot be in the table: those of a filling that was interrupted may be ahead of its position. */
  private begins: ReadonlySet<string>;
  private readonly rowsInMemory: number;
  /** Least recently changed first. */
  private readonly rows = new Map<string, Row>();
  private readonly changed = new Set<string>();
  /** Changed ones that are not in the table. */
  private readonly added = new Set<string>();
  private isNew = false;
  /** Those that left last: they may still be on their way into the table. */
  private left: ReadonlyMap<string, Row> = new Map();
  private hasWritten = false;
  private write: Promise<void> = Promise.resolve();

  constructor(projection: AnyProjection, table: string, db: Queryable, rowsInMemory = ROWS_IN_MEMORY) {
    this.projection = projection;
    this.table = new ReadTable(projection, table);
    this.waiting = new Waiting(projection);
    this.db = db;
    this.handles = new Set(projection.handles);
    this.begins = new Set(projection.begins);
    this.rowsInMemory = projection.insertOnly ? Math.min(rowsInMemory, INSERTED_ROWS_IN_MEMORY) : rowsInMemory;
  }

  /** The table has just been made, and nobody else writes to it: rows that were not read from it are added. */
  startsEmpty(): void {
    this.isNew = true;
  }

  /** The table is not empty: it was filled before, up to the events that come next. */
  goesOn(): void {
    this.hasWritten = true;
    this.begins = new Set();
  }

  /** Applies a batch of events, which follow those of the batch before. */
  async take(events: readonly RecordedEvent[]): Promise<void> {
    await this.keep(await this.fold(events));
  }

  /** What a batch of events makes of the rows, for `keep`: nothing is changed yet. */
  async fold(events: readonly RecordedEvent[]): Promise<ReadonlyMap<string, Row>> {
    const folded = new Map<string, Row>();
    const mine = events.filter((event) => this.handles.has(event.type));
    if (mine.length === 0) return folded;
    await this.read(mine);
    const rows = {
      get: (id: string) => folded.get(id) ?? this.rows.get(id),
      set: (row: Row) => folded.set(row.id, row),
    };
    for (const event of mine) this.projection.apply(rows, event);
    return folded;
  }

  async keep(folded: ReadonlyMap<string, Row>): Promise<void> {
    for (const [id, row] of folded) {
      if (!this.rows.delete(id) && this.isNew) this.added.add(id);
      this.rows.set(id, row);
      this.changed.add(id);
    }
    this.waiting.take(folded.values());
    if (this.rows.size > this.rowsInMemory) await this.makeRoom();
  }

  /** Writes what is only in memory. */
  async flush(): Promise<void> {
    await this.save(this.changed);
    await this.write;
  }

  /** A row that is not in memory can only be in the table once something has been written there. */
  private async read(events: readonly RecordedEvent[]): Promise<void> {
    if (!this.hasWritten || this.projection.insertOnly) return;
    const begun = new Set<string>();
    const missing = new Set<string>();
    for (const event of events) {
      for (const id of this.projection.keys(event)) {
        if (this.begins.has(event.type)) begun.add(id);
        if (begun.has(id) || this.rows.has(id)) continue;
        const row = this.left.get(id);
        if (row) this.rows.set(id, row);
        else missing.add(id);
      }
    }
    if (missing.size === 0) return;
    for (const row of await this.table.read(this.db, [...missing])) this.rows.set(row.id, row);
  }

  /** The older half leaves, once what left before is in the table; of rows that are never read again, all. */
  private async makeRoom(): Promise<void> {
    await this.write;
    const { insertOnly } = this.projection;
    const leaving = [...this.rows.keys()].slice(0, insertOnly ? this.rows.size : this.rows.size / 2);
    if (!insertOnly) this.left = new Map(leaving.map((id) => [id, this.rows.get(id)!]));
    await this.save(leaving.filter((id) => this.changed.has(id)));
    for (const id of leaving) this.rows.delete(id);
  }

  /** Writes while the next batch is being folded: it waits for the write before, not for its own. */
  private async save(ids: Iterable<string>): Promise<void> {
    const known: Row[] = [];
    const added: Row[] = [];
    for (const id of ids) {
      this.changed.delete(id);
      (this.added.delete(id) ? added : known).push(this.rows.get(id)!);
    }
    if (known.length + added.length === 0) return;
    this.hasWritten = true;
    await this.write;
    this.write = this.writeAll(known, added);
    this.write.catch(() => {}); // whoever waits for it next is told
  }

  private async writeAll(known: readonly Row[], added: readonly Row[]): Promise<void> {
    for (const rows of parts(known)) await this.table.write(this.db, rows);
    for (const rows of parts(added)) {
      await this.table.add(this.db, rows).catch((error) => {
        if (error.code !== UNIQUE_VIOLATION) throw error;
        return this.table.write(this.db, rows); // a log that begins a row twice
      });
    }
  }
}

const parts = (rows: readonly Row[]): Row[][] =>
  Array.from({ length: Math.ceil(rows.length / ROWS_PER_WRITE) }, (_, n) =>
    rows.slice(n * ROWS_PER_WRITE, (n + 1) * ROWS_PER_WRITE),
  );
