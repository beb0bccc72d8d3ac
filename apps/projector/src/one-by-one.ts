import { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import type pg from 'pg';

type Queryable = Pick<pg.ClientBase, 'query'>;

/** A connection that several parties may ask at once: their queries are sent one after the other, and what is copied is let in whole. */
export function oneByOne(client: pg.ClientBase): Queryable {
  let last: Promise<unknown> = Promise.resolve();
  const query = (...args: Parameters<typeof client.query>) => {
    const result = last.then(() => client.query(...args) as unknown);
    const over = result.then((said) => (said instanceof Writable ? finished(said) : undefined));
    last = over.catch(() => {}); // whoever asked is told
    return result;
  };
  return { query: query as unknown as Queryable['query'] };
}
