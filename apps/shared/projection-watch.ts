import { gauge, type HealthCheck } from '../../libs/runtime/http/index.ts';
import type { RunningProjector } from '../projector/src/supervised.ts';
import type { Engine } from './engine.ts';
import { every } from './part.ts';

/** How long the oldest event that is not projected may have been waiting before the platform counts as not ready. */
const READY_LAG_SECONDS = 10;
const SAMPLE_EVERY_MS = 1_000;

interface Lag {
  events: number;
  seconds: number;
}

/** How far the read models are behind the log: for readiness and for metrics. Wherever the projector runs, the checkpoint tells. */
export class ProjectionWatch {
  private readonly engine: Engine;
  private readonly projector: Pick<RunningProjector, 'position' | 'failure'> | undefined;
  private readonly lagEvents = gauge('projection_lag_events', 'Events of the log that are not projected yet.');
  private readonly lagSeconds = gauge('projection_lag_seconds', 'Age of the oldest event that is not projected yet.');
  /** Stops the sampling. */
  readonly stop: () => Promise<void>;

  /** `projector`: the one that runs in this process. */
  constructor(engine: Engine, projector?: Pick<RunningProjector, 'position' | 'failure'>) {
    this.engine = engine;
    this.projector = projector;
    this.stop = every(
      SAMPLE_EVERY_MS,
      () => this.sample(),
      (error) => engine.logger.warn({ err: error }, 'the lag of the read models could not be measured'),
    );
  }

  get check(): HealthCheck {
    return { name: 'projection', check: () => this.wrong() };
  }

  private async wrong(): Promise<string | undefined> {
    const { events, seconds } = await this.sample();
    if (this.projector?.failure !== undefined) {
      return `stands at position ${this.projector.position}, ${events} events behind: see the log`;
    }
    return seconds > READY_LAG_SECONDS ? `${Math.round(seconds)} s (${events} events) behind` : undefined;
  }

  private async sample(): Promise<Lag> {
    const { rows } = await this.engine.pool.query<{ behind: string; waiting_since: string | null }>({
      name: 'projection_lag',
      text: `SELECT h.position - c.position AS behind,
                    (SELECT metadata::json ->> 'at' FROM events e WHERE e.position = c.position + 1) AS waiting_since
               FROM log_head h,
                    (SELECT COALESCE((SELECT position FROM checkpoints WHERE name = 'live'), 0) AS position) c`,
    });
    const { behind, waiting_since: since } = rows[0]!;
    const seconds = since ? Math.max(0, (this.engine.clock.nowMs() - Date.parse(since)) / 1_000) : 0;
    const lag = { events: Number(behind), seconds };
    this.lagEvents.set(lag.events);
    this.lagSeconds.set(lag.seconds);
    return lag;
  }
}
