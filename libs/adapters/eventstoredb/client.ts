import {
  BACKWARDS,
  END,
  EventStoreDBClient,
  excludeSystemEvents,
  FORWARDS,
  NO_STREAM,
  type ReadPosition,
  START,
  type StreamingRead,
} from '@eventstore/db-client';
import { Backoff, inTime, isPassing, isSilence, kindOf, Silence, sleep } from './patience.ts';
import type { Source } from './subscription.ts';
import { nameNoAddresses } from './tls-name.ts';
import type { WireEvent, WireRecord } from './wire.ts';

export interface ClientOptions {
  url: string;
  /** How long a call is tried until its outcome counts as unknown. */
  deadlineMs: number;
  /** How long one attempt of it may be without a sign of life. */
  attemptMs: number;
}

/** A place in the log: a position, or one of its ends. */
export type Place = number | 'start' | 'end';

/** What becomes of a record that is read: kept, left out, or the end of the read, itself left out. */
export type Keep = (record: WireRecord, kept: number) => boolean | 'leave-out';

export interface AppendAnswer {
  /** Of the last event; absent: the server did not say, or not about this attempt. */
  position: number | undefined;
}

const CLOSE_MS = 2_000;

nameNoAddresses();

type Read = StreamingRead<{ event?: WireRecord }>;

/** What the client does not show. */
interface ClientInside {
  supports: () => Promise<boolean>;
  handleError: (client: unknown, error: Error) => Promise<void>;
  getChannel: () => Promise<{ close(): void }>;
}

/**
 * The client of EventStoreDB with what it lacks: a limit of time on every call, repetition of what failed for a moment only, and a new
 * connection in place of one that is silent. The only file that knows the client.
 */
export class LogClient {
  private readonly options: ClientOptions;
  private client: EventStoreDBClient;
  private readonly silent = new Set<EventStoreDBClient>();
  /** Those whose connection was given up: what is read there ends as if there were no more. */
  private readonly ended = new WeakSet<EventStoreDBClient>();
  private isClosed = false;

  constructor(options: ClientOptions) {
    this.options = options;
    this.client = connect(options.url);
  }

  /**
   * Appends events with an expected revision, -1 for a new stream; 'conflict' when the stream stands elsewhere. The same events may be
   * sent several times: the server recognises their ids. Throws when the outcome is unknown.
   */
  async append(
    stream: string,
    expectedRevision: number,
    events: readonly WireEvent[],
  ): Promise<AppendAnswer | 'conflict'> {
    const options = {
      expectedRevision: expectedRevision < 0 ? NO_STREAM : BigInt(expectedRevision),
      requiresLeader: true,
      deadline: this.options.attemptMs,
    } as const;
    let attempts = 0;
    try {
      const { success, position } = await this.trying((client) => {
        attempts += 1;
        const call = client.appendToStream(stream, [...events], options);
        return inTime(`appending to ${stream}`, this.options.attemptMs, call);
      });
      if (!success) return 'conflict';
      return { position: attempts === 1 && position ? Number(position.commit) : undefined };
    } catch (error) {
      if (kindOf(error) === 'wrong-expected-version') return 'conflict';
      throw error;
    }
  }

  /** Records of a stream from a revision on, or backwards from its end; none when there is no such stream. */
  async readStream(
    stream: string,
    { from, maxCount }: { from: number | 'end'; maxCount?: number },
    keep?: Keep,
  ): Promise<WireRecord[]> {
    const where =
      from === 'end'
        ? ({ direction: BACKWARDS, fromRevision: END } as const)
        : ({ direction: FORWARDS, fromRevision: from === 0 ? START : BigInt(from) } as const);
    const options = { ...where, requiresLeader: true, ...(maxCount !== undefined && { maxCount }) } as const;
    try {
      return await this.read(`reading ${stream}`, (client) => client.readStream(stream, options) as Read, keep);
    } catch (error) {
      if (kindOf(error) === 'stream-not-found') return [];
      throw error;
    }
  }

  /** Records of the log: forwards from a position on, or backwards from before it. */
  readAll(from: Place, { backwards, maxCount }: { backwards?: boolean; maxCount?: number }, keep?: Keep) {
    const options = {
      direction: backwards ? BACKWARDS : FORWARDS,
      fromPosition: placeOf(from),
      requiresLeader: true,
      ...(maxCount !== undefined && { maxCount }),
    } as const;
    return this.read('reading the log', (client) => client.readAll(options) as Read, keep);
  }

  /** What is appended after a position, or from now on, without the server's own events. It does not come back when it ends. */
  subscribe(after: number | undefined): Source {
    return this.client.subscribeToAll({ fromPosition: placeOf(after ?? 'end'), filter: excludeSystemEvents() });
  }

  async close(): Promise<void> {
    this.isClosed = true;
    await Promise.all([this.client, ...this.silent].map((client) => this.end(client)));
  }

  private async trying<T>(attempt: (client: EventStoreDBClient) => Promise<T>): Promise<T> {
    const { deadlineMs } = this.options;
    const deadline = performance.now() + deadlineMs;
    const backoff = new Backoff(20, 1_000);
    for (;;) {
      const { client } = this;
      try {
        return await attempt(client);
      } catch (error) {
        if (isSilence(error)) this.replace(client);
        const { pauseMs } = backoff;
        if (this.isClosed || !isPassing(error) || performance.now() + pauseMs > deadline) throw error;
        await sleep(pauseMs);
      }
    }
  }

  /** A connection may be dead without a word. What is still under way on it gets its time before it is cut. */
  private replace(client: EventStoreDBClient): void {
    if (client !== this.client || this.isClosed) return;
    this.client = connect(this.options.url);
    this.silent.add(client);
    const cut = () => {
      this.silent.delete(client);
      void this.end(client);
    };
    setTimeout(cut, this.options.deadlineMs).unref();
  }

  private read(what: string, open: (client: EventStoreDBClient) => Read, keep?: Keep): Promise<WireRecord[]> {
    return this.trying(async (client) => {
      const records = await collected(open(client), what, this.options.attemptMs, keep);
      if (this.ended.has(client)) throw new Error(`the connection was given up: ${what}`);
      return records;
    });
  }

  private end(client: EventStoreDBClient): Promise<void> {
    this.ended.add(client);
    return disconnect(client);
  }
}

/** Asks a server for the end of its log. Throws what is wrong, after `patienceMs` at the latest. */
export async function reachEventStoreDb(url: string, patienceMs: number): Promise<void> {
  const client = new LogClient({ url, deadlineMs: patienceMs, attemptMs: patienceMs });
  try {
    await client.readAll('end', { backwards: true, maxCount: 1 });
  } finally {
    await client.close();
  }
}

/** Reads until the end, or until `keep` has enough. Each record may take `patienceMs`, not the whole. */
function collected(read: Read, what: string, patienceMs: number, keep: Keep = () => true): Promise<WireRecord[]> {
  return new Promise((resolve, reject) => {
    const records: WireRecord[] = [];
    let timer: NodeJS.Timeout | undefined;
    const settle = (error?: unknown) => {
      clearTimeout(timer);
      read.off('data', received);
      if (!read.readableEnded) read.cancel().catch(() => {}); // fails when it could not be opened: nothing to cancel
      if (error === undefined) resolve(records);
      else reject(error);
    };
    const wait = () => {
      clearTimeout(timer);
      timer = setTimeout(() => settle(new Silence(what, patienceMs)), patienceMs);
    };
    const received = ({ event }: { event?: WireRecord }) => {
      wait();
      if (!event) return;
      try {
        const isKept = keep(event, records.length);
        if (isKept === true) records.push(event);
        else if (!isKept) settle();
      } catch (error) {
        settle(error);
      }
    };
    wait();
    read.on('error', settle);
    read.on('end', () => settle());
    read.on('data', received);
  });
}

/**
 * The client would send appends through one call that all of them, and all clients of the process, share: without a limit of time, and
 * such that the end of one connection forgets what another one waits for, whose answers then raise an error that nobody can catch. It
 * does so where the server says that it supports that call. Asked nothing, it makes a call per append.
 */
function connect(url: string): EventStoreDBClient {
  const client = parsed(url);
  const inside = client as unknown as ClientInside;
  inside.supports = async () => false;
  const { handleError } = inside; // the client does not wait for it: were no node found meanwhile, nobody could catch that
  inside.handleError = (failed, error) => handleError(failed, error).catch(() => {});
  return client;
}

/** The client's own error carries the whole connection string, and logs would show the password in it. */
function parsed(url: string): EventStoreDBClient {
  try {
    return EventStoreDBClient.connectionString(url);
  } catch (error) {
    throw new Error(`The connection string of EventStoreDB cannot be used: ${(error as Error).message}`);
  }
}

/** The client can end its calls, but not its connection. */
async function disconnect(client: EventStoreDBClient): Promise<void> {
  const { getChannel } = client as unknown as ClientInside;
  const ending = client.dispose().then(async () => (await getChannel()).close());
  await inTime('closing a connection', CLOSE_MS, ending).catch(() => {}); // there may be no node to have one with
}

const placeOf = (place: Place): ReadPosition =>
  place === 'start' ? START : place === 'end' ? END : { commit: BigInt(place), prepare: BigInt(place) };
