import pg from 'pg';
import { connection } from './connection.ts';

/**
 * Does something on a connection of its own, under the name by which operators find it, and ends that: what it holds, such as a lock or a
 * temporary table, ends with it, however the work ends.
 */
export async function onOwnConnection<T>(
  url: string,
  name: string,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = new pg.Client(connection(url, name));
  client.on('error', () => {}); // its next query fails and says so
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
