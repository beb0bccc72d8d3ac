import { counter, gauge, type HealthCheck, histogram } from '../../../libs/runtime/http/index.ts';
import type { Engine } from '../../shared/engine.ts';
import { lagAfter, READY_LAG_SECONDS } from '../../shared/lag.ts';
import { every } from '../../shared/part.ts';
import type { Relay, RelayOptions } from './relay.ts';

const SAMPLE_EVERY_MS = 1_000;
const BATCH_SIZES = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000];

/** Counts what a relay says of its batches. */
export function relayMetrics(): Required<Pick<RelayOptions, 'advanced'>> {
  const total = counter('relay_events_total', 'Events brought into the topic and acknowledged.');
  const sizes = histogram('relay_batch_events', 'Events of one batch.', [], BATCH_SIZES);
  const seconds = histogram(
    'relay_batch_duration_seconds',
    'Time from sending a batch to writing down that it is there.',
  );
  return {
    advanced({ events, ms }) {
      total.inc(events);
      sizes.observe(events);
      seconds.observe(ms / 1_000);
    },
  };
}

/** How far the topic is behind the log, whichever relay is at work: for readiness and metrics. */
export class RelayWatch {
  private readonly engine: Pick<Engine, 'pool' | 'store' | 'clock' | 'logger'>;
  private readonly relay: Pick<Relay, 'failure'>;
  private readonly topic: string;
  private readonly position = gauge('relay_position', 'Position in the log up to which all events are in the topic.');
  private readonly lagEvents = gauge('relay_lag_events', 'Positions of the log that the topic is behind.');
  private readonly lagSeconds = gauge('relay_lag_seconds', 'Age of the oldest event that is not in the topic yet.');
  /** Stops the sampling. */
  readonly stop: () => Promise<void>;

  constructor(engine: RelayWatch['engine'], relay: RelayWatch['relay'], topic: string) {
    this.engine = engine;
    this.relay = relay;
    this.topic = topic;
    const failed = (error: unknown) => engine.logger.warn({ err: error }, 'the lag of the relay could not be measured');
    this.stop = every(SAMPLE_EVERY_MS, () => this.sample(), failed);
  }

  get check(): HealthCheck {
    return { name: 'relay', check: () => this.wrong() };
  }

  private async wrong(): Promise<string | undefined> {
    const { events, seconds } = await this.sample();
    if (this.relay.failure !== undefined) return 'stands still: see the log';
    return seconds > READY_LAG_SECONDS ? `${Math.round(seconds)} s (${events} events) behind` : undefined;
  }

  private async sample() {
    const { rows } = await this.engine.pool.query<{ position: string }>({
      name: 'relay_position',
      text: 'SELECT position FROM relays WHERE topic = $1',
      values: [this.topic],
    });
    const position = Number(rows[0]?.position ?? 0);
    const lag = await lagAfter(this.engine, position);
    this.position.set(position);
    this.lagEvents.set(lag.events);
    this.lagSeconds.set(lag.seconds);
    return lag;
  }
}
