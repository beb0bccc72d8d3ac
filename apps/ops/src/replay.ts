import { PostgresEventStore } from '../../../libs/adapters/postgres/event-store.ts';
import type { LoggedEvent } from '../../../libs/kernel/event-store.port.ts';
import type { Engine } from '../../shared/engine.ts';
import { howFar, type Output } from './output.ts';

export interface ReplayOptions {
  /** Only events with a greater position. */
  after?: number;
  /** Up to this position; the head at the start when absent. */
  upTo?: number;
  types?: readonly string[];
  batchSize?: number;
  /** Told how far it is, and asked whether to go on. */
  out?: Pick<Output, 'progress'>;
}

const BATCH_SIZE = 1_000;

/** Reads the log in order, batch by batch; the next batch is fetched while one is being looked at. */
export async function* replay(
  { store }: Pick<Engine, 'store'>,
  options: ReplayOptions = {},
): AsyncGenerator<LoggedEvent[]> {
  const { after = 0, types, batchSize = BATCH_SIZE, out } = options;
  const upTo = options.upTo ?? (await store.head());
  const read = (position: number) => (position < upTo ? store.readAll(position, batchSize, types) : undefined);
  const startedMs = performance.now();
  let position = after;
  let ahead = read(after);
  while (ahead) {
    const { events, upTo: reached } = await ahead;
    if (reached <= position) return; // the log ends before
    position = reached;
    ahead = read(position);
    ahead?.catch(() => {}); // awaited in the next round, unless the reader stops before
    const wanted = events.filter((event) => event.position <= upTo);
    if (wanted.length > 0) yield wanted;
    const seconds = (performance.now() - startedMs) / 1_000;
    out?.progress(() => howFar({ position: Math.min(position, upTo), upTo, rate: (position - after) / seconds }));
  }
}

/** Whether positions follow each other without a gap: Postgres promises that, other stores only that they grow. */
export const isGapless = ({ store }: Pick<Engine, 'store'>): boolean =>
  (store as unknown) instanceof PostgresEventStore;
