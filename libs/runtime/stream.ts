import { type AnyDecider, evolved, isAside } from '../kernel/decider.ts';
import { type Rejection, reject } from '../kernel/errors.ts';
import type { KeyedAnswer, LoggedEvent, Snapshot } from '../kernel/event-store.port.ts';
import { fromJson, toJson } from '../kernel/json.ts';
import type { Command, Event, EventMeta, RecordedEvent, Tenant } from '../kernel/messages.ts';
import { COMMAND_REFUSED, refusalIn } from '../kernel/refusal.ts';

/** What travels with a command: who sends it, why, and how a repetition is recognised. */
export interface Envelope {
  commandId: string;
  correlationId: string;
  causationId?: string;
  actor: string;
  tenant: Tenant;
  /** For a command that may be a repetition: the log position before its first attempt. Absent: sent once. */
  since?: number;
  /**
   * Whether a refusal stands: it is recorded then, so that whoever else sends the command gets it, too. For commands that several may send
   * and whose refusal they act upon. Absent: a refusal leaves no trace, and the command may be sent again.
   */
  stands?: (refusal: Rejection) => boolean;
  /** The answer of a keyed request, to be written in the same commit; made from what was decided. */
  answer?: (done: Executed) => KeyedAnswer;
}

/** A stream as it was committed. */
export interface Known<S = unknown> {
  state: S;
  revision: number;
  /** Position of the stream's last event. */
  position: number;
  moved: Moved;
}

/** What a command led to. */
export interface Executed<S = unknown> {
  state: S;
  revision: number;
  /** Position of the stream's last event; an unwritten one when read in `answer`. */
  position: number;
  events: readonly Event[];
  /** True when the stream held the command already and nothing was appended. */
  replayed: boolean;
}

/** Two processes raced for one idempotency key and the other one won: its answer is the answer. */
export class KeyTaken extends Error {
  constructor() {
    super('the key of this request was answered elsewhere');
  }
}

/** A command waiting in a stream's mailbox. */
export interface Waiting {
  command: Command;
  envelope: Envelope;
  /** The log position before its first attempt, when there may have been one; moves up as the stream is searched. */
  since: number | undefined;
  /** Set when the stream was found to hold it. */
  isKnown: boolean;
  /** The refusal that the stream was found to hold of it. */
  refusal?: Rejection | undefined;
  resolve(done: Executed): void;
  reject(error: unknown): void;
}

const WINDOW_SIZE = 512;
/** Commands so many events back in the log are forgotten with the next one, so that many streams together remember little. */
const WINDOW_REACH_EVENTS = 50_000;

interface Serialised {
  from: number;
  positions: [string, number][];
  refusals?: [string, Pick<Rejection, 'code' | 'details' | 'message'>][];
  /** Where it is not at the stream's last event. */
  moved?: Moved;
}

/** Where a process of a stream stands: at the last event that is no aside (`Decider`). */
export interface Moved {
  /** Its revision, asides not counted: so it is the same for whoever knows of them, and whoever does not yet. */
  revision: number;
  position: number;
}

/**
 * The ids of the commands that a stream holds, with the position of each one's last event; the newest are kept. A fast path only:
 * what it does not reach is read from the stream. Belongs to the write path, never to the decider's state.
 */
export class CommandWindow {
  private readonly positions: Map<string, number>;
  /** Of those that were refused for good. */
  private readonly refusals: Map<string, Rejection>;
  /** Every command of the stream with a position above this one is remembered. */
  private from: number;
  private readonly reach: number;

  /** `positionStride`: about how far the positions of neighbouring events lie apart in the log. */
  constructor(
    positionStride = 1,
    from = 0,
    positions: Iterable<[string, number]> = [],
    refusals: Iterable<[string, Rejection]> = [],
  ) {
    this.reach = WINDOW_REACH_EVENTS * positionStride;
    this.from = from;
    this.positions = new Map(positions);
    this.refusals = new Map(refusals);
  }

  has(commandId: string): boolean {
    return this.positions.has(commandId);
  }

  /** The refusal that is remembered of a command. */
  refusalOf(commandId: string): Rejection | undefined {
    return this.refusals.get(commandId);
  }

  /** True when a command sent first after `position` would be remembered. */
  reachesBackTo(position: number): boolean {
    return position >= this.from;
  }

  /** Remembers a command, newer than all before, and its refusal if that is what is recorded of it. */
  add(commandId: string, position: number, refusal?: Rejection): void {
    this.positions.delete(commandId);
    this.positions.set(commandId, position);
    if (refusal) this.refusals.set(commandId, refusal);
    for (const [oldest, at] of this.positions) {
      if (this.positions.size <= WINDOW_SIZE && at > position - this.reach) return;
      this.positions.delete(oldest);
      this.refusals.delete(oldest);
      this.from = at;
    }
  }

  serialise(beside: Pick<Serialised, 'moved'> = {}): string {
    const refusals = [...this.refusals].map(([id, { code, details, message }]) => [id, { code, details, message }]);
    return JSON.stringify({
      from: this.from,
      positions: [...this.positions],
      ...(refusals.length > 0 && { refusals }),
      ...beside,
    });
  }

  static of({ from, positions, refusals = [] }: Serialised, positionStride = 1): CommandWindow {
    const rejections = refusals.map(
      ([id, { code, details, message }]) => [id, reject(code, details, message)] as const,
    );
    return new CommandWindow(positionStride, from, positions, rejections as [string, Rejection][]);
  }
}

/** Notes which of these commands are among a stream's events, and what was refused for good. The stream was searched up to `position`. */
export function noteFound(waiting: readonly Waiting[], events: readonly LoggedEvent[], position: number): void {
  const found = new Map(
    events.map(({ type, payload, metadata }) => [
      JSON.parse(metadata).commandId as string,
      type === COMMAND_REFUSED ? refusalIn({ type, data: fromJson(payload) }) : undefined,
    ]),
  );
  for (const one of waiting) {
    one.isKnown = found.has(one.envelope.commandId);
    one.refusal = found.get(one.envelope.commandId);
    one.since = position;
  }
}

/** A stream in memory: its committed state, and the commands that wait for it. */
export class Stream {
  readonly name: string;
  readonly decider: AnyDecider;
  readonly queue: Waiting[] = [];
  state: unknown;
  /** Revision of the last committed event; -1 for none. */
  revision = -1;
  /** Position of the last committed event; 0 for none. */
  position = 0;
  moved: Moved = { revision: -1, position: 0 };
  window: CommandWindow;
  snapshotRevision = -1;
  /** Set while it is read or written: its queue only grows then, and nobody else touches it. */
  busy = false;
  loaded = false;
  /** Taken to be new without a look into the store. This may lead to an append only, which finds out. */
  assumedNew = false;
  /** Another process has written up to here. */
  foreignRevision = -1;
  /** To be read anew from the beginning when it is free. */
  forgotten = false;
  /** Flushes in a row whose outcome was unknown and that turned out not to be written. */
  doubts = 0;
  /** When the first of them was, by the process's own clock. */
  doubtedSince = 0;

  private readonly positionStride: number;

  constructor(name: string, decider: AnyDecider, positionStride: number) {
    this.name = name;
    this.decider = decider;
    this.state = decider.initial;
    this.positionStride = positionStride;
    this.window = new CommandWindow(positionStride);
  }

  /** True when the store has to be asked before anything is decided. */
  get isOutdated(): boolean {
    return (!this.loaded && !this.assumedNew) || this.revision < this.foreignRevision;
  }

  /** Commands that may be repetitions of what the window does not reach. */
  get unsearched(): Waiting[] {
    return this.queue.filter(
      ({ since, isKnown, envelope: { commandId } }) =>
        since !== undefined && !isKnown && !this.window.has(commandId) && !this.window.reachesBackTo(since),
    );
  }

  /** Folds committed events, oldest first. */
  fold(events: readonly RecordedEvent[]): void {
    for (const event of events) {
      this.state = evolved(this.decider, this.state, { type: event.type, data: event.data, at: event.at });
      this.passed(event, event.position, event.meta);
    }
    if (events.length > 0 && this.assumedNew) this.isRead();
  }

  /** Moves on to the next event, which stands at `position`. */
  passed(event: Event, position: number, { commandId }: Pick<EventMeta, 'commandId'>): void {
    this.revision += 1;
    this.position = position;
    this.window.add(commandId, position, refusalIn(event));
    if (!isAside(this.decider, event.type)) this.moved = { revision: this.moved.revision + 1, position };
  }

  /** What is in memory is what the store holds. */
  isRead(): void {
    this.loaded = true;
    this.assumedNew = false;
  }

  /** What is kept of it for a while, so that it need not be read from its beginning. */
  get snapshot(): Snapshot {
    const { name: stream, revision, position, decider, state, moved } = this;
    const window = this.window.serialise(moved.revision === revision ? {} : { moved });
    return { stream, revision, position, version: decider.version, state: toJson(state), window };
  }

  /** Goes on from what was kept. */
  restore({ revision, position, state, window }: Omit<Snapshot, 'stream' | 'version'>): void {
    const kept = JSON.parse(window) as Serialised;
    this.state = fromJson(state);
    this.revision = revision;
    this.position = position;
    this.moved = kept.moved ?? { revision, position };
    this.snapshotRevision = revision;
    this.window = CommandWindow.of(kept, this.positionStride);
  }

  /** Forgets everything but the commands that wait. */
  reset(): void {
    this.state = this.decider.initial;
    this.revision = -1;
    this.position = 0;
    this.moved = { revision: -1, position: 0 };
    this.window = new CommandWindow(this.positionStride);
    this.snapshotRevision = -1;
    this.loaded = false;
    this.assumedNew = false;
    this.forgotten = false;
    this.foreignRevision = -1;
  }
}

/** An event decided but not yet written. */
export interface Decided {
  event: Event;
  id: string;
  /** Wall time. */
  at: string;
  meta: EventMeta;
}
