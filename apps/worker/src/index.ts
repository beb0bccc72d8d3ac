import { withDeadline } from '../../../libs/adapters/deadline.ts';
import type { RailsOf } from '../../../libs/providers/rails.port.ts';
import type { UmaOf } from '../../../libs/providers/uma.port.ts';
import type { Calls } from '../../../libs/runtime/drive.ts';
import { counter } from '../../../libs/runtime/http/metrics.ts';
import { processes } from '../../../projections/index.ts';
import type { Engine } from '../../shared/engine.ts';
import { sandboxProviders } from '../../shared/providers.ts';
import { umaOf as sandboxUmaOf } from '../../shared/uma.ts';
import { approvalCall } from './approval-call.ts';
import { providerCalls } from './calls.ts';
import { park, Retries } from './dead-letters.ts';
import { ProcessRunner, STOP_PATIENCE_MS } from './process-runner.ts';
import { sweepCalls } from './sweep-calls.ts';
import { Timers } from './timers.ts';
import { umaCalls } from './uma-calls.ts';

/** What goes on by itself: processes and due timers. */
export interface Worker {
  start(): Promise<void>;
  /** Waits for what is under way, but not for ever; what is not finished then is the next worker's. */
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
  /** How long the outside world may take to answer a process. After that nothing is known, and it is asked again. */
  answerMs?: number;
  /** How long what is under way is waited for at the end. */
  stopPatienceMs?: number;
}

const ANSWER_MS = 60_000;

/** The worker on an engine, with the rails of each environment. */
export function createWorker(engine: Engine, railsOf: RailsOf, options: WorkerOptions = {}): Worker {
  const { allowPrivateTargets = false, umaOf = sandboxUmaOf(engine.clock, 1) } = options;
  const { answerMs = ANSWER_MS, stopPatienceMs = STOP_PATIENCE_MS } = options;
  const log = (level: 'info' | 'warn' | 'error', message: string, error?: unknown) =>
    engine.logger[level]({ err: error }, message);
  const list = processes.map(({ process }) => process);
  const { store, pool, driver, writePath, clock } = engine;
  const approval = approvalCall(engine, { allowPrivateTargets });
  const asked = (calls: Calls): Calls => withinTime(calls, answerMs);
  const outside = asked(providerCalls(writePath, railsOf, umaCalls({ writePath, umaOf, clock }), approval));
  const calls = {
    ...outside,
    ...asked(sweepCalls({ writePath, driver, clock, providers: sandboxProviders, calls: outside })),
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
    stopPatienceMs,
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
      const others = Promise.all([retries.stop(), timers.stop()]);
      await Promise.all([withDeadline(others, stopPatienceMs, 'not finished').catch(() => {}), runner.stop()]);
      await approval.close(); // once nobody asks any more, or has done so for too long
    },
    failure: () => runner.failure,
    inHand: () => runner.inHand,
  };
}

/** The same calls, given up as unanswered after so long: one that hangs would hold its payment for ever, and nobody would hear of it. */
const withinTime = (calls: Calls, ms: number): Calls =>
  Object.fromEntries(
    Object.entries(calls).map(([name, call]) => [
      name,
      (request: never) => withDeadline(call(request), ms, `${name} was not answered`),
    ]),
  );
