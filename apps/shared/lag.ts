import type { Engine } from './engine.ts';

/** How long the oldest event that waits may have been waiting before whoever should have carried it counts as not ready. */
export const READY_LAG_SECONDS = 10;

/** How far something is behind the log. */
export interface Lag {
  /** Positions; on stores whose positions have gaps there are fewer events than that. */
  events: number;
  /** Age of the oldest event that waits; 0 when none does. */
  seconds: number;
}

/** How far a reader of the log is behind that has seen everything up to `position`, or everything of these types. */
export async function lagAfter(
  { store, clock }: Pick<Engine, 'store' | 'clock'>,
  position: number,
  types?: readonly string[],
): Promise<Lag> {
  const head = await store.head();
  if (head <= position) return { events: 0, seconds: 0 };
  const { events } = await store.readAll(position, 1, types);
  const [oldest] = events;
  if (!oldest) return { events: 0, seconds: 0 };
  const { at } = JSON.parse(oldest.metadata) as { at: string };
  return { events: head - position, seconds: Math.max(0, (clock.nowMs() - Date.parse(at)) / 1_000) };
}
