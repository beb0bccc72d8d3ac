import { Backoff, inTime, Silence } from './patience.ts';

/** A subscription as the client opens it. */
export interface Source {
  on(event: 'confirmation' | 'end' | 'close', listener: () => void): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
  on(event: 'data', listener: (resolved: { event?: { position?: { commit: bigint } } }) => void): unknown;
  unsubscribe(): Promise<void>;
}

export interface SupervisedOptions {
  /** Opens one from after this position on, or from the end of the log. */
  open(after: number | undefined): Source;
  /** Position of the last event of the log. */
  head(): Promise<number>;
  /** Told that there may be events up to here; called seldom enough to be told of many events at once. */
  woken(position: number): void;
  log: (level: 'info' | 'warn', message: string, error?: unknown) => void;
  /** How long the server may take to confirm, and how often it is checked that nothing is missed. */
  watchMs: number;
  firstPauseMs?: number;
  longestPauseMs?: number;
}

const LEAVE_MS = 1_000;

/**
 * A catch-up subscription that comes back: the client's own ends with the first error. It goes on after the last position it was told,
 * and one that is silent while the log grows is replaced.
 */
export class SupervisedSubscription {
  private readonly options: SupervisedOptions;
  private readonly backoff: Backoff;
  private source: Source | undefined;
  private timer: NodeJS.Timeout | undefined;
  private watch: NodeJS.Timeout | undefined;
  private position: number | undefined;
  /** Where the log ended at the last look. */
  private headBefore: number | undefined;
  private isConfirmed = false;
  private isWaking = false;
  private isStopped = false;
  private confirmed: () => void = () => {};
  /** Resolves with the first confirmation. */
  readonly ready: Promise<void>;

  constructor(options: SupervisedOptions) {
    this.options = options;
    this.backoff = new Backoff(options.firstPauseMs ?? 100, options.longestPauseMs ?? 5_000);
    this.ready = new Promise((resolve) => {
      this.confirmed = resolve;
    });
    this.start();
    this.watch = setInterval(() => void this.look(), options.watchMs).unref();
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    clearTimeout(this.timer);
    clearInterval(this.watch);
    this.confirmed();
    await this.leave();
  }

  private start(): void {
    const source = this.options.open(this.position);
    this.source = source;
    this.isConfirmed = false;
    this.headBefore = undefined;
    const overdue = setTimeout(
      () => this.lost(source, new Silence('a subscription', this.options.watchMs)),
      this.options.watchMs,
    ).unref();
    source.on('confirmation', () => {
      clearTimeout(overdue);
      if (source !== this.source) return;
      this.isConfirmed = true;
      this.backoff.reset();
      this.confirmed();
      void this.tellHead(); // what was appended before the first position is not told by the subscription
    });
    source.on('data', ({ event }) => {
      if (source !== this.source || !event?.position) return;
      this.position = Math.max(this.position ?? 0, Number(event.position.commit));
      this.wake();
    });
    const ended = (error?: Error) => {
      clearTimeout(overdue);
      this.lost(source, error ?? new Error('the server ended it'));
    };
    source.on('error', ended);
    source.on('end', ended);
    source.on('close', ended);
  }

  private wake(): void {
    if (this.isWaking) return;
    this.isWaking = true;
    setImmediate(() => {
      this.isWaking = false;
      if (!this.isStopped) this.options.woken(this.position!);
    });
  }

  private lost(source: Source, error: Error): void {
    if (source !== this.source || this.isStopped) return;
    void this.leave();
    const pauseMs = this.backoff.pauseMs;
    this.options.log('warn', `the subscription to the log is opened again in ${Math.round(pauseMs)} ms`, error);
    this.timer = setTimeout(() => this.start(), pauseMs);
    this.timer.unref();
  }

  private async leave(): Promise<void> {
    const { source } = this;
    this.source = undefined;
    if (source) await inTime('unsubscribing', LEAVE_MS, source.unsubscribe()).catch(() => {}); // it is over either way
  }

  /** A connection can be lost without a word: then the log goes on and the subscription does not, from one look to the next. */
  private async look(): Promise<void> {
    const { source, headBefore } = this;
    if (!source || !this.isConfirmed) return;
    try {
      const head = await this.options.head();
      if (source !== this.source) return;
      this.headBefore = head;
      if (head > (this.position ?? 0)) this.options.woken(head);
      if (headBefore !== undefined && (this.position ?? 0) < headBefore) {
        this.lost(source, new Error('it is silent, and the log has grown'));
      }
    } catch (error) {
      this.options.log('warn', 'it could not be checked whether the subscription to the log misses anything', error);
    }
  }

  private async tellHead(): Promise<void> {
    try {
      const head = await this.options.head();
      if (this.isStopped) return;
      this.position ??= head;
      this.options.woken(Math.max(head, this.position));
    } catch {
      // told by the next look
    }
  }
}
