import { besides, type Log, type LogMessage, SupervisedThread } from '../../shared/supervised-thread.ts';
import type { Backlog, Outcome } from './delivery-table.ts';
import { dispatcherMetrics } from './index.ts';

/** What the thread is given. */
export interface ThreadData {
  url: string;
  /** Connection string of the EventStoreDB that keeps the log; absent: Postgres keeps it. */
  esdbUrl?: string | undefined;
  masterKey: Uint8Array;
  allowPrivateTargets: boolean;
  /** How long receivers may still take to answer when it ends. */
  graceMs: number;
}

/** Attempts since the last message: outcome and time from request to answer. */
export type Attempts = [status: Outcome['status'], durationMs: number][];

type DispatcherMessage = { type: 'attempted'; attempts: Attempts } | { type: 'waiting'; backlog: Backlog };

export type ThreadMessage = LogMessage | DispatcherMessage;

/** The dispatcher in a thread of its own: signing and sending takes as long as answering the request that is announced. */
export function supervisedDispatcher(data: ThreadData, log: Log, program = besides(import.meta.url)) {
  const { attempted, waiting } = dispatcherMetrics();
  const thread = new SupervisedThread<DispatcherMessage>({
    name: 'dispatcher',
    program,
    workerData: data,
    log,
    told(message) {
      thread.works();
      if (message.type === 'waiting') waiting(message.backlog);
      else for (const [status, durationMs] of message.attempts) attempted(status, durationMs);
    },
  });
  return thread;
}
