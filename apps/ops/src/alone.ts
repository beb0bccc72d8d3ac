import pg from 'pg';
import { connection } from '../../../libs/adapters/postgres/connection.ts';
import type { Engine } from '../../shared/engine.ts';

const ALONE_LOCK = 4_905;

/** Does something that no other command does on this database meanwhile, on whatever machine. `refusal`: what is thrown when one does. */
export async function alone<T>(
  { url }: Pick<Engine, 'url'>,
  what: string,
  refusal: string,
  work: () => Promise<T>,
): Promise<T> {
  const client = new pg.Client(connection(url, 'ledgerline-ops'));
  client.on('error', () => {}); // with the database the work fails, too, and says so
  await client.connect();
  try {
    const { rows } = await client.query<{ mine: boolean }>('SELECT pg_try_advisory_lock($1, hashtext($2)) AS mine', [
      ALONE_LOCK,
      what,
    ]);
    if (!rows[0]!.mine) throw new Error(refusal);
    return await work();
  } finally {
    await client.end();
  }
}
