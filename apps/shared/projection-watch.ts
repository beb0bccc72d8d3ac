import { liveCheckpoints } from '../../libs/adapters/postgres/live-checkpoints.ts';
import { gauge, type HealthCheck } from '../../libs/runtime/http/index.ts';
import type { RunningProjector } from '../projector/src/supervised.ts';
import type { Engine } from './engine.ts';
import { type Lag, lagAfter, READY_LAG_SECONDS } from './lag.ts';
import { every } from './part.ts';

const SAMPLE_EVERY_MS = 1_000;
/** How many samples of where the relay was are remembered, each a second apart. */
const REMEMBERED = 3_600;

interface Options {
  engine: Pick<Engine, 'pool' | 'store' | 'clock' | 'logger' | 'partitions'>;
  /** Topic that the read models are fed from; absent: they are fed from the log itself. */
  topic?: string | undefined;
  /** The projector that runs in this process. */
  projector?: Pick<RunningProjector, 'position' | 'failure'>;
}

/**
 * How far the read models are behind the log, by partition: for readiness and for metrics. Wherever the projectors run, their
 * checkpoints tell. Over a topic a partition is held against where the relay was in it, and the relay against the log.
 */
export class ProjectionWatch {
  private readonly options: Options;
  private readonly behind: Behind[];
  private readonly position = gauge('projection_position', 'Position up to which a partition is projected.', [
    'partition',
  ]);
  private readonly lagEvents = gauge(
    'projection_lag_events',
    'Positions of the log that the read models of a partition are behind.',
    ['partition'],
  );
  private readonly lagSeconds = gauge(
    'projection_lag_seconds',
    'Age of the oldest event of a partition that is not projected.',
    ['partition'],
  );
  /** Stops the sampling. */
  readonly stop: () => Promise<void>;

  constructor(options: Options) {
    this.options = options;
    this.behind = Array.from({ length: options.engine.partitions.partitions }, () => new Behind());
    const { logger } = options.engine;
    const failed = (error: unknown) => logger.warn({ err: error }, 'the lag of the read models could not be measured');
    this.stop = every(SAMPLE_EVERY_MS, () => this.sample(), failed);
  }

  get check(): HealthCheck {
    return { name: 'projection', check: () => this.wrong() };
  }

  private async wrong(): Promise<string | undefined> {
    const { events, seconds } = await this.sample();
    const { projector } = this.options;
    if (projector?.failure !== undefined) {
      return `stands at position ${projector.position}, ${events} events behind: see the log`;
    }
    return seconds > READY_LAG_SECONDS ? `${Math.round(seconds)} s (${events} events) behind` : undefined;
  }

  /** The lag of the partition that is furthest behind. */
  private async sample(): Promise<Lag> {
    const { engine, topic } = this.options;
    const known = await liveCheckpoints(engine.pool);
    const positions = this.behind.map((_, n) => known.get(`live/${n}`) ?? known.get('live') ?? 0);
    const relayed = topic === undefined ? undefined : await this.relayed(topic);
    const lags: Lag[] = [];
    for (const [n, position] of positions.entries()) {
      const lag = relayed
        ? this.behind[n]!.lag(position, relayed.lastPositions[n] ?? 0, engine.clock.nowMs())
        : await lagAfter(engine, position);
      const partition = String(n);
      this.position.set({ partition }, position);
      this.lagEvents.set({ partition }, lag.events);
      this.lagSeconds.set({ partition }, lag.seconds);
      lags.push(lag);
    }
    if (relayed) lags.push(await lagAfter(engine, relayed.position));
    return lags.reduce((worst, lag) => (lag.seconds > worst.seconds ? lag : worst), { events: 0, seconds: 0 });
  }

  private async relayed(topic: string): Promise<{ position: number; lastPositions: number[] }> {
    const { rows } = await this.options.engine.pool.query<{ position: string; last_positions: string[] }>({
      name: 'relay_standing',
      text: 'SELECT position, last_positions FROM relays WHERE topic = $1',
      values: [topic],
    });
    const [row] = rows;
    return { position: Number(row?.position ?? 0), lastPositions: (row?.last_positions ?? []).map(Number) };
  }
}

/**
 * How long ago the relay was where a partition of the read models has not come yet. Which event a partition lacks cannot be asked of the
 * log at little cost; where the relay was at each look can be remembered.
 */
class Behind {
  private seen: { position: number; atMs: number }[] = [];

  lag(position: number, target: number, nowMs: number): Lag {
    this.seen = this.seen.filter((one) => one.position > position).slice(-REMEMBERED);
    if (target <= position) return { events: 0, seconds: 0 };
    if (this.seen.at(-1)?.position !== target) this.seen.push({ position: target, atMs: nowMs });
    return { events: target - position, seconds: Math.max(0, nowMs - this.seen[0]!.atMs) / 1_000 };
  }
}
