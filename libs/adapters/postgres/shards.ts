import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { hasEnded, LEASE_EXPIRES_MS, Lease, type LeaseOptions } from './lease.ts';

/** What is done with the shards that are held here. */
export interface ShardWork {
  /** The shard is held from here on. */
  taken(shard: number, lease: Lease): Promise<void>;
  /** Others are to have the shard: takes nothing new from it and finishes what is in hand. It is given back when this resolves. */
  yielded(shard: number): Promise<void>;
  /** The shard is another one's already, as this process was not heard of for too long. */
  lost(shard: number): void;
}

export interface ShardsOptions extends LeaseOptions {
  pool: Pick<pg.Pool, 'query'>;
  /** Names the leases: `processes/0`. */
  group: string;
  shards: number;
  log: (level: 'info' | 'warn' | 'error', message: string, error?: unknown) => void;
}

const BALANCE_MS = 500;
const FORGOTTEN_HOURS = 1;

/**
 * Work that any number of processes share: it is divided into a fixed number of shards, each with a lease. Every process takes its fair
 * share of them, more when others have gone, and gives some back when others come.
 */
export class Shards {
  private readonly options: ShardsOptions;
  private readonly work: ShardWork;
  private readonly leases: readonly Lease[];
  /** Says that this process takes part, whether or not it holds anything. */
  private readonly member: Lease;
  private readonly held = new Set<number>();
  private readonly yielding = new Map<number, Promise<void>>();
  private running = false;
  private loop: Promise<void> | undefined;
  private wake: () => void = () => {};
  private isFailing = false;

  constructor(options: ShardsOptions, work: ShardWork) {
    this.options = options;
    this.work = work;
    const { pool, group, shards } = options;
    this.leases = Array.from({ length: shards }, (_, shard) => new Lease(pool, `${group}/${shard}`, options));
    this.member = new Lease(pool, `${group}/member/${randomUUID()}`, options);
  }

  start(): void {
    this.running = true;
    this.loop = this.run();
  }

  /** Finishes what is in hand and gives everything back. */
  async stop(): Promise<void> {
    this.running = false;
    this.wake();
    await this.loop;
    for (const shard of this.held) this.giveBack(shard);
    await Promise.all(this.yielding.values());
    await this.member.release();
    const { pool } = this.options;
    await pool.query('DELETE FROM leases WHERE name = $1', [this.member.name]).catch(() => {}); // forgotten later
  }

  private async run(): Promise<void> {
    while (this.running) {
      try {
        await this.balance();
        this.isFailing = false;
      } catch (error) {
        const { log, group } = this.options;
        if (!this.isFailing) log('error', `the leases of ${group} cannot be looked at`, error);
        this.isFailing = true;
      }
      if (this.running) await this.pause(this.options.pollMs ?? BALANCE_MS);
    }
  }

  private async balance(): Promise<void> {
    await this.member.tryAcquire();
    const { members, busy } = await this.look();
    const share = Math.ceil(this.leases.length / Math.max(1, members));
    const from = Math.floor(Math.random() * this.leases.length); // so that two that start together do not go for the same ones
    for (let i = 0; i < this.leases.length && this.held.size < share; i += 1) {
      const shard = (from + i) % this.leases.length;
      if (!busy.has(shard) && !this.yielding.has(shard) && this.running) await this.take(shard);
    }
    for (const shard of [...this.held].slice(share)) this.giveBack(shard);
  }

  /** How many take part, and which shards are held. */
  private async look(): Promise<{ members: number; busy: ReadonlySet<number> }> {
    const { pool, group, expiresMs = LEASE_EXPIRES_MS } = this.options;
    const { rows } = await pool.query<{ name: string; pid: number; machine: string; is_old: boolean }>({
      name: 'look_at_shards',
      text: `SELECT name, pid, machine, heartbeat_at < clock_timestamp() - make_interval(hours => ${FORGOTTEN_HOURS}) AS is_old
               FROM leases WHERE starts_with(name, $1) AND (name LIKE '%/member/%' OR owner IS NOT NULL)
                AND (heartbeat_at >= clock_timestamp() - make_interval(secs => $2 / 1000.0)
                     OR heartbeat_at < clock_timestamp() - make_interval(hours => ${FORGOTTEN_HOURS}))`,
      values: [`${group}/`, expiresMs],
    });
    const old = rows.filter(({ name, is_old }) => is_old && name.startsWith(`${group}/member/`));
    if (old.length > 0) await pool.query('DELETE FROM leases WHERE name = ANY($1)', [old.map(({ name }) => name)]);
    const present = rows.filter((row) => !row.is_old && !hasEnded(row)).map(({ name }) => name.slice(group.length + 1));
    const members = present.filter((name) => name.startsWith('member/'));
    return { members: members.length, busy: new Set(present.filter((name) => /^\d+$/.test(name)).map(Number)) };
  }

  private async take(shard: number): Promise<void> {
    const lease = this.leases[shard]!;
    if (!(await lease.tryAcquire())) return;
    const { lost } = lease;
    lost.addEventListener('abort', () => {
      if (this.held.delete(shard)) this.work.lost(shard);
    });
    try {
      await this.work.taken(shard, lease);
      if (lost.aborted) this.work.lost(shard);
      else this.held.add(shard);
    } catch (error) {
      await lease.release();
      throw error;
    }
  }

  private giveBack(shard: number): void {
    this.held.delete(shard);
    const given = this.work
      .yielded(shard)
      .catch((error) => this.options.log('warn', `${this.leases[shard]!.name} is given back unfinished`, error))
      .then(() => this.leases[shard]!.release())
      .finally(() => this.yielding.delete(shard));
    this.yielding.set(shard, given);
  }

  private pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
