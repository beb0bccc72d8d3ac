import type { Config } from '../../libs/runtime/config.ts';
import type { HealthCheck } from '../../libs/runtime/http/index.ts';
import type { Engine } from './engine.ts';
import type { EngineMetrics } from './engine-metrics.ts';
import type { Front } from './front.ts';

/** What every part of the platform is started with. */
export interface PartContext {
  config: Config;
  /** Of the deployment; 32 bytes. */
  masterKey: Buffer;
  engine: Engine;
  metrics: EngineMetrics;
  front: Front;
  /** Raised to give up a start that is under way. */
  signal?: AbortSignal;
}

/** A part of the platform at work. */
export interface Part {
  /** What has to be well for it to be ready. */
  checks: HealthCheck[];
  /** Finishes what it has in hand and hands over what it alone may do. */
  stop(): Promise<void>;
}

/** Does something again and again, the first time after `ms`; one that fails is told about, once until it succeeds again. Answers how to stop. */
export function every(ms: number, work: () => Promise<unknown>, failed: (error: unknown) => void): () => Promise<void> {
  let isFailing = false;
  let round: Promise<unknown> = Promise.resolve();
  let isBusy = false;
  const timer = setInterval(() => {
    if (isBusy) return;
    isBusy = true;
    round = work()
      .then(
        () => {
          isFailing = false;
        },
        (error) => {
          if (!isFailing) failed(error);
          isFailing = true;
        },
      )
      .finally(() => {
        isBusy = false;
      });
  }, ms).unref();
  return async () => {
    clearInterval(timer);
    await round;
  };
}

/** The database answers. */
export const databaseCheck = ({ pool }: Pick<Engine, 'pool'>): HealthCheck => ({
  name: 'database',
  async check() {
    await pool.query('SELECT 1');
    return undefined;
  },
});

/** What a part logs, as the engine's logger writes it. */
export const logTo =
  ({ logger }: Pick<Engine, 'logger'>) =>
  (level: 'info' | 'warn' | 'error', message: string, error?: unknown): void =>
    logger[level](error === undefined ? {} : { err: error }, message);
