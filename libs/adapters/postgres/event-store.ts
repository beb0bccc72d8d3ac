import pg from 'pg';
import type {
  Append,
  AppendOutcome,
  EventStore,
  LoggedEvent,
  Snapshot,
  StreamRead,
} from '../../kernel/event-store.port.ts';
import { type Listener, listen } from './listen.ts';
import { PostgresSnapshots } from './snapshots.ts';

/** JSON text never holds this control character, so lists of JSON texts can travel joined by it. */
const SEPARATOR = '\u001e';

/** How many events one look for changed streams covers. */
const CHANGES_AT_ONCE = 50_000;

const EVENT_COLUMNS = 'position, stream, revision, id, type, payload, metadata';

const APPEND = {
  name: 'append_events',
  text: 'SELECT first_position, taken_key FROM append_events($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11,$12,$13,$14)',
};

type Queryable = Pick<pg.ClientBase, 'query'>;

/** The log as a Postgres table whose positions are gapless and in commit order (docs/why/event-log.md). */
export class PostgresEventStore implements EventStore {
  readonly flushesInFlight = 1;
  readonly positionStride = 1;
  private readonly writers: pg.Pool;
  private readonly readers: pg.Pool;
  private readonly url: string;
  private readonly snapshots: PostgresSnapshots;
  private listener: Listener | undefined;
  private readonly wakers = new Set<(head: number) => void>();

  /**
   * `deadlineMs`: how long a write may take until its outcome counts as unknown. The server ends it too, and a transaction whose writer
   * has stopped, so that one process that hangs does not hold the lock of the log against the others.
   */
  constructor(url: string, readers: pg.Pool, { deadlineMs = 15_000 }: { deadlineMs?: number } = {}) {
    this.url = url;
    this.readers = readers;
    this.snapshots = new PostgresSnapshots(readers);
    this.writers = new pg.Pool({
      connectionString: url,
      max: 2,
      application_name: 'ledgerline-writer',
      connectionTimeoutMillis: deadlineMs,
      query_timeout: deadlineMs,
      statement_timeout: deadlineMs,
      idle_in_transaction_session_timeout: deadlineMs,
      keepAlive: true,
      options: '-c plan_cache_mode=force_generic_plan', // else the statements of a flush are planned anew each time
    });
    // A connection that dies, idle or at work, is replaced at its next use. At work, nobody else listens between two statements.
    this.writers.on('error', () => {});
    this.writers.on('connect', (client) => client.on('error', () => {}));
  }

  async append(batch: readonly Append[]): Promise<AppendOutcome[]> {
    return this.writing((client) => appendWith(client, batch));
  }

  async appendExclusively(
    stream: string,
    afterRevision: number,
    decide: (newer: LoggedEvent[]) => Promise<Append | undefined>,
  ): Promise<AppendOutcome | undefined> {
    return this.writing(async (client) => {
      await client.query('BEGIN');
      await client.query('SELECT position FROM log_head FOR UPDATE');
      const newer = await readStreamWith(client, stream, afterRevision);
      const append = await decide(newer);
      const [outcome] = append ? await appendWith(client, [append]) : [undefined];
      await client.query('COMMIT');
      return outcome;
    });
  }

  async readStream(stream: string, afterRevision: number, limit?: number): Promise<LoggedEvent[]> {
    return readStreamWith(this.readers, stream, afterRevision, limit);
  }

  async readStreamSince(stream: string, afterPosition: number): Promise<LoggedEvent[]> {
    const { rows } = await this.readers.query<EventRow>({
      name: 'read_stream_since',
      text: `SELECT ${EVENT_COLUMNS} FROM events WHERE stream = $1 AND position > $2 ORDER BY position`,
      values: [stream, afterPosition],
    });
    return rows.map(eventOf);
  }

  async loadStreams(streams: readonly string[], limit?: number): Promise<Map<string, StreamRead>> {
    const snapshots = await this.snapshots.load(streams);
    const found = new Map<string, StreamRead>(
      streams.map((stream) => [stream, { snapshot: snapshots.get(stream), events: [] }]),
    );
    // OFFSET 0: stream by stream, by the index. The planner would rather read the whole log as long as it knows too little of it.
    const events = await this.readers.query<EventRow>({
      name: 'load_streams',
      text: `SELECT e.* FROM unnest($1::text[], $2::bigint[]) AS s(name, after) CROSS JOIN LATERAL (
               SELECT ${EVENT_COLUMNS} FROM events WHERE stream = s.name AND revision > s.after ORDER BY revision LIMIT $3 OFFSET 0
             ) e ORDER BY e.position`,
      values: [streams, streams.map((stream) => found.get(stream)!.snapshot?.revision ?? -1), limit ?? null],
    });
    for (const row of events.rows) found.get(row.stream)!.events.push(eventOf(row));
    return found;
  }

  async readAll(
    after: number,
    limit: number,
    types?: readonly string[],
  ): Promise<{ events: LoggedEvent[]; upTo: number }> {
    if (!types) {
      const { rows } = await this.readers.query<EventRow>({
        name: 'read_all',
        text: `SELECT ${EVENT_COLUMNS} FROM events WHERE position > $1 ORDER BY position LIMIT $2`,
        values: [after, limit],
      });
      return { events: rows.map(eventOf), upTo: rows.length > 0 ? Number(rows.at(-1)!.position) : after };
    }
    const { rows } = await this.readers.query<TypedRow>({
      name: 'read_types',
      text: `SELECT h.position AS head, ${EVENT_COLUMNS.replace(/\w+/g, 'e.$&')}
               FROM log_head h LEFT JOIN LATERAL (
                 SELECT ${EVENT_COLUMNS} FROM events WHERE position > $1 AND position <= $2 AND type = ANY($3) ORDER BY position LIMIT $4
               ) e ON true ORDER BY e.position`,
      values: [after, after + limit * 10, types, limit],
    });
    const events = rows.filter((row): row is EventRow & { head: string } => row.position !== null);
    const known = Math.min(Number(rows[0]!.head), after + limit * 10);
    const upTo = events.length === limit ? Number(events.at(-1)!.position) : known;
    return { events: events.map(({ head: _, ...row }) => eventOf(row)), upTo };
  }

  async changedStreams(after: number): Promise<{ streams: { stream: string; revision: number }[]; upTo: number }> {
    const { rows } = await this.readers.query<{ stream: string; revision: string; up_to: string }>({
      name: 'changed_streams',
      text: `SELECT stream, max(revision) AS revision, max(max(position)) OVER () AS up_to
               FROM events WHERE position > $1 AND position <= $1 + ${CHANGES_AT_ONCE} GROUP BY stream`,
      values: [after],
    });
    const streams = rows.map(({ stream, revision }) => ({ stream, revision: Number(revision) }));
    return { streams, upTo: rows.length > 0 ? Number(rows[0]!.up_to) : after };
  }

  async head(): Promise<number> {
    const { rows } = await this.readers.query<{ position: string }>({
      name: 'head',
      text: 'SELECT position FROM log_head',
    });
    return Number(rows[0]!.position);
  }

  async subscribe(wake: (head: number) => void): Promise<() => Promise<void>> {
    this.wakers.add(wake);
    this.listener ??= listen(this.url, 'events', (payload) => {
      for (const waker of this.wakers) waker(Number(payload || 0));
    });
    await this.listener.ready;
    return async () => {
      this.wakers.delete(wake);
    };
  }

  async saveSnapshots(snapshots: readonly Snapshot[]): Promise<void> {
    await this.snapshots.save(snapshots);
  }

  /** Ends the writers' connections and the subscription; the readers' pool belongs to the caller. */
  async close(): Promise<void> {
    await this.listener?.close();
    await this.writers.end();
  }

  /** After an error nobody knows what the connection still does: it is destroyed, which also rolls back and unlocks. */
  private async writing<T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    const client = await this.writers.connect();
    try {
      const result = await work(client);
      client.release();
      return result;
    } catch (error) {
      client.release(true);
      throw error;
    }
  }
}

async function appendWith(client: Queryable, batch: readonly Append[]): Promise<AppendOutcome[]> {
  const append: number[] = [];
  const offset: number[] = [];
  const events = batch.flatMap((one, no) =>
    one.events.map((event, step) => {
      append.push(no + 1);
      offset.push(step);
      return { ...event, stream: one.stream };
    }),
  );
  const answers = batch.flatMap((one, no) => one.answers.map((answer) => ({ ...answer, append: no + 1 })));
  const joined = <T>(list: readonly T[], text: (item: T) => string) => list.map(text).join(SEPARATOR);
  const { rows } = await client.query<{ first_position: string | null; taken_key: string | null }>({
    ...APPEND,
    values: [
      joined(batch, (a) => a.stream),
      batch.map((a) => a.expectedRevision),
      append,
      offset,
      joined(events, (e) => e.stream),
      joined(events, (e) => e.id),
      joined(events, (e) => e.type),
      joined(events, (e) => e.payload),
      joined(events, (e) => e.metadata),
      answers.map((a) => a.append),
      joined(answers, (a) => a.key),
      joined(answers, (a) => a.bodyHash),
      answers.map((a) => a.status),
      joined(answers, (a) => a.body),
    ],
  });
  return rows.map((row) => {
    if (row.taken_key !== null) return { outcome: 'key-taken', key: row.taken_key };
    if (row.first_position === null) return { outcome: 'conflict' };
    return { outcome: 'appended', firstPosition: Number(row.first_position) };
  });
}

async function readStreamWith(
  client: Queryable,
  stream: string,
  afterRevision: number,
  limit?: number,
): Promise<LoggedEvent[]> {
  const { rows } = await client.query<EventRow>({
    name: 'read_stream',
    text: `SELECT ${EVENT_COLUMNS} FROM events WHERE stream = $1 AND revision > $2 ORDER BY revision LIMIT $3`,
    values: [stream, afterRevision, limit ?? null],
  });
  return rows.map(eventOf);
}

interface EventRow {
  position: string;
  stream: string;
  revision: string;
  id: string;
  type: string;
  payload: string;
  metadata: string;
}

/** The head beside each event, or alone when there is none. */
type TypedRow = { head: string } & (EventRow | { position: null });

const eventOf = (row: EventRow): LoggedEvent => ({
  ...row,
  position: Number(row.position),
  revision: Number(row.revision),
});
