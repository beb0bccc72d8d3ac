import DataLoader from 'dataloader';
import type { Tenant } from '../kernel/messages.ts';

interface Wanted {
  id: string;
  tenant: Tenant;
}

type Query = { name: string; text: string; values: string[][] };

const ROWS_AT_ONCE = 200;

/**
 * The state texts of single rows of a read table. Those that are wanted in the same turn of the event loop share a query, which under
 * load serves many requests. Nothing is remembered. A row is found by its id, platform and environment together.
 */
export function rowsById(
  run: (query: Query) => Promise<{ rows: { n: string; state: string }[] }>,
  table: string,
): DataLoader<Wanted, string | undefined> {
  const query = {
    name: `by_id_${table}`,
    text: `SELECT wanted.n, rows.state
             FROM unnest($1::text[], $2::text[], $3::text[]) WITH ORDINALITY AS wanted(id, platform, environment, n)
             JOIN ${table} rows ON rows.id = wanted.id AND rows.platform = wanted.platform AND rows.environment = wanted.environment`,
  };
  const read = async (wanted: readonly Wanted[]) => {
    const states = Array<string | undefined>(wanted.length).fill(undefined);
    const { rows } = await run({
      ...query,
      values: [
        wanted.map(({ id }) => id),
        wanted.map(({ tenant }) => tenant.platform),
        wanted.map(({ tenant }) => tenant.environment),
      ],
    });
    for (const { n, state } of rows) states[Number(n) - 1] = state;
    return states;
  };
  return new DataLoader(read, {
    cache: false,
    maxBatchSize: ROWS_AT_ONCE,
    batchScheduleFn: (go) => setImmediate(go),
  });
}
