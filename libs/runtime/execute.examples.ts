import { randomUUID } from 'node:crypto';
import { MemoryEventStore } from '../adapters/memory/event-store.ts';
import { MemorySubjectKeys } from '../adapters/memory/subject-keys.ts';
import type { Decider } from '../kernel/decider.ts';
import { reject } from '../kernel/errors.ts';
import type { Append, AppendOutcome, EventStore, LoggedEvent } from '../kernel/event-store.port.ts';
import { command, type Event, type Tenant } from '../kernel/messages.ts';
import { EventCodec } from './codec.ts';
import { WritePath, type WritePathOptions } from './execute.ts';
import type { Envelope, Executed } from './stream.ts';

/** A purse that remembers the order in which money came: small enough to see every fault of the write path in it. */
export class OpenPurse extends command('OpenPurse')<{ purseId: string; limit: number }>() {}
export class PutIn extends command('PutIn')<{ purseId: string; coin: number; parts?: number }>() {}
export class TakeOut extends command('TakeOut')<{ purseId: string; coin: number }>() {}
/** Throws, as a decider with a bug does: while it decides, or in the middle of folding what it decided. */
export class Break extends command('Break')<{ purseId: string; where: 'decide' | 'evolve' }>() {}

type PurseEvent =
  | Event<'PurseOpened', { purseId: string; limit: number }>
  | Event<'CoinIn', { coin: number }>
  | Event<'CoinOut', { coin: number }>
  | Event<'Broken', { isBroken: boolean }>;

export interface Purse {
  isOpen: boolean;
  limit: number;
  coins: readonly number[];
}

export const purse: Decider<Purse, OpenPurse | PutIn | TakeOut | Break, PurseEvent> = {
  name: 'purse',
  id: 'purseId',
  commands: [OpenPurse, PutIn, TakeOut, Break],
  creates: ['OpenPurse'],
  initial: { isOpen: false, limit: 0, coins: [] },
  version: 1,
  decide(state, { type, data }) {
    if (type === 'Break') {
      if (data.where === 'decide') throw new Error('a bug in decide');
      return [
        { type: 'CoinIn', data: { coin: 666 } },
        { type: 'Broken', data: { isBroken: true } },
      ];
    }
    if (type === 'OpenPurse') {
      if (state.isOpen) return reject('CONFLICT', { reason: 'OPEN' });
      if (data.limit < 0) return reject('INVALID_AMOUNT');
      return [{ type: 'PurseOpened', data }];
    }
    if (!state.isOpen) return reject('REFERENCE_NOT_FOUND');
    if (type === 'PutIn') {
      if (data.coin === 0) return [];
      return Array.from({ length: data.parts ?? 1 }, () => ({ type: 'CoinIn', data: { coin: data.coin } }) as const);
    }
    if (!state.coins.includes(data.coin)) return reject('INVALID_INPUT', { reason: 'NO_SUCH_COIN' });
    return [{ type: 'CoinOut', data: { coin: data.coin } }];
  },
  evolve(state, { type, data }) {
    if (type === 'Broken') throw new Error('a bug in evolve');
    if (type === 'PurseOpened') return { isOpen: true, limit: data.limit, coins: [] };
    if (type === 'CoinIn') return { ...state, coins: [...state.coins, data.coin] };
    const at = state.coins.indexOf(data.coin);
    return { ...state, coins: state.coins.filter((_, i) => i !== at) };
  },
};

export const tenant: Tenant = { platform: 'p1', environment: 'sandbox' };

export const envelope = (extra: Partial<Envelope> = {}): Envelope => ({
  commandId: randomUUID(),
  correlationId: 'r1',
  actor: 'test',
  tenant,
  ...extra,
});

/** A store that notes what is asked of it and fails on request. */
export class WatchedStore implements EventStore {
  readonly flushesInFlight = 1;
  readonly positionStride = 1;
  readonly appends: Append[][] = [];
  readonly exclusive: string[] = [];
  readonly loads: string[][] = [];
  reads = 0;
  searches = 0;
  /** Taken off the front for each append: does something before, after or instead of it. */
  readonly faults: ((really: () => Promise<AppendOutcome[]>) => Promise<AppendOutcome[]>)[] = [];
  /** The same for each exclusive append. */
  readonly exclusiveFaults: ((
    really: () => Promise<AppendOutcome | undefined>,
  ) => Promise<AppendOutcome | undefined>)[] = [];
  /** Reads of single streams fail while it is above 0, and it counts down. */
  readFailures = 0;
  loadFailures = 0;
  private readonly store: EventStore;

  constructor(store: EventStore) {
    this.store = store;
  }

  append(batch: readonly Append[]): Promise<AppendOutcome[]> {
    this.appends.push([...batch]);
    const fault = this.faults.shift();
    return fault ? fault(() => this.store.append(batch)) : this.store.append(batch);
  }

  appendExclusively(...args: Parameters<EventStore['appendExclusively']>): Promise<AppendOutcome | undefined> {
    this.exclusive.push(args[0]);
    const fault = this.exclusiveFaults.shift();
    return fault ? fault(() => this.store.appendExclusively(...args)) : this.store.appendExclusively(...args);
  }

  async readStream(stream: string, afterRevision: number, limit?: number): Promise<LoggedEvent[]> {
    this.reads += 1;
    if (this.readFailures-- > 0) throw new Error('the store does not answer');
    return this.store.readStream(stream, afterRevision, limit);
  }

  async loadStreams(streams: readonly string[], limit?: number) {
    this.loads.push([...streams]);
    if (this.loadFailures-- > 0) throw new Error('the store does not answer');
    return this.store.loadStreams(streams, limit);
  }

  readStreamSince(stream: string, after: number): Promise<LoggedEvent[]> {
    this.searches += 1;
    return this.store.readStreamSince(stream, after);
  }

  readAll = (after: number, limit: number, types?: readonly string[]) => this.store.readAll(after, limit, types);
  head = () => this.store.head();
  subscribe = (wake: (head: number) => void) => this.store.subscribe(wake);
  saveSnapshots: EventStore['saveSnapshots'] = (snapshots) => this.store.saveSnapshots(snapshots);
  changedStreams: EventStore['changedStreams'] = (after) => this.store.changedStreams(after);
}

/** The streams' codec; personal data plays no part here. */
export const codec = new EventCodec([purse], new MemorySubjectKeys());

/** A write path on a store, with the messages that it logs. */
export function writePathOn(
  store: EventStore,
  options: Partial<WritePathOptions> = {},
): { path: WritePath; logged: string[] } {
  const logged: string[] = [];
  const path = new WritePath({
    store,
    codec,
    clock: { nowMs: () => 1_760_000_000_000 },
    writer: randomUUID(),
    log: (level, message) => logged.push(`${level}: ${message}`),
    ...options,
  });
  return { path, logged };
}

/** How each of some commands was answered: its coins, or the code of its refusal. */
export async function outcomes(answers: readonly Promise<{ state: unknown }>[]): Promise<unknown[]> {
  const settled = await Promise.allSettled(answers);
  return settled.map((one) =>
    one.status === 'fulfilled' ? (one.value.state as Purse).coins : (one.reason.code ?? one.reason.message),
  );
}

/** What a test has: a purse, the log it is kept in, and a write path that knows nothing yet. */
export class PurseTest {
  readonly memory = new MemoryEventStore();
  readonly store = new WatchedStore(this.memory);
  purseId: string = randomUUID();
  path!: WritePath;
  logged!: string[];

  constructor() {
    this.start();
  }

  /** Goes on with another write path, as after a restart. */
  start(options: Partial<WritePathOptions> = {}): void {
    ({ path: this.path, logged: this.logged } = writePathOn(this.store, options));
  }

  stream = () => `purse-${this.purseId}`;
  open = (on = this.path, limit = 5) => on.execute(purse, new OpenPurse({ purseId: this.purseId, limit }), envelope());
  putIn = (coin: number, extra: Partial<Envelope> = {}, on = this.path) =>
    on.execute(purse, new PutIn({ purseId: this.purseId, coin }), envelope(extra)) as Promise<Executed<Purse>>;
  takeOut = (coin: number, on = this.path) =>
    on.execute(purse, new TakeOut({ purseId: this.purseId, coin }), envelope());
  coins = async () => (await this.path.state<Purse>(purse, this.purseId)).state.coins;
  freshCoins = async () => (await this.path.fresh.state<Purse>(purse, this.purseId)).state.coins;

  /** What really happened. */
  async logOf(): Promise<[type: string, data: { coin?: number }][]> {
    const events = await this.memory.readStream(this.stream(), -1);
    return events.map(({ type, payload }) => [type, JSON.parse(payload)]);
  }

  coinsInLog = async () => (await this.logOf()).flatMap(([type, { coin }]) => (type === 'CoinIn' ? [coin] : []));
}

/** Remembers the coins as the answer to a key. */
export const answerOf = (key: string) => (done: Executed) => ({
  key,
  bodyHash: 'b',
  status: 200,
  body: JSON.stringify((done.state as Purse).coins),
});
