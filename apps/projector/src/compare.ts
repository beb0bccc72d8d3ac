import { isDeepStrictEqual } from 'node:util';
import type pg from 'pg';
import type { AnyProjection } from '../../../libs/kernel/projection.ts';

/**
 * Whether two tables hold the same rows, by a checksum over all of them: quick, and certain enough where nobody is suspected. Two that
 * are told apart may still be equal by value: compare them.
 */
export async function haveSameRows(client: pg.ClientBase, one: string, other: string): Promise<boolean> {
  const sum = (table: string) =>
    `(SELECT (count(*), COALESCE(sum(hash_record_extended(t, 0)::numeric), 0)) FROM ${table} t)`;
  const { rows } = await client.query<{ same: boolean }>(`SELECT ${sum(one)} = ${sum(other)} AS same`);
  return rows[0]!.same;
}

/** How two rows of the same id differ: a column or a path in `state`, with the values of both; undefined where there is none. */
export interface Difference {
  id: string;
  /** `(row)` when the row is in one of the tables only. */
  field: string;
  live: unknown;
  rebuilt: unknown;
}

export interface Comparison {
  /** Rows that differ. */
  differing: number;
  /** Of the first rows that differ. */
  differences: Difference[];
}

const ROWS_PER_FETCH = 1_000;

/**
 * Compares a read table with one that was rebuilt, row by row, in the transaction that `client` is in. Two states are equal when they
 * hold the same values: the order of their members says nothing.
 */
export async function compareTables(
  client: pg.ClientBase,
  projection: AnyProjection,
  tables: { live: string; rebuilt: string },
  show: number,
): Promise<Comparison> {
  const columns = Object.keys(projection.columns);
  const selected = columns.map((name) => `l.${name}::text AS l_${name}, r.${name}::text AS r_${name}`);
  const unequal = columns.map((name) => `l.${name} IS DISTINCT FROM r.${name}`);
  await client.query(`
    DECLARE unequal NO SCROLL CURSOR FOR
    SELECT l.id AS l_id, r.id AS r_id, ${selected.join(', ')}
      FROM ${tables.live} l FULL JOIN ${tables.rebuilt} r ON l.id = r.id
     WHERE l.id IS NULL OR r.id IS NULL OR ${unequal.join(' OR ')}`);
  const found: Comparison = { differing: 0, differences: [] };
  for (;;) {
    const { rows } = await client.query<Record<string, string | null>>(`FETCH ${ROWS_PER_FETCH} FROM unequal`);
    if (rows.length === 0) break;
    for (const row of rows) {
      const differences = differencesOf(row, projection);
      if (differences.length === 0) continue;
      if (found.differing < show) found.differences.push(...differences);
      found.differing += 1;
    }
  }
  await client.query('CLOSE unequal');
  return found;
}

function differencesOf(row: Record<string, string | null>, projection: AnyProjection): Difference[] {
  const id = (row.l_id ?? row.r_id)!;
  if (row.l_id === null) return [{ id, field: '(row)', live: undefined, rebuilt: 'present' }];
  if (row.r_id === null) return [{ id, field: '(row)', live: 'present', rebuilt: undefined }];
  return Object.entries(projection.columns).flatMap(([name, type]) => {
    const live = row[`l_${name}`] ?? undefined;
    const rebuilt = row[`r_${name}`] ?? undefined;
    if (live === rebuilt) return [];
    if (type !== 'state') return [{ id, field: name, live, rebuilt }];
    return changedPaths(JSON.parse(live ?? 'null'), JSON.parse(rebuilt ?? 'null')).map((change) => ({
      id,
      field: ['state', ...change.path].join('.'),
      live: change.before,
      rebuilt: change.after,
    }));
  });
}

/** The places where two JSON values differ, as deep as both are objects. */
export function changedPaths(
  before: unknown,
  after: unknown,
  path: readonly string[] = [],
): { path: readonly string[]; before: unknown; after: unknown }[] {
  if (isDeepStrictEqual(before, after)) return [];
  if (!isObject(before) || !isObject(after)) return [{ path, before, after }];
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].flatMap((name) => changedPaths(before[name], after[name], [...path, name]));
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
