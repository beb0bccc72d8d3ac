import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { EventStoreDb, type EventStoreDbOptions } from '../../libs/adapters/eventstoredb/event-store.ts';
import type { Append, KeyedAnswer, StoredEvent } from '../../libs/kernel/event-store.port.ts';

/** The adapter without Postgres: there are no snapshots, and answers are in memory. Short of patience unless told otherwise. */
export function bareStore(url: string, options: Partial<EventStoreDbOptions> = {}) {
  const answers = new Map<string, KeyedAnswer>();
  const logged: string[] = [];
  const store = new EventStoreDb({
    url,
    pool: { query: async () => ({ rows: [] }) } as unknown as pg.Pool,
    answers: {
      taken: async (keys) => new Set(keys.filter((key) => answers.has(key))),
      async record(list) {
        const known = list.filter(({ key }) => answers.has(key)).map(({ key }) => key);
        for (const one of list) if (!answers.has(one.key)) answers.set(one.key, one);
        return new Set(known);
      },
    },
    log: (level, message) => logged.push(`${level}: ${message}`),
    deadlineMs: 20_000,
    attemptMs: 2_000, // calls are counted: one that is only slow is not to be made again
    watchMs: 300,
    ...options,
  });
  return { store, answers, logged };
}

export const event = (type = 'Happened', payload = '{"n":1}'): StoredEvent => ({
  id: randomUUID(),
  type,
  payload,
  metadata: '{"commandId":"c"}',
});

export const append = (stream: string, expectedRevision: number, count = 1): Append => ({
  stream,
  expectedRevision,
  events: Array.from({ length: count }, () => event()),
  answers: [],
});

export const fresh = (): string => `thing-${randomUUID()}`;
