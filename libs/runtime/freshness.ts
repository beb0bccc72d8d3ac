import type { EventStore } from '../kernel/event-store.port.ts';
import type { WritePath } from './execute.ts';

type Log = (level: 'warn', message: string, error: unknown) => void;

/** A token revoked in another process must not be good for longer than a second here (decision 25). */
const LOOK_EVERY_MS = 400;

/** Notices what other processes append, so that what this one remembers of those streams is caught up before its next use. */
export class Freshness {
  private readonly store: Pick<EventStore, 'changedStreams' | 'head'>;
  private readonly writePath: Pick<WritePath, 'noteForeign'>;
  private readonly log: Log;
  private readonly noted: (stream: string) => Promise<void>;
  private timer: NodeJS.Timeout | undefined;
  private round: Promise<void> | undefined;
  private seen = 0;
  private running = false;

  /** `noted` is called with each stream that somebody appended to, here or elsewhere, before the next look. */
  constructor(
    store: Pick<EventStore, 'changedStreams' | 'head'>,
    writePath: Pick<WritePath, 'noteForeign'>,
    log: Log,
    noted: (stream: string) => Promise<void> = async () => {},
  ) {
    this.store = store;
    this.writePath = writePath;
    this.log = log;
    this.noted = noted;
  }

  /** Starts from the log's present end: nothing is remembered yet that could be older. */
  async start(): Promise<void> {
    this.seen = await this.store.head();
    this.running = true;
    this.schedule();
  }

  async stop(): Promise<void> {
    this.running = false;
    clearTimeout(this.timer);
    await this.round;
  }

  /** Looks once. */
  async look(): Promise<void> {
    const { streams, upTo } = await this.store.changedStreams(this.seen);
    for (const { stream, revision } of streams) this.writePath.noteForeign(stream, revision);
    for (const { stream } of streams) await this.noted(stream);
    this.seen = upTo;
  }

  private schedule(): void {
    this.timer = setTimeout(() => {
      this.round = this.look()
        .catch((error) => this.log('warn', 'what other processes appended could not be read', error))
        .finally(() => {
          if (this.running) this.schedule();
        });
    }, LOOK_EVERY_MS).unref();
  }
}
