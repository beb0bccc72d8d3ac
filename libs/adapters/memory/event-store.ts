import type {
  Append,
  AppendOutcome,
  EventStore,
  KeyedAnswer,
  LoggedEvent,
  Snapshot,
  StreamRead,
} from '../../kernel/event-store.port.ts';

/** The log in memory, for tests of what stands on the port. Passes the same conformance suite as the others. */
export class MemoryEventStore implements EventStore {
  readonly flushesInFlight = 1;
  readonly positionStride = 1;
  readonly answers = new Map<string, KeyedAnswer>();
  private readonly log: LoggedEvent[] = [];
  private readonly streams = new Map<string, LoggedEvent[]>();
  private readonly snapshots = new Map<string, Snapshot>();
  private readonly wakers = new Set<(head: number) => void>();
  private lock: Promise<unknown> = Promise.resolve();

  append(batch: readonly Append[]): Promise<AppendOutcome[]> {
    return this.locked(async () => this.appendNow(batch));
  }

  appendExclusively(
    stream: string,
    afterRevision: number,
    decide: (newer: LoggedEvent[]) => Promise<Append | undefined>,
  ): Promise<AppendOutcome | undefined> {
    return this.locked(async () => {
      const append = await decide(await this.readStream(stream, afterRevision));
      return append && this.appendNow([append])[0];
    });
  }

  async readStream(stream: string, afterRevision: number, limit = Number.POSITIVE_INFINITY): Promise<LoggedEvent[]> {
    return (this.streams.get(stream) ?? []).slice(afterRevision + 1, afterRevision + 1 + limit);
  }

  async readStreamSince(stream: string, afterPosition: number): Promise<LoggedEvent[]> {
    return (this.streams.get(stream) ?? []).filter((event) => event.position > afterPosition);
  }

  async loadStreams(streams: readonly string[], limit?: number): Promise<Map<string, StreamRead>> {
    const found = new Map<string, StreamRead>();
    for (const stream of streams) {
      const snapshot = this.snapshots.get(stream);
      found.set(stream, { snapshot, events: await this.readStream(stream, snapshot?.revision ?? -1, limit) });
    }
    return found;
  }

  async readAll(
    after: number,
    limit: number,
    types?: readonly string[],
  ): Promise<{ events: LoggedEvent[]; upTo: number }> {
    const events = this.log
      .slice(after)
      .filter((event) => !types || types.includes(event.type))
      .slice(0, limit);
    return { events, upTo: events.length === limit ? events.at(-1)!.position : Math.max(after, this.log.length) };
  }

  async changedStreams(after: number): Promise<{ streams: { stream: string; revision: number }[]; upTo: number }> {
    const newest = new Map(this.log.slice(after).map(({ stream, revision }) => [stream, revision]));
    const streams = [...newest].map(([stream, revision]) => ({ stream, revision }));
    return { streams, upTo: Math.max(after, this.log.length) };
  }

  async head(): Promise<number> {
    return this.log.length;
  }

  async subscribe(wake: (head: number) => void): Promise<() => Promise<void>> {
    this.wakers.add(wake);
    return async () => {
      this.wakers.delete(wake);
    };
  }

  async saveSnapshots(snapshots: readonly Snapshot[]): Promise<void> {
    for (const one of snapshots) {
      const kept = this.snapshots.get(one.stream);
      if (!kept || kept.revision < one.revision || kept.version !== one.version) this.snapshots.set(one.stream, one);
    }
  }

  /** One writer at a time, in the order of arrival. */
  private locked<T>(work: () => Promise<T>): Promise<T> {
    const done = this.lock.then(work);
    this.lock = done.catch(() => {});
    return done;
  }

  private appendNow(batch: readonly Append[]): AppendOutcome[] {
    const before = this.log.length;
    const outcomes = batch.map((one) => this.appendOne(one));
    if (this.log.length > before) for (const wake of this.wakers) wake(this.log.length);
    return outcomes;
  }

  private appendOne(append: Append): AppendOutcome {
    const stream = this.streams.get(append.stream) ?? [];
    const taken = append.answers.find((answer) => this.answers.has(answer.key));
    if (taken) return { outcome: 'key-taken', key: taken.key };
    if (stream.length - 1 !== append.expectedRevision) return { outcome: 'conflict' };
    const firstPosition = append.events.length > 0 ? this.log.length + 1 : this.log.length;
    for (const event of append.events) {
      const logged = { ...event, stream: append.stream, revision: stream.length, position: this.log.length + 1 };
      stream.push(logged);
      this.log.push(logged);
    }
    if (stream.length > 0) this.streams.set(append.stream, stream);
    for (const answer of append.answers) this.answers.set(answer.key, answer);
    return { outcome: 'appended', firstPosition };
  }
}
