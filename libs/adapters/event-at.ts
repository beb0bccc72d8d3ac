import type { EventStore, LoggedEvent } from '../kernel/event-store.port.ts';

/** The event that a store has at a position; undefined when none begins there. */
export async function eventAt(store: Pick<EventStore, 'readAll'>, position: number): Promise<LoggedEvent | undefined> {
  const [next] = (await store.readAll(position - 1, 1)).events;
  return next?.position === position ? next : undefined;
}
