import { Lease, LeaseLost } from '../../libs/adapters/postgres/lease.ts';
import { checkpointsOf } from '../../libs/adapters/postgres/live-checkpoints.ts';
import type { Tenant } from '../../libs/kernel/messages.ts';
import type { AnyProjection } from '../../libs/kernel/projection.ts';
import type { Engine } from './engine.ts';

/** Whose rows of which table are meant. */
export interface Held {
  table: AnyProjection;
  tenant: Tenant;
  customerId: string;
}

interface StateRow {
  id: string;
  /** JSON. PostgreSQL reads none that holds NUL or lone surrogates, so it is read and edited here. */
  state: string;
}

/** How many states are in memory at a time. */
const BATCH = 500;

async function* batches({ pool }: Pick<Engine, 'pool'>, { table, tenant, customerId }: Held): AsyncGenerator<string[]> {
  const { rows } = await pool.query<{ id: string }>(
    `SELECT id FROM ${table.name} WHERE customer = $1 AND platform = $2 AND environment = $3`,
    [customerId, tenant.platform, tenant.environment],
  );
  const ids = rows.map(({ id }) => id);
  while (ids.length > 0) yield ids.splice(0, BATCH);
}

async function read({ pool }: Pick<Engine, 'pool'>, { table }: Held, ids: string[]): Promise<StateRow[]> {
  const { rows } = await pool.query<StateRow>(`SELECT id, state FROM ${table.name} WHERE id = ANY($1)`, [ids]);
  return rows;
}

/** The ids of the customer's rows whose state satisfies; `limit` of them at most. */
export async function idsWhere(
  engine: Pick<Engine, 'pool'>,
  held: Held,
  satisfies: (state: Record<string, unknown>) => boolean,
  limit: number,
): Promise<string[]> {
  const found: string[] = [];
  for await (const ids of batches(engine, held)) {
    for (const { id, state } of await read(engine, held, ids)) if (satisfies(JSON.parse(state))) found.push(id);
    if (found.length >= limit) break;
  }
  return found.slice(0, limit);
}

/**
 * Changes rows of a platform while no projector can: one that knows them would write them back as they were. It reads them anew when it
 * goes on.
 */
export async function whileNobodyProjects<T>(
  { pool, partitions }: Pick<Engine, 'pool' | 'partitions'>,
  tenant: Tenant,
  work: () => Promise<T>,
): Promise<T> {
  const name = checkpointsOf(partitions)[partitions.partitionOf(tenant.platform)]!;
  const lease = new Lease(pool, name, { role: 'erase' });
  await lease.seize();
  try {
    const done = await work();
    if (lease.token === undefined) throw new LeaseLost(name); // the erasure has to be repeated
    return done;
  } finally {
    await lease.release();
  }
}

/**
 * Takes fields out of the states of the customer's rows: those that `fieldsOf` names for a row. Answers how many rows had any. A row that is
 * written meanwhile is read again.
 */
export async function blankFields(
  engine: Pick<Engine, 'pool'>,
  held: Held,
  fieldsOf: (id: string, state: Record<string, unknown>) => Promise<readonly string[]>,
): Promise<number> {
  let blanked = 0;
  for await (const ids of batches(engine, held)) {
    for (;;) {
      const rows = await Promise.all(
        (await read(engine, held, ids)).map(async (row) => {
          const state = JSON.parse(row.state) as Record<string, unknown>;
          return { ...row, blank: without(state, await fieldsOf(row.id, state)) };
        }),
      );
      const edited = rows.filter(({ blank }) => blank !== undefined);
      if (edited.length === 0) break;
      const { rowCount } = await engine.pool.query(
        `UPDATE ${held.table.name} held SET state = edited.blank
           FROM unnest($1::text[], $2::text[], $3::text[]) AS edited(id, state, blank)
          WHERE held.id = edited.id AND held.state = edited.state`,
        [edited.map(({ id }) => id), edited.map(({ state }) => state), edited.map(({ blank }) => blank)],
      );
      blanked += rowCount ?? 0;
    }
  }
  return blanked;
}

/** The state without the fields; undefined when it has none of them. */
function without(state: Record<string, unknown>, fields: readonly string[]): string | undefined {
  const present = fields.filter((field) => Object.hasOwn(state, field));
  if (present.length === 0) return undefined;
  for (const field of present) delete state[field];
  return JSON.stringify(state);
}
