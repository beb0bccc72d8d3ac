import { onOwnConnection } from '../../../libs/adapters/postgres/own-connection.ts';
import type { Engine } from '../../shared/engine.ts';

const ALONE_LOCK = 4_905;

/** Does something that no other command does on this database meanwhile, on whatever machine. `refusal`: what is thrown when one does. */
export const alone = <T>(
  { url }: Pick<Engine, 'url'>,
  what: string,
  refusal: string,
  work: () => Promise<T>,
): Promise<T> =>
  onOwnConnection(url, 'ledgerline-ops', async (client) => {
    const { rows } = await client.query<{ mine: boolean }>('SELECT pg_try_advisory_lock($1, hashtext($2)) AS mine', [
      ALONE_LOCK,
      what,
    ]);
    if (!rows[0]!.mine) throw new Error(refusal);
    return work();
  });
