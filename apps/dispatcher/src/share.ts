import pg from 'pg';
import { promptConnection } from '../../../libs/adapters/postgres/connection.ts';
import type { Lease, LeaseOptions } from '../../../libs/adapters/postgres/lease.ts';
import { Shards } from '../../../libs/adapters/postgres/shards.ts';

/** Fixed for the life of a deployment. */
const SHARDS = 8;

/** The shard of a delivery: the last bits of its id, which is derived from a hash. The same is said in SQL by `claim`. */
const shardOf = (webhookId: string): number => Number.parseInt(webhookId.at(-1)!, 16) % SHARDS;

export interface ShareOptions {
  url: string;
  log: (level: 'info' | 'warn' | 'error', message: string, error?: unknown) => void;
  /** Told that there is more to send. */
  grown: () => void;
  /** Told that what is queued may have to be left to another dispatcher: ask `isOurs`. */
  shrunk: () => void;
  lease?: Partial<LeaseOptions> | undefined;
}

/** The part of all deliveries that this dispatcher sends while others send the rest, and what it has in hand of it. */
export class Share {
  private readonly options: ShareOptions;
  private readonly pool: pg.Pool;
  private readonly shards: Shards;
  private readonly leases = new Map<number, Lease>();
  private readonly inHand = new Map<string, number>();
  private readonly counts: number[] = Array(SHARDS).fill(0);
  private readonly emptied = new Map<number, () => void>();
  private isEnding = false;

  constructor(options: ShareOptions) {
    this.options = options;
    const { url, log, lease } = options;
    this.pool = new pg.Pool({ ...promptConnection(url, 'ledgerline-dispatcher'), max: 1 });
    this.pool.on('error', () => {}); // an idle connection that dies is replaced at its next use
    this.shards = new Shards(
      { pool: this.pool, log, group: 'deliveries', shards: SHARDS, role: 'dispatcher', ...lease },
      {
        taken: async (shard, held) => {
          this.leases.set(shard, held);
          options.grown();
        },
        yielded: (shard) => this.yielded(shard),
        lost: (shard) => {
          this.leases.delete(shard);
          options.shrunk();
        },
      },
    );
  }

  start(): void {
    this.shards.start();
  }

  /** Gives everything to the other dispatchers; what is still in hand is theirs, too. */
  async stop(): Promise<void> {
    this.isEnding = true;
    for (const emptied of this.emptied.values()) emptied();
    await this.shards.stop();
    if (!this.pool.ending) await this.pool.end();
  }

  /** The shards that are surely ours at this moment, as bits. */
  get bits(): number {
    let bits = 0;
    for (const [shard, lease] of this.leases) if (lease.isSure) bits |= 1 << shard;
    return bits;
  }

  isOurs(webhookId: string): boolean {
    return this.leases.get(shardOf(webhookId))?.isSure ?? false;
  }

  has(webhookId: string): boolean {
    return this.inHand.has(webhookId);
  }

  take(webhookId: string): void {
    const shard = shardOf(webhookId);
    this.inHand.set(webhookId, shard);
    this.counts[shard]! += 1;
  }

  drop(webhookId: string): void {
    const shard = this.inHand.get(webhookId);
    if (shard === undefined) return;
    this.inHand.delete(webhookId);
    this.counts[shard]! -= 1;
    if (this.counts[shard] === 0) this.emptied.get(shard)?.();
  }

  /** What is in flight is waited for, so that nobody else sends it again. */
  private async yielded(shard: number): Promise<void> {
    this.leases.delete(shard);
    this.options.shrunk();
    if (this.isEnding || this.counts[shard] === 0) return;
    await new Promise<void>((resolve) => this.emptied.set(shard, resolve));
    this.emptied.delete(shard);
  }
}
