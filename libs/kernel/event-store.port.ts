/** An event as the store keeps it: exact bytes of payload and metadata, as JSON text. */
export interface StoredEvent {
  id: string;
  type: string;
  payload: string;
  metadata: string;
}

/** A stored event read back. */
export interface LoggedEvent extends StoredEvent {
  stream: string;
  revision: number;
  position: number;
}

/** The answer to a keyed request, written in the same commit as the events that it rests on (architecture §11). */
export interface KeyedAnswer {
  /** Hash of token, method, path and key, hex. */
  key: string;
  /** Hash of the request's body, hex. */
  bodyHash: string;
  status: number;
  body: string;
}

/** One stream's part of a flush. */
export interface Append {
  stream: string;
  /** The revision of the stream's last event as the writer knows it; -1: there is no such stream. */
  expectedRevision: number;
  events: readonly StoredEvent[];
  answers: readonly KeyedAnswer[];
}

/** What became of one append. The others of the same flush are not touched by its failure. */
export type AppendOutcome =
  /** The last event stands at `firstPosition` + number of events - 1; the others there or before, in order. Without events: where the log stands. */
  { outcome: 'appended'; firstPosition: number } | { outcome: 'conflict' } | { outcome: 'key-taken'; key: string };

export interface Snapshot {
  stream: string;
  revision: number;
  position: number;
  /** Version of the decider's state; another one is discarded by the reader. */
  version: number;
  state: string;
  /** Command ids remembered beside the state: the write path's own text. */
  window: string;
}

/** A stream from its snapshot on. */
export interface StreamRead {
  snapshot: Snapshot | undefined;
  events: LoggedEvent[];
}

/**
 * The log. Streams are appended to with an expected revision; the whole log is read in one order.
 * Every adapter passes `test/conformance/event-store`.
 */
export interface EventStore {
  /** How many flushes may be under way at once, each on other streams. */
  readonly flushesInFlight: number;
  /** About how far the positions of neighbouring events lie apart: 1 where they are contiguous. */
  readonly positionStride: number;
  /** At most so many commands go into one append, where the store limits its size. */
  readonly commandsPerAppend?: number;
  /**
   * Appends to several streams in one flush, each stream and each answer's key at most once in it. An append without events only checks
   * the expected revision and remembers its answers. Throws when the outcome is unknown: nothing may be concluded then.
   */
  append(batch: readonly Append[]): Promise<AppendOutcome[]>;
  /**
   * The same for one stream, so that a competing writer cannot starve it: `decide` is given the newer events than `afterRevision`
   * while nobody else can append, and answers with the append to make, or undefined for none. A store without such a lock asks it again
   * when somebody was faster, with what is newer than the last time.
   */
  appendExclusively(
    stream: string,
    afterRevision: number,
    decide: (newer: LoggedEvent[]) => Promise<Append | undefined>,
  ): Promise<AppendOutcome | undefined>;
  /** A stream's events with `revision > afterRevision`, oldest first; at most `limit` when given. */
  readStream(stream: string, afterRevision: number, limit?: number): Promise<LoggedEvent[]>;
  /** A stream's events with `position > afterPosition`, oldest first. */
  readStreamSince(stream: string, afterPosition: number): Promise<LoggedEvent[]>;
  /** Several streams, each from its newest snapshot; at most `limit` events of each when given. */
  loadStreams(streams: readonly string[], limit?: number): Promise<Map<string, StreamRead>>;
  /** Events with `position > after` in order, at most `limit`; only of these types when given. */
  readAll(after: number, limit: number, types?: readonly string[]): Promise<{ events: LoggedEvent[]; upTo: number }>;
  /** The streams with events after a position, each with its newest revision, and the position up to which that is known. */
  changedStreams(after: number): Promise<{ streams: { stream: string; revision: number }[]; upTo: number }>;
  /** Position of the last event; 0 when the log is empty. */
  head(): Promise<number>;
  /** Calls back when there may be newer events; never promises one call per event. Returns the way to stop. */
  subscribe(wake: (head: number) => void): Promise<() => Promise<void>>;
  /** Keeps the newest snapshot of each stream. An older one does not replace a newer one of the same version. */
  saveSnapshots(snapshots: readonly Snapshot[]): Promise<void>;
}

/** What is known of a keyed request that begins. */
export type Reservation =
  | { state: 'answered'; answer: KeyedAnswer }
  /** Nobody had this key before. */
  | { state: 'first' }
  /** It was begun before, and may be under way elsewhere. What it appended comes after the position `since`. */
  | { state: 'begun'; bodyHash: string; since: number };

/** The remembered answers of keyed requests. */
export interface KeyedAnswers {
  /**
   * Notes a request before it does anything. Only where an answer is not written in the commit that it rests on: what was appended by an
   * attempt that ended before its answer was remembered is found by the position and the ids of its commands.
   */
  reserve?(key: string, bodyHash: string): Promise<Reservation>;
  /** A reserved request was refused: the key may come with another body. */
  release?(key: string): Promise<void>;
  find(key: string): Promise<KeyedAnswer | undefined>;
  /**
   * Remembers an answer that no event was appended for. `stream`: what it is about, by which it is found when a person is erased. One that
   * is there already stays: false then.
   */
  remember(answer: KeyedAnswer, stream?: string): Promise<boolean>;
  /** Forgets answers older than the retention, which is never less than 24 hours; says how many. */
  forgetOld(hours?: number): Promise<number>;
}
