import type { AnyDecider } from '../kernel/decider.ts';
import { type Rejection, reject } from '../kernel/errors.ts';
import type { EventStore, StreamRead } from '../kernel/event-store.port.ts';
import type { EventCodec } from './codec.ts';
import { LatelyUsed } from './lately-used.ts';
import { Stream } from './stream.ts';

interface Waiter {
  resolve(): void;
  reject(error: unknown): void;
}

export interface StreamCacheOptions {
  store: EventStore;
  codec: EventCodec;
  /** Streams kept in memory, and a quarter more that are new. */
  size: number;
  /** Told when a stream that was read is free again; `error` when it could not be read. */
  freed: (stream: Stream, error?: unknown) => void;
}

/** What is wanted while so many reads are under way waits for the next one and shares it. */
const LOADS_AT_ONCE = 2;
const STREAMS_AT_ONCE = 500;
/** A long stream is read in pages of so many events, so that it is never in memory as a whole. */
const PAGE_EVENTS = 2_000;

/** The streams in memory, all that are wanted at a moment read together. Those at work are never forgotten. */
export class StreamCache {
  private readonly options: StreamCacheOptions;
  private readonly streams: LatelyUsed<Stream>;
  private readonly wanted = new Map<Stream, Waiter[]>();
  private scheduled = false;
  private loads = 0;

  constructor(options: StreamCacheOptions) {
    this.options = options;
    const isHeld = (stream: Stream) => stream.busy || stream.queue.length > 0 || this.wanted.has(stream);
    this.streams = new LatelyUsed({ size: options.size, isHeld });
  }

  /** The stream of that name. One that `isNew` is not read: if it is there, the expected revision of its first append finds out. */
  open(decider: AnyDecider, name: string, isNew: boolean): Stream {
    const known = this.streams.use(name);
    if (known) return known;
    const stream = new Stream(name, decider, this.options.store.positionStride);
    stream.assumedNew = isNew;
    this.streams.add(name, stream, { isNew });
    return stream;
  }

  get(name: string): Stream | undefined {
    return this.streams.get(name);
  }

  /** Forgets this stream; a later one of its name starts from the store. */
  drop(stream: Stream): void {
    this.streams.drop(stream.name, stream);
  }

  /** Brings a stream to what the store holds, together with all others wanted at this moment, and as soon as it is free. */
  read(stream: Stream): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiters = this.wanted.get(stream);
      if (waiters) waiters.push({ resolve, reject });
      else this.wanted.set(stream, [{ resolve, reject }]);
      this.schedule();
    });
  }

  /** The same by a read that begins after this call: one that is under way may not see what was written since it began. */
  async readFromNow(stream: Stream): Promise<void> {
    if (stream.busy) await this.read(stream);
    await this.read(stream);
  }

  /** Says that a stream is free, in case that somebody waits for it to be read. */
  isFree(stream: Stream): void {
    if (this.wanted.has(stream)) this.schedule();
  }

  private schedule(): void {
    if (this.scheduled || this.loads >= LOADS_AT_ONCE) return;
    this.scheduled = true;
    queueMicrotask(() => {
      this.scheduled = false;
      const streams = [...this.wanted.keys()].filter((stream) => !stream.busy).slice(0, STREAMS_AT_ONCE);
      if (streams.length === 0) return;
      for (const stream of streams) stream.busy = true;
      this.loads += 1;
      void this.load(streams).finally(() => {
        this.loads -= 1;
        if (this.wanted.size > 0) this.schedule();
      });
    });
  }

  private async load(streams: readonly Stream[]): Promise<void> {
    const whole = streams.filter((stream) => !stream.loaded);
    try {
      const read =
        whole.length > 0
          ? await this.options.store.loadStreams(
              whole.map((s) => s.name),
              PAGE_EVENTS,
            )
          : undefined;
      await Promise.all(
        streams.map((stream) =>
          this.bringUpToDate(stream, read?.get(stream.name)).then(
            () => this.done(stream),
            (error) => this.done(stream, error),
          ),
        ),
      );
    } catch (error) {
      for (const stream of streams) this.done(stream, unavailable(error));
    }
  }

  private async bringUpToDate(stream: Stream, read: StreamRead | undefined): Promise<void> {
    const { store, codec } = this.options;
    const { foreignRevision } = stream;
    const isUsable = read?.snapshot?.version === stream.decider.version;
    if (isUsable) stream.restore(read.snapshot!);
    const isWhole = read !== undefined && (isUsable || !read.snapshot);
    const nextPage = () => store.readStream(stream.name, stream.revision, PAGE_EVENTS).catch(refuse);
    stream.assumedNew = false; // else it would count as read after its first page
    for (let page = isWhole ? read.events : await nextPage(); ; page = await nextPage()) {
      stream.fold(await codec.decode(page));
      if (page.length < PAGE_EVENTS) break;
    }
    stream.isRead();
    if (stream.foreignRevision === foreignRevision) stream.foreignRevision = -1; // else told while this was read
  }

  private done(stream: Stream, error?: unknown): void {
    const waiters = this.wanted.get(stream) ?? [];
    this.wanted.delete(stream);
    stream.busy = false;
    if (error !== undefined) {
      stream.reset();
      this.drop(stream);
    }
    for (const waiter of waiters) error === undefined ? waiter.resolve() : waiter.reject(error);
    this.options.freed(stream, error);
  }
}

/** What is said when the store could not be read: nothing happened. */
export const unavailable = (cause: unknown): Rejection =>
  Object.assign(reject('SERVICE_UNAVAILABLE', { retryAfterSeconds: 1 }), { cause });

const refuse = (cause: unknown): never => {
  throw unavailable(cause);
};
