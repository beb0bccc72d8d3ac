import pg from 'pg';
import { payment } from '../../../libs/domain/payments/payment.ts';
import { fold } from '../../../libs/kernel/decider.ts';
import type { LoggedEvent } from '../../../libs/kernel/event-store.port.ts';
import { fromJson } from '../../../libs/kernel/json.ts';
import type { RecordedEvent } from '../../../libs/kernel/messages.ts';
import type { AnyProjection } from '../../../libs/kernel/projection.ts';
import { internalAccounts } from '../../../projections/internal-accounts.ts';
import { compareTables } from '../../projector/src/compare.ts';
import { Fill } from '../../projector/src/fill.ts';
import { oneByOne } from '../../projector/src/one-by-one.ts';
import type { Engine } from '../../shared/engine.ts';
import { Ledger } from './ledger.ts';
import { shownValue } from './output.ts';

/** What is checked, in this order; each finding names its check. */
export const checks = [
  'positions',
  'streams',
  'events',
  'ledger',
  'balances',
  'trial balance',
  'in transit',
  'read models',
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
  /** Events of the log, and how many of them are projected. */
  events: number;
  projected: number;
  accounts: number;
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

const BATCH_SIZE = 1_000;
const SHOWN = 10;
const ROWS_PER_FETCH = 2_000;
const STREAMS_LIMIT = 1_000;
/** Phases in which a payment has nothing on its way. */
const AT_REST = new Set(['NONE', 'OPEN', 'DONE', 'EXPIRED', 'REFUSED']);

/**
 * Replays everything and holds it against what the platform shows: the log itself, the ledger added up from movements, and every row of
 * every read model. It reads one moment of the database, so that it may run while the platform works; it writes nothing but temporary
 * tables. Memory is bounded but for one small entry per account and per payment that has money on its way.
 */
export async function verify(engine: Engine, projections: readonly AnyProjection[], options: VerifyOptions = {}) {
  const client = new pg.Client({ connectionString: engine.url, application_name: 'ledgerline-verify' });
  client.on('error', () => {});
  await client.connect();
  try {
    await client.query(`SET temp_buffers = '32MB'; SET work_mem = '64MB'`);
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
    const verification = await new Verify(engine, projections, options, client).run();
    await client.query('ROLLBACK');
    return verification;
  } finally {
    await client.end();
  }
}

class Verify {
  private readonly engine: Engine;
  private readonly projections: readonly AnyProjection[];
  private readonly options: VerifyOptions;
  private readonly client: pg.Client;
  private readonly startedMs = performance.now();
  private readonly ledger: Ledger;
  private readonly fills: Fill[];
  private readonly failures = Object.fromEntries(checks.map((check) => [check, 0])) as Record<Check, number>;
  private readonly findings: Finding[] = [];
  private position = 0;
  private upTo = 0;

  constructor(engine: Engine, projections: readonly AnyProjection[], options: VerifyOptions, client: pg.Client) {
    this.engine = engine;
    this.projections = projections;
    this.options = options;
    this.client = client;
    const db = oneByOne(client);
    this.fills = projections.map((projection) => new Fill(projection, replayed(projection), db));
    this.ledger = new Ledger(({ account, position, message }) =>
      this.found('ledger', account, `${message} (event at position ${position})`),
    );
  }

  async run(): Promise<Verification> {
    const { head, projected } = await this.moment();
    this.upTo = head;
    for (const { table } of this.fills) await table.create(this.client);
    await this.replay(projected, async (events) => {
      for (const fill of [...this.fills]) await this.refill(fill, events);
    });
    await this.balances();
    await this.readModels();
    await this.replay(head, async () => {});
    if (this.position < head) this.found('positions', `${this.position + 1}`, `missing: the log should reach ${head}`);
    await this.streams();
    const totals = this.ledger.totals();
    for (const [currency, minor] of totals) {
      if (minor !== 0n) this.found('trial balance', currency, `sums up to ${minor}, not to 0`);
    }
    await this.transit();
    return {
      events: head,
      projected,
      accounts: this.ledger.accounts.size,
      seconds: (performance.now() - this.startedMs) / 1_000,
      failures: this.failures,
      findings: this.findings.toSorted((a, b) => checks.indexOf(a.check) - checks.indexOf(b.check)),
      totals: Object.fromEntries([...totals].sort()),
    };
  }

  private found(check: Check, subject: string, message: string): void {
    this.failures[check] += 1;
    if (this.failures[check] <= (this.options.show ?? SHOWN)) this.findings.push({ check, subject, message });
  }

  /** Where log and read models stand at the moment that is looked at. */
  private async moment(): Promise<{ head: number; projected: number }> {
    const { rows } = await this.client.query<{ head: string; projected: string }>(
      `SELECT position AS head, COALESCE((SELECT position FROM checkpoints WHERE name = 'live'), 0) AS projected FROM log_head`,
    );
    const head = Number(rows[0]!.head);
    const projected = Number(rows[0]!.projected);
    if (projected > head) this.found('positions', `${head}`, `is the end of the log, yet ${projected} is projected`);
    return { head, projected: Math.min(head, projected) };
  }

  private async replay(upTo: number, also: (events: readonly RecordedEvent[]) => Promise<void>): Promise<void> {
    const size = this.options.batchSize ?? BATCH_SIZE;
    const read = () => this.engine.store.readAll(this.position, size);
    while (this.position < upTo) {
      const logged = (await read()).events.filter(({ position }) => position <= upTo);
      if (logged.length === 0) return;
      for (const { position } of logged) {
        const expected = this.position + 1;
        if (position !== expected) this.found('positions', `${expected}`, `missing up to ${position - 1}`);
        this.position = position;
      }
      const events = await this.decoded(logged);
      for (const event of events) this.add(event);
      await also(events);
      const rate = this.position / ((performance.now() - this.startedMs) / 1_000);
      this.options.progress?.({ position: this.position, upTo: this.upTo, rate });
    }
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
      this.ledger.take(event);
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
    const unseen = new Set(this.ledger.accounts.keys());
    await this.client.query(`DECLARE shown NO SCROLL CURSOR FOR SELECT id, state FROM ${internalAccounts.name}`);
    for (;;) {
      const { rows } = await this.client.query<{ id: string; state: string }>(`FETCH ${ROWS_PER_FETCH} FROM shown`);
      if (rows.length === 0) break;
      for (const { id, state } of rows) {
        const { postedMinor, pendingMinor } = fromJson<{ postedMinor: bigint; pendingMinor: bigint }>(state);
        const held = this.ledger.accounts.get(id);
        unseen.delete(id);
        if (!held) this.found('balances', id, 'is shown, but was never opened');
        else if (held.postedMinor !== postedMinor || held.pendingMinor !== pendingMinor) {
          const shown = `${postedMinor} (${pendingMinor} reserved)`;
          this.found('balances', id, `shows ${shown}, its events add up to ${held.postedMinor} (${held.pendingMinor})`);
        }
      }
    }
    await this.client.query('CLOSE shown');
    for (const id of unseen) this.found('balances', id, 'was opened, but is not shown');
  }

  /** Every row of every read model, against the same row made from the log alone. */
  private async readModels(): Promise<void> {
    const { rows } = await this.client.query<{ name: string; version: number }>(
      'SELECT name, version FROM read_tables',
    );
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
          `${field} is ${shownValue(live)}, a replay gives ${shownValue(rebuilt)}`,
        );
      }
      const shown = new Set(compared.differences.map(({ id }) => id)).size;
      this.failures['read models'] += compared.differing - shown;
    }
  }

  /** Revisions of each stream start at 0 and follow one another, in the order of the log. */
  private async streams(): Promise<void> {
    const { rows } = await this.client.query<{ stream: string; revision: string; before: string; position: string }>(
      `SELECT stream, revision, before, position FROM (
         SELECT stream, revision, position, lag(revision, 1, -1) OVER w AS before, lag(position, 1, 0) OVER w AS earlier
           FROM events WINDOW w AS (PARTITION BY stream ORDER BY revision)
       ) AS followed WHERE revision <> before + 1 OR position <= earlier ORDER BY position LIMIT ${STREAMS_LIMIT}`,
    );
    for (const { stream, revision, before, position } of rows) {
      this.found('streams', stream, `revision ${revision} at position ${position} follows revision ${before}`);
    }
  }

  /** Money in transit belongs to a payment that is under way. */
  private async transit(): Promise<void> {
    for (const [key, minor] of this.ledger.inTransit) {
      const [paymentId, currency] = key.split(' ') as [string, string];
      const stored = await this.engine.store.readStream(`${payment.name}-${paymentId}`, -1);
      const events = await this.engine.codec.decode(stored);
      const { phase } = fold(payment, events as never);
      if (AT_REST.has(phase)) {
        this.found('in transit', paymentId, `${minor} ${currency} are in transit, but the payment is ${phase}`);
      }
    }
  }
}

const replayed = (projection: AnyProjection): string => `pg_temp.${projection.name}__replay`;
