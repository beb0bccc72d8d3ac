import type pg from 'pg';
import { checkpointsOf, liveCheckpoints } from '../../../libs/adapters/postgres/live-checkpoints.ts';
import { onOwnConnection } from '../../../libs/adapters/postgres/own-connection.ts';
import { deciders } from '../../../libs/domain/index.ts';
import type { LoggedEvent } from '../../../libs/kernel/event-store.port.ts';
import { fromJson } from '../../../libs/kernel/json.ts';
import { categoryOf, type RecordedEvent, streamIdOf } from '../../../libs/kernel/messages.ts';
import type { AnyProjection } from '../../../libs/kernel/projection.ts';
import { internalAccounts } from '../../../projections/internal-accounts.ts';
import { compareTables } from '../../projector/src/compare.ts';
import { Fill } from '../../projector/src/fill.ts';
import { oneByOne } from '../../projector/src/one-by-one.ts';
import { readSkips } from '../../projector/src/skips.ts';
import { planAsUsual, prepareSession } from '../../projector/src/tables.ts';
import type { Engine } from '../../shared/engine.ts';
import { ClaimCheck } from './claim-check.ts';
import { Ledger } from './ledger.ts';
import { shownValue } from './output.ts';
import { isGapless } from './replay.ts';
import { StreamCheck } from './stream-check.ts';
import { Transactions } from './transactions.ts';

/** What is checked, in this order; each finding names its check. */
export const checks = [
  'positions',
  'streams',
  'events',
  'ledger',
  'trial balance',
  'transactions',
  'claims',
  'balances',
  'read models',
  'timers',
] as const;
export type Check = (typeof checks)[number];

/** Something that is not as it must be. */
export interface Finding {
  check: Check;
  /** A position, a stream, an account, a row. */
  subject: string;
  message: string;
}

export interface Verification {
  events: number;
  /** Position of the last event. */
  head: number;
  /** Events that the read models had not come to. */
  unprojected: number;
  /** Events that the read models pass over by an operator's order. */
  skipped: number;
  accounts: number;
  transactions: number;
  seconds: number;
  /** How often each check failed. */
  failures: Record<Check, number>;
  /** The first findings of each check. */
  findings: Finding[];
  /** Per currency, smallest units. */
  totals: Record<string, bigint>;
}

export interface VerifyOptions {
  progress?: (at: { position: number; upTo: number; rate: number }) => void;
  /** Findings to keep per check. */
  show?: number;
  batchSize?: number;
}

type Queryable = Pick<pg.ClientBase, 'query'>;

const BATCH_SIZE = 1_000;
const SHOWN = 10;
const ROWS_PER_FETCH = 2_000;

/**
 * Replays everything and holds it against what the platform shows: the log itself, the ledger added up from movements, every transaction,
 * what customers have alone, every row of every read model, and what these wait for. It reads one moment of the read models, so that it may run while the platform works; it writes
 * nothing but temporary tables. Memory is bounded but for one small entry per account, per customer and per payment that is under way.
 */
export async function verify(
  engine: Engine,
  projections: readonly AnyProjection[],
  options: VerifyOptions = {},
): Promise<Verification> {
  return onOwnConnection(engine.url, 'ledgerline-verify', async (client) => {
    await client.query(`SET temp_buffers = '32MB'; SET work_mem = '64MB'`);
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
    const verification = await new Verify(engine, projections, options, client).run();
    await client.query('ROLLBACK');
    return verification;
  });
}

class Verify {
  private readonly engine: Engine;
  private readonly projections: readonly AnyProjection[];
  private readonly options: VerifyOptions;
  private readonly client: pg.Client;
  private readonly db: Queryable;
  private readonly startedMs = performance.now();
  private readonly ledger: Ledger;
  private readonly transactions = new Transactions();
  private readonly claims = new ClaimCheck();
  private readonly streams: StreamCheck;
  private readonly fills: Fill[];
  private readonly failures = Object.fromEntries(checks.map((check) => [check, 0])) as Record<Check, number>;
  private readonly findings: Finding[] = [];
  private events = 0;
  private unprojected = 0;
  private position = 0;
  private head = 0;
  /** Where each partition of the read models stood at the moment that is looked at. */
  private live: readonly number[] = [];
  private skips: ReadonlySet<number> = new Set();

  constructor(engine: Engine, projections: readonly AnyProjection[], options: VerifyOptions, client: pg.Client) {
    this.engine = engine;
    this.projections = projections;
    this.options = options;
    this.client = client;
    this.db = oneByOne(client);
    this.fills = projections.map((projection) => new Fill(projection, replayed(projection), this.db));
    this.streams = new StreamCheck(this.db, isGapless(engine));
    this.ledger = new Ledger(({ kind, subject, position, message }) =>
      this.found(kind, subject, `${message} (event at position ${position})`),
    );
  }

  async run(): Promise<Verification> {
    await this.moment();
    for (const { table } of this.fills) await table.create(this.client);
    await this.streams.begin();
    await prepareSession(this.db);
    await this.replay();
    await planAsUsual(this.db);
    for await (const { stream, message } of this.streams.faults()) this.found('streams', stream, message);
    for (const { paymentId, position, message } of this.transactions.unexplained()) {
      this.found('transactions', paymentId, `${message} (last event at position ${position})`);
    }
    for (const [key, minor] of this.ledger.reserved) {
      const [accountId, paymentId] = key.split(' ') as [string, string];
      if (this.transactions.isUnderWay(paymentId)) continue;
      this.found('ledger', `account:${accountId}`, `holds ${minor} for payment ${paymentId}, which is not under way`);
    }
    for (const { customerId, message } of this.claims.unclaimed())
      this.found('claims', `customer-${customerId}`, message);
    await this.balances();
    await this.readModels();
    await this.timers();
    return {
      events: this.events,
      head: this.head,
      unprojected: this.unprojected,
      skipped: this.skips.size,
      accounts: this.ledger.accounts.size,
      transactions: this.transactions.count,
      seconds: (performance.now() - this.startedMs) / 1_000,
      failures: this.failures,
      findings: this.findings.toSorted((a, b) => checks.indexOf(a.check) - checks.indexOf(b.check)),
      totals: Object.fromEntries([...this.ledger.totals].sort()),
    };
  }

  private found(check: Check, subject: string, message: string): void {
    this.failures[check] += 1;
    if (this.failures[check] <= (this.options.show ?? SHOWN)) this.findings.push({ check, subject, message });
  }

  /** Where log and read models stand at the moment that is looked at. */
  private async moment(): Promise<void> {
    const known = await liveCheckpoints(this.client);
    const names = checkpointsOf(this.engine.partitions);
    this.live = names.map((name) => known.get(name) ?? 0);
    this.skips = await readSkips(this.client);
    this.head = await this.engine.store.head();
    const { rows } = await this.client.query<{ name: string; position: string }>(
      `SELECT name, position FROM checkpoints UNION ALL SELECT 'relay/' || topic, position FROM relays ORDER BY name`,
    );
    for (const { name, position } of rows) {
      if (Number(position) > this.head)
        this.found('positions', `${this.head}`, `is the end of the log, yet ${name} has come to ${position}`);
    }
  }

  private isShown({ position, meta }: RecordedEvent): boolean {
    const { partitions, partitionOf } = this.engine.partitions;
    return position <= this.live[partitions === 1 ? 0 : partitionOf(meta.tenant.platform)]!;
  }

  /** The whole log, once; the next batch is fetched while one is looked at. */
  private async replay(): Promise<void> {
    const size = this.options.batchSize ?? BATCH_SIZE;
    const read = (after: number) => {
      const reading = after < this.head ? this.engine.store.readAll(after, size) : undefined;
      reading?.catch(() => {}); // awaited in the next round
      return reading;
    };
    for (let reading = read(0), after = 0; reading; ) {
      const { events, upTo } = await reading;
      if (upTo <= after) break;
      after = upTo;
      reading = read(after);
      const logged = events.filter(({ position }) => position <= this.head);
      this.follow(logged);
      await this.streams.take(logged);
      const decoded = await this.decoded(logged);
      for (const event of decoded) this.add(event);
      const shown = decoded.filter((event) => this.isShown(event) && !this.skips.has(event.position));
      for (const fill of [...this.fills]) await this.refill(fill, shown);
      const rate = this.position / ((performance.now() - this.startedMs) / 1_000);
      this.options.progress?.({ position: this.position, upTo: this.head, rate });
    }
    if (this.position < this.head)
      this.found('positions', `${this.position + 1}`, `missing: the log should reach ${this.head}`);
  }

  /** Positions grow; on Postgres none is left out. */
  private follow(logged: readonly LoggedEvent[]): void {
    for (const { position } of logged) {
      const expected = this.position + 1;
      if (position < expected) this.found('positions', `${position}`, `follows ${this.position}`);
      else if (position > expected && isGapless(this.engine))
        this.found('positions', `${expected}`, `missing up to ${position - 1}`);
      this.position = position;
    }
    this.events += logged.length;
  }

  /** A batch with an event that cannot be read is read event by event, to find which. */
  private async decoded(logged: readonly LoggedEvent[]): Promise<RecordedEvent[]> {
    try {
      return await this.engine.codec.decode(logged);
    } catch (error) {
      if (logged.length === 1) {
        const [{ position, stream, type }] = logged as [LoggedEvent];
        this.found('events', `${position}`, `${type} of ${stream} cannot be read: ${(error as Error).message}`);
        return [];
      }
      const events: RecordedEvent[] = [];
      for (const one of logged) events.push(...(await this.decoded([one])));
      return events;
    }
  }

  private add(event: RecordedEvent): void {
    try {
      const fault = misplaced(event);
      if (fault) this.found('events', `${event.position}`, fault);
      const isShown = this.isShown(event);
      if (!isShown) this.unprojected += 1;
      this.ledger.take(event, isShown);
      this.transactions.take(event);
      this.claims.take(event);
    } catch (error) {
      this.found('events', `${event.position}`, `${event.type} cannot be added up: ${(error as Error).message}`);
    }
  }

  private async refill(fill: Fill, events: readonly RecordedEvent[]): Promise<void> {
    const at = this.fills.indexOf(fill);
    try {
      await fill.take(events);
    } catch (error) {
      const { name } = fill.projection;
      this.found(
        'read models',
        name,
        `cannot be replayed around position ${this.position}: ${(error as Error).message}`,
      );
      this.fills.splice(at, 1);
    }
  }

  /** Every account as the read model shows it, against the sum of its movements. Both stand at the same position. */
  private async balances(): Promise<void> {
    if (!this.projections.includes(internalAccounts)) return;
    const unseen = new Set([...this.ledger.accounts.keys()].filter((id) => this.ledger.shown(id)));
    await this.db.query(`DECLARE shown NO SCROLL CURSOR FOR SELECT id, state FROM ${internalAccounts.name}`);
    for (;;) {
      const { rows } = await this.db.query<{ id: string; state: string }>(`FETCH ${ROWS_PER_FETCH} FROM shown`);
      if (rows.length === 0) break;
      for (const { id, state } of rows) {
        const { postedMinor, pendingMinor } = fromJson<{ postedMinor: bigint; pendingMinor: bigint }>(state);
        const held = this.ledger.shown(id);
        unseen.delete(id);
        if (!held) this.found('balances', id, 'is shown, but was never opened');
        else if (held.postedMinor !== postedMinor || held.pendingMinor !== pendingMinor) {
          const shown = `${postedMinor} (${pendingMinor} reserved)`;
          this.found('balances', id, `shows ${shown}, its events add up to ${held.postedMinor} (${held.pendingMinor})`);
        }
      }
    }
    await this.db.query('CLOSE shown');
    for (const id of unseen) this.found('balances', id, 'was opened, but is not shown');
  }

  /** What rows wait for, against what will wake them: both are written together. */
  private async timers(): Promise<void> {
    for (const { waiting } of this.fills) {
      for await (const { stream, at } of waiting.missing(this.db))
        this.found('timers', stream, `waits until ${at}, and nothing will wake it: rebuild its read model`);
    }
  }

  /** Every row of every read model, against the same row made from the log alone. */
  private async readModels(): Promise<void> {
    const { rows } = await this.db.query<{ name: string; version: number }>('SELECT name, version FROM read_tables');
    const versions = new Map(rows.map(({ name, version }) => [name, version]));
    for (const fill of this.fills) {
      const { projection, table } = fill;
      const { name } = projection;
      await fill.flush();
      if (versions.get(name) !== projection.version) {
        this.found('read models', name, 'has another shape than this version of the program: rebuild it');
        continue;
      }
      await this.client.query(`ANALYZE ${table.table}`);
      const show = this.options.show ?? SHOWN;
      const compared = await compareTables(this.client, projection, { live: name, rebuilt: table.table }, show);
      for (const { id, field, live, rebuilt } of compared.differences) {
        this.found(
          'read models',
          `${name} ${id}`,
          `${field} is ${shownValue(field, live)}, a replay gives ${shownValue(field, rebuilt)}`,
        );
      }
      const shown = new Set(compared.differences.map(({ id }) => id)).size;
      this.failures['read models'] += compared.differing - shown;
    }
  }
}

const replayed = (projection: AnyProjection): string => `pg_temp.${projection.name}__replay`;

const idFields = new Map(deciders.map(({ name, id }) => [name, id]));

/** What is wrong with where an event lies: of its stream's kind, and about its stream. */
function misplaced({ type, stream, data, at }: RecordedEvent): string | undefined {
  const field = idFields.get(categoryOf(stream));
  if (field === undefined) return `${type} is in ${stream}, which no part of this version knows`;
  const id = (data as Record<string, unknown>)[field];
  if (id !== streamIdOf(stream)) return `${type} is in ${stream}, but it is about ${id}`;
  return Number.isNaN(Date.parse(at)) ? `${type} of ${stream} has no time` : undefined;
}
