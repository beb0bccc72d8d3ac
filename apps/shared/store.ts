import type pg from 'pg';
import { PostgresEventStore } from '../../libs/adapters/postgres/event-store.ts';
import { PostgresKeyedAnswers } from '../../libs/adapters/postgres/keyed-answers.ts';
import { ReservedAnswers } from '../../libs/adapters/postgres/reserved-answers.ts';
import type { EventStore, KeyedAnswers } from '../../libs/kernel/event-store.port.ts';
import type { Log } from './supervised-thread.ts';

/** The log of a deployment, whichever store keeps it. */
export type Store = EventStore & { close(): Promise<void> };

export interface StoreOptions {
  /** Connection string of EventStoreDB; absent: the log is in Postgres. */
  esdbUrl?: string | undefined;
  /** The Postgres of the deployment, with a pool on it. */
  url: string;
  pool: pg.Pool;
  log: Log;
}

/** The event store that a configuration names, and where the answers of keyed requests are kept beside it. */
export async function openStore({
  esdbUrl,
  url,
  pool,
  log,
}: StoreOptions): Promise<{ store: Store; answers: KeyedAnswers }> {
  if (!esdbUrl) return { store: new PostgresEventStore(url, pool), answers: new PostgresKeyedAnswers(pool) };
  const { EventStoreDb } = await import('../../libs/adapters/eventstoredb/event-store.ts');
  const answers: ReservedAnswers = new ReservedAnswers(pool, () => store.seen);
  const store = new EventStoreDb({ url: esdbUrl, pool, answers, log });
  return { store, answers };
}
