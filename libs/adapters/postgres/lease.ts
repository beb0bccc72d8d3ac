import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import type pg from 'pg';
import { TakenOver } from '../../kernel/feed.port.ts';

type Queryable = Pick<pg.ClientBase, 'query'>;

export interface LeaseOptions {
  /** What the holder does, as it is shown to operators: `projector`. */
  role: string;
  /** How often the holder says that it is there. */
  heartbeatMs?: number;
  /** Without a heartbeat for so long the lease is anybody's. */
  expiresMs?: number;
  /** How often one that waits for the lease looks. */
  pollMs?: number;
}

/** A lease as it was checked: what a holder's statements name to prove that it still holds it. */
export interface Held {
  name: string;
  /** Grows by one with each owner. */
  token: number;
}

export const LEASE_EXPIRES_MS = 10_000;
const HEARTBEAT_MS = 2_000;
const POLL_MS = 500;

/** Why what a lease holder wanted to write was not written. */
export class LeaseLost extends TakenOver {
  constructor(name: string) {
    super(`the lease "${name}" is held by another one now`);
  }
}

/** `host:pid:role`, by which operators find a holder. */
export const ownerOf = (role: string): string => `${hostname()}:${process.pid}:${role}`;

/** Within what process ids mean something: a boot of a machine, and a container on it. */
const MACHINE = machine();

function machine(): string {
  try {
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()} ${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return hostname(); // not on Linux
  }
}

/** Whether a holder is known to have ended: a process of this machine that is not there any more. */
export function hasEnded({ pid, machine: where }: { pid: number; machine: string }): boolean {
  if (where !== MACHINE) return false;
  try {
    return !process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}

/**
 * A piece of work that one process at a time does. Its holder says every two seconds that it is there; after ten seconds of silence, or
 * at once when its process is seen to have ended, another one takes over, under a token that is one higher. A holder that was stopped in between does not know that it is not the holder
 * any more: so whatever a holder writes names its token, in the same transaction (`holdsLease`) or statement (`leaseHeld`).
 *
 *     const lease = new Lease(pool, 'relay', { role: 'relay' });
 *     await lease.run((held, lost) => relay(held.token, lost), stopping.signal);
 *
 * Times are those of the database's clock. The pool must commit synchronously, so that no token is given out twice.
 */
export class Lease {
  readonly name: string;
  private readonly pool: Queryable;
  private readonly options: Required<LeaseOptions>;
  private holding: Holding | undefined;

  constructor(pool: Queryable, name: string, options: LeaseOptions) {
    this.pool = pool;
    this.name = name;
    this.options = { heartbeatMs: HEARTBEAT_MS, expiresMs: LEASE_EXPIRES_MS, pollMs: POLL_MS, ...options };
  }

  /** The token while it is held, as far as is known here. */
  get token(): number | undefined {
    return this.holding?.token;
  }

  /** Aborted as soon as it is known here that the lease is lost, or that nobody can say. Of the present holding; throws without one. */
  get lost(): AbortSignal {
    if (!this.holding) throw new Error(`the lease "${this.name}" is not held`);
    return this.holding.loss.signal;
  }

  /**
   * Whether nobody can have taken it over yet, as far as this process's clock tells: to be asked before something that no statement
   * guards, such as a request to somebody else.
   */
  get isSure(): boolean {
    return this.holding !== undefined && performance.now() - this.holding.confirmedAt < this.options.expiresMs;
  }

  /** What a holder's statements name. Throws `LeaseLost` when it is not held. */
  get held(): Held {
    if (!this.holding) throw new LeaseLost(this.name);
    return { name: this.name, token: this.holding.token };
  }

  /** Takes the lease if it is free; says whether it is held now. */
  async tryAcquire(): Promise<boolean> {
    return this.holding !== undefined || this.take(false);
  }

  /** Waits for the lease. False when `signal` ended the wait. */
  async acquire(signal?: AbortSignal): Promise<boolean> {
    while (!signal?.aborted) {
      if (await this.tryAcquire()) return true;
      await sleep(this.options.pollMs, signal);
    }
    return false;
  }

  /** Takes the lease whoever holds it; waits only for the transaction that the holder is in. */
  async seize(): Promise<void> {
    if (!this.holding) await this.take(true);
  }

  /** Gives the lease back, so that the next one need not wait for it to expire. Harmless when it is not held. */
  async release(): Promise<void> {
    const token = this.token;
    this.end(false);
    if (token === undefined) return;
    await this.pool
      .query('UPDATE leases SET owner = NULL WHERE name = $1 AND token = $2', [this.name, token])
      .catch(() => {}); // a database that cannot be reached lets it expire
  }

  /** Waits for the lease, works, and gives it back, also one that was held before. Undefined when `signal` came before the work. */
  async run<T>(work: (held: Held, lost: AbortSignal) => Promise<T>, signal?: AbortSignal): Promise<T | undefined> {
    try {
      return (await this.acquire(signal)) ? await work(this.held, this.lost) : undefined;
    } finally {
      await this.release();
    }
  }

  /** For one who found out by a statement of its own that another one holds the lease. */
  notHeld(): void {
    this.end(true);
  }

  private async take(isForced: boolean): Promise<boolean> {
    const { expiresMs, role, heartbeatMs } = this.options;
    const { rows: known } = await this.pool.query<{ token: string; is_free: boolean; pid: number; machine: string }>({
      name: 'look_at_lease',
      text: `SELECT token, pid, machine, ${isFree('$2')} AS is_free FROM leases WHERE name = $1`,
      values: [this.name, expiresMs],
    });
    const left = known[0] && hasEnded(known[0]) ? known[0].token : null;
    if (known[0] && !known[0].is_free && !left && !isForced) return false;
    const askedAt = performance.now();
    const { rows } = await this.pool.query<{ token: string }>({
      name: 'take_lease',
      text: `INSERT INTO leases (name, owner, pid, machine, token, acquired_at, heartbeat_at)
             VALUES ($1, $2, $3, $4, 1, clock_timestamp(), clock_timestamp())
             ON CONFLICT (name) DO UPDATE SET owner = excluded.owner, pid = excluded.pid, machine = excluded.machine,
               token = leases.token + 1, acquired_at = clock_timestamp(), heartbeat_at = clock_timestamp()
              WHERE $5 OR leases.token = $6 OR ${isFree('$7')}
             RETURNING token`,
      values: [this.name, ownerOf(role), process.pid, MACHINE, isForced, left, expiresMs],
    });
    if (!rows[0]) return false;
    this.holding = { name: this.name, token: Number(rows[0].token), loss: new AbortController(), confirmedAt: askedAt };
    Heart.of(this.pool, heartbeatMs).add(this.holding, expiresMs, () => this.end(true));
    return true;
  }

  private end(isLost: boolean): void {
    const { holding } = this;
    this.holding = undefined;
    if (!holding) return;
    Heart.of(this.pool, this.options.heartbeatMs).remove(holding);
    if (isLost) holding.loss.abort(new LeaseLost(this.name));
  }
}

interface Holding extends Held {
  loss: AbortController;
  /** When the last heartbeat that succeeded was asked for, by the process's own clock. */
  confirmedAt: number;
}

/** Heartbeats of all leases that are held through one pool, in one statement. */
class Heart {
  private static readonly hearts = new WeakMap<Queryable, Map<number, Heart>>();
  private readonly pool: Queryable;
  private readonly everyMs: number;
  private readonly holdings = new Map<Holding, { expiresMs: number; isLost: () => void }>();
  private timer: NodeJS.Timeout | undefined;
  private isBeating = false;

  private constructor(pool: Queryable, everyMs: number) {
    this.pool = pool;
    this.everyMs = everyMs;
  }

  static of(pool: Queryable, everyMs: number): Heart {
    const hearts = Heart.hearts.get(pool) ?? new Map<number, Heart>();
    Heart.hearts.set(pool, hearts);
    const heart = hearts.get(everyMs) ?? new Heart(pool, everyMs);
    hearts.set(everyMs, heart);
    return heart;
  }

  add(holding: Holding, expiresMs: number, isLost: () => void): void {
    this.holdings.set(holding, { expiresMs, isLost });
    this.timer ??= setInterval(() => void this.beat(), this.everyMs).unref();
  }

  remove(holding: Holding): void {
    this.holdings.delete(holding);
    if (this.holdings.size > 0) return;
    clearInterval(this.timer);
    this.timer = undefined;
  }

  /** A row that is locked, by one who waits to take it over, is left for the next time. */
  private async beat(): Promise<void> {
    const askedAt = performance.now();
    for (const [{ confirmedAt }, { expiresMs, isLost }] of this.holdings)
      if (askedAt - confirmedAt >= expiresMs) isLost();
    if (this.isBeating || this.holdings.size === 0) return;
    this.isBeating = true;
    const asked = [...this.holdings.keys()];
    try {
      const { rows } = await this.pool.query<{ no: string; is_held: boolean; is_confirmed: boolean }>({
        name: 'lease_heartbeats',
        text: `WITH held AS (SELECT * FROM unnest($1::text[], $2::bigint[]) WITH ORDINALITY AS h(name, token, no)),
                 free AS (
                   SELECT l.name, l.token FROM leases l JOIN held h ON l.name = h.name AND l.token = h.token AND l.owner IS NOT NULL
                      FOR NO KEY UPDATE OF l SKIP LOCKED
                 ),
                 beaten AS (
                   UPDATE leases l SET heartbeat_at = clock_timestamp() FROM free f WHERE l.name = f.name AND l.token = f.token
                   RETURNING l.name, l.token
                 )
               SELECT h.no, b.name IS NOT NULL AS is_confirmed, l.name IS NOT NULL AS is_held
                 FROM held h LEFT JOIN beaten b ON b.name = h.name AND b.token = h.token
                 LEFT JOIN leases l ON l.name = h.name AND l.token = h.token AND l.owner IS NOT NULL`,
        values: [asked.map(({ name }) => name), asked.map(({ token }) => token)],
      });
      for (const { no, is_confirmed, is_held } of rows) {
        const holding = asked[Number(no) - 1]!;
        if (is_confirmed) holding.confirmedAt = askedAt;
        else if (!is_held) this.holdings.get(holding)?.isLost();
      }
    } catch {
      // counted by `confirmedAt`: a lease is taken to be lost when no heartbeat succeeds for long enough
    } finally {
      this.isBeating = false;
    }
  }
}

/** Given back, or without a heartbeat for the milliseconds of that parameter. */
const isFree = (ms: `$${number}`): string =>
  `(leases.owner IS NULL OR leases.heartbeat_at < clock_timestamp() - make_interval(secs => ${ms} / 1000.0))`;

/**
 * For `WITH mine AS (…)` in a statement that writes: one row while the lease is held under that token, none otherwise. A takeover waits
 * until the statement's transaction has ended. `$n` are the numbers of the parameters that carry name and token.
 */
export const leaseHeld = (name: `$${number}`, token: `$${number}`): string =>
  `SELECT 1 AS held FROM leases WHERE name = ${name}::text AND token = ${token}::bigint AND owner IS NOT NULL FOR KEY SHARE`;

/** The same for several: the names of those that are held, each under its token; the parameters carry arrays. */
export const leaseHeldOf = (names: `$${number}`, tokens: `$${number}`): string =>
  `SELECT name FROM leases WHERE owner IS NOT NULL AND (name, token) IN (SELECT * FROM unnest(${names}::text[], ${tokens}::bigint[]))
      FOR KEY SHARE OF leases`;

/** Inside a transaction: whether the lease is still held under that token. If so, it stays so until the transaction ends. */
export async function holdsLease(client: Queryable, { name, token }: Held): Promise<boolean> {
  const { rowCount } = await client.query({ name: 'holds_lease', text: leaseHeld('$1', '$2'), values: [name, token] });
  return rowCount === 1;
}

/**
 * Prepares the connection of a lease holder: a process that is stopped in the middle of a transaction loses its connection, so that it
 * holds up whoever takes over no longer than the lease itself would.
 */
export async function limitStandstill(client: Queryable, ms = LEASE_EXPIRES_MS): Promise<void> {
  await client.query(
    `SELECT set_config('idle_in_transaction_session_timeout', $1, false), set_config('tcp_user_timeout', $1, false)`,
    [String(ms)],
  );
}

function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal?.addEventListener('abort', end);
  });
}
