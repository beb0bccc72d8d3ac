import type { RailsOf } from '../../../libs/providers/rails.port.ts';
import type { UmaOf } from '../../../libs/providers/uma.port.ts';
import { counter } from '../../../libs/runtime/http/metrics.ts';
import { processes } from '../../../projections/index.ts';
import type { Engine } from '../../shared/engine.ts';
import { sandboxProviders } from '../../shared/providers.ts';
import { umaOf as sandboxUmaOf } from '../../shared/uma.ts';
import { approvalCall } from './approval-call.ts';
import { providerCalls } from './calls.ts';
import { park, Retries } from './dead-letters.ts';
import { ProcessRunner } from './process-runner.ts';
import { sweepCalls } from './sweep-calls.ts';
import { Timers } from './timers.ts';
import { umaCalls } from './uma-calls.ts';

/** What goes on by itself: processes and due timers. */
export interface Worker {
  start(): Promise<void>;
  /** Waits for what is under way; what is not finished then is the next worker's. */
  stop(): Promise<void>;
  /** What the process runner is stuck on; undefined when it goes on. */
  failure(): string | undefined;
  /** Events whose work is not done yet. */
  inHand(): number;
}

export interface WorkerOptions {
  /** Whether webhooks that ask for approval may go to private and loopback addresses, and over plain http. */
  allowPrivateTargets?: boolean;
  /** The world of UMA of each environment. */
  umaOf?: UmaOf;
}

/** The worker on an engine, with the rails of each environment. */
export function createWorker(engine: Engine, railsOf: RailsOf, options: WorkerOptions = {}): Worker {
  const { allowPrivateTargets = false, umaOf = sandboxUmaOf(engine.clock, 1) } = options;
  const log = (level: 'info' | 'warn' | 'error', message: string, error?: unknown) =>
    engine.logger[level]({ err: error }, message);
  const list = processes.map(({ process }) => process);
  const { store, pool, driver, writePath, clock } = engine;
  const approval = approvalCall(engine, { allowPrivateTargets });
  const outside = providerCalls(writePath, railsOf, umaCalls({ writePath, umaOf, clock }), approval);
  const calls = {
    ...outside,
    ...sweepCalls({ writePath, driver, clock, providers: sandboxProviders, calls: outside }),
  };
  const retried = counter('process_retries_total', 'Times that the work of a process failed and was tried again.');
  const runner = new ProcessRunner({
    store,
    driver,
    processes: list,
    calls,
    pool,
    park: (letter) => park(pool, letter),
    log,
    retried: () => retried.inc(),
  });
  const retries = new Retries({ pool, driver, processes: list, calls, log });
  const timers = new Timers({ pool, writePath, processes: list, clock, log });
  return {
    async start() {
      await runner.start();
      timers.start();
      retries.start();
    },
    async stop() {
      await retries.stop();
      await timers.stop();
      await runner.stop();
      await approval.close(); // once nobody asks any more
    },
    failure: () => runner.failure,
    inHand: () => runner.inHand,
  };
}
