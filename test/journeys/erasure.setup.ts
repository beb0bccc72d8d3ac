import type { TestPlatform } from '../platform.ts';

/** The tables and how often each holds what is sought: nothing where no trace is left. Sought is what ciphertext does not spell by chance. */
export async function traces({ engine: { pool } }: Pick<TestPlatform, 'engine'>, sought: RegExp): Promise<object> {
  const tables = await pool.query<{ name: string }>(
    `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public' AND table_type = 'BASE TABLE'`,
  );
  const found = await Promise.all(
    tables.rows.map(async ({ name }): Promise<[string, number]> => {
      const { rows } = await pool.query<{ text: string }>(`SELECT t::text AS text FROM ${name} t`);
      return [name, rows.filter(({ text }) => sought.test(text)).length];
    }),
  );
  return Object.fromEntries(found.filter(([, count]) => count > 0));
}

/** The uuid of a public id. */
export const uuidOf = (id: string): string => id.slice(id.indexOf(':') + 1);
