import pg from 'pg';
import { EventStoreDb } from '../../libs/adapters/eventstoredb/event-store.ts';
import { MemoryEventStore } from '../../libs/adapters/memory/event-store.ts';
import { PostgresEventStore } from '../../libs/adapters/postgres/event-store.ts';
import { PostgresKeyedAnswers } from '../../libs/adapters/postgres/keyed-answers.ts';
import { ReservedAnswers } from '../../libs/adapters/postgres/reserved-answers.ts';
import type { EventStore, KeyedAnswer } from '../../libs/kernel/event-store.port.ts';
import { migrate } from '../../migrations/index.ts';
import { freshDatabase } from '../database.ts';
import { startEventStoreServer } from '../eventstoredb/server.ts';

/** An event store to be tried, with a look at what it remembers of keyed requests. */
export interface TestStore {
  store: EventStore;
  /** True where positions follow each other without a gap, in the order of a batch, and writers exclude each other. */
  isContiguous: boolean;
  /** True where nobody else writes. */
  isEmpty: boolean;
  answer(key: string): Promise<KeyedAnswer | undefined>;
  stop(): Promise<void>;
}

/** Every adapter of the port, empty. */
export const eventStores: Readonly<Record<string, () => Promise<TestStore>>> = {
  async memory() {
    const store = new MemoryEventStore();
    return {
      store,
      isContiguous: true,
      isEmpty: true,
      answer: async (key) => store.answers.get(key),
      stop: async () => {},
    };
  },
  async postgres() {
    const database = await freshDatabase();
    await migrate(database.url);
    const pool = new pg.Pool({ connectionString: database.url, max: 5 });
    const store = new PostgresEventStore(database.url, pool);
    return {
      store,
      isContiguous: true,
      isEmpty: true,
      answer: (key) => new PostgresKeyedAnswers(pool).find(key),
      async stop() {
        await store.close();
        await pool.end();
        await database.drop();
      },
    };
  },
  async 'eventstoredb protocol'() {
    const server = await startEventStoreServer();
    return eventStoreDb(server.url, () => server.stop());
  },
  ...(process.env.ESDB_TEST_URL && {
    'eventstoredb server': async () => ({ ...(await eventStoreDb(process.env.ESDB_TEST_URL!)), isEmpty: false }),
  }),
};

async function eventStoreDb(url: string, stopServer: () => Promise<void> = async () => {}): Promise<TestStore> {
  const database = await freshDatabase();
  await migrate(database.url);
  const pool = new pg.Pool({ connectionString: database.url, max: 5 });
  const answers = new ReservedAnswers(pool, () => 0);
  const store = new EventStoreDb({ url, pool, answers, log: () => {} });
  return {
    store,
    isContiguous: false,
    isEmpty: true,
    answer: (key) => answers.find(key),
    async stop() {
      await store.close();
      await stopServer();
      await pool.end();
      await database.drop();
    },
  };
}
