import pg from 'pg';
import { PostgresEventStore } from '../../libs/adapters/postgres/event-store.ts';
import { envelope, PutIn, purse, writePathOn } from '../../libs/runtime/execute.examples.ts';

/**
 * One of several processes that write the same streams: puts the coins `from`, `from + 1`, … into every purse, some under way at once,
 * and prints what was acknowledged. Sends every tenth command twice, as after a lost answer.
 */
const [url, from, count, ...purses] = process.argv.slice(2) as [string, string, string, ...string[]];
const pool = new pg.Pool({ connectionString: url, max: 3 });
const store = new PostgresEventStore(url, pool);
const { path } = writePathOn(store);

async function fill(purseId: string): Promise<void> {
  const since = await store.head();
  for (let coin = Number(from); coin < Number(from) + Number(count); coin += 5) {
    const coins = [coin, coin + 1, coin + 2, coin + 3, coin + 4];
    const done = await Promise.all(coins.map((one) => putIn(purseId, one, since)));
    if (coin % 10 === 0) await putIn(purseId, coin, since);
    for (const { position } of done) process.stdout.write(`${purseId} ${position}\n`);
  }
}

function putIn(purseId: string, coin: number, since: number) {
  return path.execute(purse, new PutIn({ purseId, coin }), envelope({ commandId: `${purseId}/${coin}`, since }));
}

process.stdout.write('ready\n');
await new Promise((resolve) => process.stdin.once('data', resolve));
await Promise.all(purses.map(fill));
await path.drain();
await store.close();
await pool.end();
process.stdin.destroy();
