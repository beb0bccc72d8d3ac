import { setFlagsFromString } from 'node:v8';
import { Worker } from 'node:worker_threads';

export type Log = (level: 'info' | 'warn' | 'error', message: string, error?: unknown) => void;

/** What every thread may say; each has messages of its own beside it. */
export type LogMessage = { type: 'log'; level: 'info' | 'warn' | 'error'; message: string; error?: unknown };

export interface ThreadOptions<Message> {
  /** As in "the thread of the projector". */
  name: string;
  program: URL;
  workerData: unknown;
  log: Log;
  /** Told what the thread says, its log lines excepted. */
  told: (message: Message) => void;
  /** Told when it has died; another one starts by itself. */
  died?: (failure: string) => void;
}

/** Of a thread's young generation: it has a batch in hand, not hundreds of requests. */
const YOUNG_MB = 24;
const FIRST_PAUSE_MS = 200;
const LONGEST_PAUSE_MS = 5_000;
const STOP_PATIENCE_MS = 10_000;

/** A part of the platform in a thread of its own, so that it never delays a request. A thread that dies is replaced, later each time. */
export class SupervisedThread<Message extends { type: string }> {
  private readonly options: ThreadOptions<Message>;
  private thread: Worker | undefined;
  private timer: NodeJS.Timeout | undefined;
  private pauseMs = FIRST_PAUSE_MS;
  private stopping = false;

  constructor(options: ThreadOptions<Message>) {
    this.options = options;
  }

  start(): void {
    const { program, workerData, name, log, told } = this.options;
    setFlagsFromString('--max-semi-space-size=0'); // what the program was started with is for its own thread only
    const thread = new Worker(program, { workerData, resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB } });
    this.thread = thread;
    thread.on('message', (message: Message | LogMessage) => {
      if (message.type === 'log')
        log((message as LogMessage).level, (message as LogMessage).message, (message as LogMessage).error);
      else told(message as Message);
    });
    thread.on('error', (error) => log('error', `the thread of the ${name} failed`, error));
    thread.on('exit', (code) => this.ended(thread, code));
  }

  /** Says that it does its work: when it dies the next time, it is replaced as soon as at first. */
  works(): void {
    this.pauseMs = FIRST_PAUSE_MS;
  }

  /** Lets the thread finish what it has in hand; one that does not end in time is ended. */
  async stop(): Promise<void> {
    this.stopping = true;
    clearTimeout(this.timer);
    const { thread } = this;
    if (!thread) return;
    await new Promise<void>((resolve) => {
      const overdue = setTimeout(() => void thread.terminate(), STOP_PATIENCE_MS);
      thread.once('exit', () => {
        clearTimeout(overdue);
        resolve();
      });
      thread.postMessage('stop');
    });
  }

  private ended(thread: Worker, code: number): void {
    if (this.thread === thread) this.thread = undefined;
    if (this.stopping) return;
    const failure = `the thread of the ${this.options.name} ended with code ${code}`;
    this.options.died?.(failure);
    this.options.log('error', `${failure}; another one starts in ${this.pauseMs} ms`);
    this.timer = setTimeout(() => this.start(), this.pauseMs);
    this.pauseMs = Math.min(this.pauseMs * 2, LONGEST_PAUSE_MS);
  }
}

/** The program of a thread beside the module that starts it: `thread.js` when built, `thread.ts` where TypeScript is loaded as it is. */
export function besides(moduleUrl: string): URL {
  return new URL(`./thread.${moduleUrl.endsWith('.ts') ? 'ts' : 'js'}`, moduleUrl);
}
