import pg from 'pg';
import { MemoryEventStore } from '../../libs/adapters/memory/event-store.ts';
import { PostgresEventStore } from '../../libs/adapters/postgres/event-store.ts';
import type { EventStore, KeyedAnswer } from '../../libs/kernel/event-store.port.ts';
import { migrate } from '../../migrations/index.ts';
import { freshDatabase } from '../database.ts';

/** An event store to be tried, with a look at what it remembers of keyed requests. */
export interface TestStore {
  store: EventStore;
  answer(key: string): Promise<KeyedAnswer | undefined>;
  stop(): Promise<void>;
}

/** Every adapter of the port, empty. */
export const eventStores: Readonly<Record<string, () => Promise<TestStore>>> = {
  async memory() {
    const store = new MemoryEventStore();
    return { store, answer: async (key) => store.answers.get(key), stop: async () => {} };
  },
  async postgres() {
    const database = await freshDatabase();
    await migrate(database.url);
    const pool = new pg.Pool({ connectionString: database.url, max: 5 });
    const store = new PostgresEventStore(database.url, pool);
    return {
      store,
      async answer(key) {
        const { rows } = await pool.query(
          'SELECT key, body_hash AS "bodyHash", status, body FROM keyed_answers WHERE key = $1',
          [key],
        );
        return rows[0];
      },
      async stop() {
        await store.close();
        await pool.end();
        await database.drop();
      },
    };
  },
};
