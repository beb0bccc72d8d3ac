import type pg from 'pg';
import type { LoggedEvent } from '../../../libs/kernel/event-store.port.ts';

export interface StreamFault {
  stream: string;
  message: string;
}

type Queryable = Pick<pg.ClientBase, 'query'>;

/** An event of a stream, and the revision and position of the one before it. */
interface FollowedRow {
  stream: string;
  revision: string;
  before: string;
  position: string;
  earlier: string;
}

const LIMIT = 1_000;
const TABLE = 'pg_temp.log__replay';

/**
 * Whether the revisions of each stream start at 0 and follow one another in the order of the log, and no event is there twice. The database
 * sorts: it looks at the log itself where that is a table of its own, else at a temporary one that is filled on the way.
 */
export class StreamCheck {
  private readonly db: Queryable;
  private readonly isTable: boolean;

  constructor(db: Queryable, isTable: boolean) {
    this.db = db;
    this.isTable = isTable;
  }

  async begin(): Promise<void> {
    if (!this.isTable)
      await this.db.query(
        `CREATE TEMPORARY TABLE log__replay (stream text, revision bigint, position bigint, id uuid)`,
      );
  }

  async take(logged: readonly LoggedEvent[]): Promise<void> {
    if (this.isTable) return;
    await this.db.query({
      name: 'log_replay',
      text: `INSERT INTO ${TABLE} SELECT * FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::uuid[])`,
      values: [
        logged.map(({ stream }) => stream),
        logged.map(({ revision }) => revision),
        logged.map(({ position }) => position),
        logged.map(({ id }) => id),
      ],
    });
  }

  async *faults(): AsyncGenerator<StreamFault> {
    const table = this.isTable ? 'events' : TABLE;
    const { rows } = await this.db.query<FollowedRow>(
      `SELECT stream, revision, before, position, earlier FROM (
         SELECT stream, revision, position, lag(revision, 1, -1) OVER w AS before, lag(position, 1, 0) OVER w AS earlier
           FROM ${table} WINDOW w AS (PARTITION BY stream ORDER BY revision)
       ) AS followed WHERE revision <> before + 1 OR position <= earlier ORDER BY position LIMIT ${LIMIT}`,
    );
    for (const { stream, revision, before, position, earlier } of rows) {
      const isNext = Number(revision) === Number(before) + 1;
      const told = isNext ? `lies before revision ${before} at position ${earlier}` : `follows revision ${before}`;
      yield { stream, message: `revision ${revision} at position ${position} ${told}` };
    }
    const twice = await this.db.query<{ stream: string; id: string; positions: string }>(
      `SELECT min(stream) AS stream, id, string_agg(position::text, ' and ' ORDER BY position) AS positions
         FROM ${table} GROUP BY id HAVING count(*) > 1 ORDER BY min(position) LIMIT ${LIMIT}`,
    );
    for (const { stream, id, positions } of twice.rows)
      yield { stream, message: `event ${id} is there more than once, at positions ${positions}` };
  }
}
