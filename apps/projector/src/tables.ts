import { finished } from 'node:stream/promises';
import type pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { fromJson, toJson } from '../../../libs/kernel/json.ts';
import type { AnyProjection, ColumnType, Row } from '../../../libs/kernel/projection.ts';

/** JSON text never holds this control character: lists of states travel joined by it, which saves escaping every quote in them. */
const SEPARATOR = '\u001e';

type Queryable = Pick<pg.ClientBase, 'query'>;

const SQL_TYPE: Record<ColumnType, string> = {
  text: 'text',
  bigint: 'bigint',
  int: 'int',
  boolean: 'boolean',
  timestamptz: 'timestamptz',
  state: 'text',
  'text[]': 'text[]',
};

/**
 * Prepares a connection that reads rows by their ids and writes them. A plan that was made while a table was small, or has no statistics,
 * would go on reading all of it. What is written can be made anew from the log, so no commit waits for the disk.
 */
export async function prepareSession(client: Queryable): Promise<void> {
  await client.query('SET synchronous_commit = off');
  await client.query('SET enable_seqscan = off');
}

/** Leaves the plans to the planner again: for the comparison of whole tables. */
export async function planAsUsual(client: Queryable): Promise<void> {
  await client.query('RESET enable_seqscan');
}

/** The SQL of one read table: create, read rows by id, write rows. `table` is the name to use, the live one or a rebuild's. */
export class ReadTable {
  readonly projection: AnyProjection;
  readonly table: string;
  private readonly columns: readonly (readonly [string, ColumnType])[];

  constructor(projection: AnyProjection, table = projection.name) {
    this.projection = projection;
    this.table = table;
    this.columns = [['id', 'text'], ...(Object.entries(projection.columns) as [string, ColumnType][])];
  }

  /** States are never searched, and costly to gather statistics of. */
  async create(db: Queryable): Promise<void> {
    const columns = this.columns.map(
      ([name, type]) => `${name} ${SQL_TYPE[type]}${name === 'id' ? ' PRIMARY KEY' : ''}`,
    );
    await db.query(`CREATE TABLE IF NOT EXISTS ${this.table} (${columns.join(', ')}) WITH (fillfactor = 80)`);
    for (const [name, type] of this.columns) {
      if (type === 'state') await db.query(`ALTER TABLE ${this.table} ALTER COLUMN ${name} SET STATISTICS 0`);
    }
  }

  async createIndexes(db: Queryable): Promise<void> {
    for (const statement of this.indexStatements()) await db.query(statement);
  }

  indexStatements(): string[] {
    return this.projection.indexes.map((index, i) => {
      const unique = index.startsWith('UNIQUE ') ? 'UNIQUE ' : '';
      return `CREATE ${unique}INDEX IF NOT EXISTS ${this.table}_${i + 1} ON ${this.table} ${index.slice(unique.length)}`;
    });
  }

  async read(db: Queryable, ids: readonly string[]): Promise<Row[]> {
    const { rows } = await db.query<Row>({
      name: `read_${this.table}`,
      text: `SELECT ${this.columns.map(([name, type]) => (type === 'timestamptz' ? isoColumn(name) : name)).join(', ')}
             FROM ${this.table} WHERE id = ANY($1)`,
      values: [ids],
    });
    return rows.map((row) => this.decoded(row));
  }

  /** Writes rows whole. Rows of a projection without keys are only inserted; one that is there already stays. */
  async write(db: Queryable, rows: readonly Row[]): Promise<void> {
    if (rows.length === 0) return;
    const names = this.columns.map(([name]) => name);
    const changes = names.slice(1).map((name) => `${name} = excluded.${name}`);
    const source = this.columns.map(([, type], i) => {
      if (type === 'state') return `string_to_array($${i + 1}, E'\\x1e')`;
      return type === 'text[]' ? `$${i + 1}::text[]` : `$${i + 1}::${SQL_TYPE[type]}[]`;
    });
    const select = this.columns.map(([name, type]) =>
      type === 'text[]' ? `string_to_array(${name}, E'\\x1e') AS ${name}` : name,
    );
    await db.query({
      name: `write_${this.table}`,
      text: `INSERT INTO ${this.table} (${names.join(', ')})
             SELECT ${select.join(', ')} FROM unnest(${source.join(', ')}) AS rows(${names.join(', ')})
             ON CONFLICT (id) DO ${this.projection.insertOnly ? 'NOTHING' : `UPDATE SET ${changes.join(', ')}`}`,
      values: this.columns.map(([name, type]) => {
        const values = rows.map((row) => encoded(row[name], type));
        return type === 'state' ? values.join(SEPARATOR) : values;
      }),
    });
  }

  /**
   * Adds rows that are not in the table, which is cheaper than to write them. Throws the database's error `23505` when one is there
   * after all; nothing is added then.
   */
  async add(db: Queryable, rows: readonly Row[]): Promise<void> {
    const names = this.columns.map(([name]) => name);
    const copying = await db.query(copyFrom(`COPY ${this.table} (${names.join(', ')}) FROM STDIN`));
    const line = (row: Row) => this.columns.map(([name, type]) => copied(encoded(row[name], type), type)).join('\t');
    copying.end(`${rows.map(line).join('\n')}\n`);
    await finished(copying);
  }

  private decoded(row: Row): Row {
    for (const [name, type] of this.columns) {
      const value = row[name];
      if (value === null) delete row[name];
      else if (type === 'bigint') row[name] = BigInt(value as string);
      else if (type === 'state') row[name] = fromJson(value as string);
    }
    return row;
  }
}

function encoded(value: unknown, type: ColumnType): unknown {
  if (value === undefined || value === null) return null;
  if (type === 'state') return toJson(value);
  if (type === 'text[]') return (value as string[]).join(SEPARATOR);
  return typeof value === 'bigint' ? value.toString() : value;
}

const SPECIAL = /[\\\t\n\r]/g;
const ESCAPED: Readonly<Record<string, string>> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' };

/** An encoded value in the text format of COPY. */
function copied(value: unknown, type: ColumnType): string {
  if (value === null) return '\\N';
  const text = type === 'text[]' ? arrayOf(value as string) : String(value);
  return text.replace(SPECIAL, (one) => ESCAPED[one]!);
}

const arrayOf = (joined: string): string =>
  joined === ''
    ? '{}'
    : `{${joined
        .split(SEPARATOR)
        .map((one) => `"${one.replace(/["\\]/g, '\\$&')}"`)
        .join(',')}}`;

/** A timestamptz as RFC 3339 UTC text with milliseconds, the way events carry it. */
export const isoColumn = (name: string): string =>
  `to_char(${name} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS ${name}`;
