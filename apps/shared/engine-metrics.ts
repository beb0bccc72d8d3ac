import { counter, gauge, histogram } from '../../libs/runtime/http/index.ts';
import type { Engine } from './engine.ts';

const BATCH_SIZES = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000];

/** What the write path and the projector tell Prometheus. Node's own metrics (event loop lag, memory) come with the HTTP kit. */
export function engineMetrics() {
  const appendSeconds = histogram('append_duration_seconds', 'Time from a flush to its commit.');
  const appends = histogram('append_batch_appends', 'Streams appended to in one flush.', [], BATCH_SIZES);
  const events = counter('events_appended_total', 'Events written to the log.');
  const projectSeconds = histogram('projection_batch_duration_seconds', 'Time to project one batch of events.');
  const projected = histogram('projection_batch_events', 'Events projected in one batch.', [], BATCH_SIZES);
  return {
    flushed(flush: { appends: number; events: number; ms: number }) {
      appendSeconds.observe(flush.ms / 1_000);
      appends.observe(flush.appends);
      events.inc(flush.events);
    },
    advanced(batch: { events: number; ms: number }) {
      projectSeconds.observe(batch.ms / 1_000);
      projected.observe(batch.events);
    },
    watch(engine: Engine) {
      gauge('commands_waiting', 'Commands in all mailboxes, those under way included.', [], (waiting) =>
        waiting.set(engine.writePath.queueLength),
      );
      gauge('database_connections', 'Connections of the pool for reads.', ['state'], (connections) => {
        const { totalCount, idleCount, waitingCount } = engine.pool;
        connections.set({ state: 'busy' }, totalCount - idleCount);
        connections.set({ state: 'idle' }, idleCount);
        connections.set({ state: 'awaited' }, waitingCount);
      });
    },
  };
}

export type EngineMetrics = ReturnType<typeof engineMetrics>;
