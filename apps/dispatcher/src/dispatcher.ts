import type { KeyObject } from 'node:crypto';
import pg from 'pg';
import { promptConnection } from '../../../libs/adapters/postgres/connection.ts';
import type { LeaseOptions } from '../../../libs/adapters/postgres/lease.ts';
import type { Clock } from '../../../libs/kernel/clock.ts';
import { publicId } from '../../../libs/kernel/ids.ts';
import type { Environment, Tenant } from '../../../libs/kernel/messages.ts';
import type { Sender, SendResult } from '../../../libs/runtime/webhooks/sender.ts';
import { signatureHeaders } from '../../../libs/runtime/webhooks/signing.ts';
import { WEBHOOKS_ERASED } from '../../shared/erase-webhooks.ts';
import { secretsAt, type WebhookSecret } from '../../shared/webhook-secrets.ts';
import {
  type Backlog,
  backlog,
  type Claimed,
  claim,
  type Outcome,
  prepareSession,
  record,
  tenantsWithEndpoint,
} from './delivery-table.ts';
import { type Delivery, Endpoint, Lane, type Signing } from './lane.ts';
import { type DelayMs, givenUp, outcomeOf, standardDelayMs } from './outcome.ts';
import { Share } from './share.ts';

export interface DispatcherOptions {
  url: string;
  /** Closed when the dispatcher stops. */
  sender: Sender;
  /** The secrets of a platform, newest first. Asked for again whenever its configuration has changed. */
  secrets(tenant: Tenant): Promise<readonly WebhookSecret[]>;
  /** The private key of `X-Service-Signature`. */
  serviceKey(environment: Environment): KeyObject;
  clock: Clock;
  log: (level: 'info' | 'warn' | 'error', message: string, error?: unknown) => void;
  /** Told about each attempt that is over, and now and then about what waits. */
  attempted?: (outcome: Outcome['status'], durationMs: number) => void;
  waiting?: (backlog: Backlog) => void;
  /** The retry schedule. */
  delayMs?: DelayMs;
  /** Attempts in flight, for all platforms together and for one. */
  maxInFlight?: number;
  maxInFlightPerPlatform?: number;
  /** How often all platforms are looked at for deliveries that nobody announced: retries. */
  scanEveryMs?: number;
  /** Times of the leases; for tests. */
  lease?: Partial<LeaseOptions>;
}

/**
 * The least time between two rounds: what comes together in between is claimed and recorded together. After one with so many outcomes it is
 * longer.
 */
const ROUND_MS = 20;
const BUSY = { outcomes: 20, roundMs: 60 };
const RECORD_AT_ONCE = 1_000;
const MEASURE_EVERY_MS = 5_000;
/** Requests started before the event loop has its turn: each costs a signature. */
const SLICE = 16;
const LONGEST_PAUSE_MS = 5_000;

/**
 * Sends what the projector has written, at least once. A round records the outcomes since the last one and claims what is due, each
 * with one statement for all platforms; sending goes on in between. A claim is kept in memory only: after a crash what was not
 * recorded is due as before. Platforms have lanes of their own and take turns, so that none waits for another one's receiver.
 * Any number of dispatchers may run: each sends its share of every platform's deliveries.
 */
export class Dispatcher {
  private readonly options: Required<Omit<DispatcherOptions, 'attempted' | 'waiting' | 'lease'>> &
    Pick<DispatcherOptions, 'attempted' | 'waiting' | 'lease'>;
  private readonly share: Share;
  private readonly lanes = new Map<string, Lane>();
  /** Lanes with something to send, the one whose turn it is first. */
  private readonly active = new Set<Lane>();
  private outcomes: { lane: Lane; outcome: Outcome }[] = [];
  private inFlight = 0;
  private isPumping = false;
  private isRunning = false;
  private loop: Promise<void> | undefined;
  private wanted = false;
  private wake: () => void = () => {};
  private idle: () => void = () => {};
  private scannedAt = Number.NEGATIVE_INFINITY;
  private measuredAt = Number.NEGATIVE_INFINITY;

  constructor(options: DispatcherOptions) {
    this.options = {
      delayMs: standardDelayMs,
      maxInFlight: 512,
      maxInFlightPerPlatform: 128,
      scanEveryMs: 1_000,
      ...options,
    };
    const { url, log, lease } = options;
    const grown = () => this.notified(''); // what became due before is behind the cursors
    this.share = new Share({ url, log, lease, grown, shrunk: () => this.leaveToOthers() });
  }

  start(): void {
    this.isRunning = true;
    this.loop = this.run();
    this.share.start();
  }

  /** Takes nothing new, waits for what is in flight (at most `graceMs`), records it and hands over its share. */
  async stop({ graceMs = 16_000 } = {}): Promise<void> {
    this.isRunning = false;
    this.dropQueues();
    await this.settled(graceMs);
    await this.options.sender.close();
    await this.settled(1_000); // what was cut off is not an attempt
    this.nudge();
    await this.loop;
    await this.share.stop();
  }

  private async run(): Promise<void> {
    let pause = 100;
    while (this.isRunning) {
      const client = new pg.Client(promptConnection(this.options.url, 'ledgerline-dispatcher'));
      client.on('error', () => {});
      client.on('notification', ({ channel, payload = '' }) =>
        channel === WEBHOOKS_ERASED ? this.erased(payload) : this.notified(payload),
      );
      try {
        await client.connect();
        await prepareSession(client);
        pause = 100;
        await this.work(client);
      } catch (error) {
        this.options.log('error', 'webhooks are not sent: the database cannot be used', error);
        pause = Math.min(pause * 2, LONGEST_PAUSE_MS);
      }
      this.dropQueues(); // they are claimed anew; what is in flight is still recorded
      await client.end().catch(() => {});
      if (this.isRunning) await this.sleep(pause);
    }
  }

  private async work(client: pg.Client): Promise<void> {
    await client.query(`LISTEN webhooks; LISTEN ${WEBHOOKS_ERASED}`);
    this.scannedAt = Number.NEGATIVE_INFINITY;
    while (this.isRunning) {
      const began = performance.now();
      this.wanted = false;
      const roundMs = this.outcomes.length >= BUSY.outcomes ? BUSY.roundMs : ROUND_MS;
      await this.record(client);
      await this.scan(client, began);
      await this.claim(client);
      this.pump();
      const next = this.scannedAt + this.options.scanEveryMs - performance.now();
      if (!this.wanted && next > 0) await this.sleep(next);
      const rest = began + roundMs - performance.now();
      if (rest > 0 && this.isRunning) await new Promise((resolve) => setTimeout(resolve, rest));
    }
    await this.settled(Number.POSITIVE_INFINITY); // `stop` sets the limit
    await this.record(client);
  }

  private async record(client: pg.Client): Promise<void> {
    while (this.outcomes.length > 0) {
      const batch = this.outcomes.slice(0, RECORD_AT_ONCE);
      await record(
        client,
        batch.map(({ outcome }) => outcome),
      );
      this.outcomes = this.outcomes.slice(batch.length);
      for (const { lane, outcome } of batch) this.release(lane, outcome.delivery);
    }
  }

  /** Looks at every platform from the beginning of its queue: for retries, and for whatever became due behind a cursor. */
  private async scan(client: pg.Client, nowMs: number): Promise<void> {
    if (nowMs < this.scannedAt + this.options.scanEveryMs) return;
    this.scannedAt = nowMs;
    const tenants = new Set(await tenantsWithEndpoint(client));
    for (const tenant of tenants) {
      const lane = this.laneOf(tenant);
      lane.hasMore = true;
      lane.cursor = undefined;
    }
    for (const lane of this.lanes.values()) {
      if (tenants.has(lane.id)) continue;
      this.dropQueue(lane);
      if (lane.held === 0) this.lanes.delete(lane.id);
    }
    if (!this.options.waiting || nowMs < this.measuredAt + MEASURE_EVERY_MS) return;
    this.measuredAt = nowMs;
    this.options.waiting(await backlog(client, this.options.clock.nowMs()));
  }

  private async claim(client: pg.Client): Promise<void> {
    const { bits } = this.share;
    if (bits === 0) return;
    const asked = [...this.lanes.values()]
      .filter((lane) => lane.hasMore && (lane.appetite > 0 || !lane.cursor)) // a full one may have got a new endpoint
      .map((lane) => {
        lane.hasMore = false;
        const { appetite, held, cursor, erasures } = lane;
        const size = appetite === 0 || cursor ? appetite : appetite + held;
        return { lane, tenantId: lane.id, size, after: cursor, erasures };
      });
    if (asked.length === 0) return;
    const claimed = await claim(client, asked, bits, this.options.clock.nowMs());
    await Promise.all(
      asked.map(async ({ lane, size, erasures }) => {
        const found = claimed.get(lane.id);
        if (!found?.url) return this.dropQueue(lane);
        if (!(await this.isConfigured(lane, found.url, found.revision))) return this.dropQueue(lane); // until the next scan
        if (lane.erasures > erasures) return; // read before it: claimed anew
        if (found.deliveries.length === size) lane.hasMore = true;
        this.take(lane, found);
      }),
    );
  }

  /** False when the platform's secrets cannot be read now, which is no reason that others' webhooks wait. */
  private async isConfigured(lane: Lane, url: string, revision: string): Promise<boolean> {
    if (lane.endpoint?.url !== url) lane.endpoint = new Endpoint(url, this.options.maxInFlightPerPlatform);
    if (lane.signing?.revision === revision) return true;
    const dot = lane.id.lastIndexOf('.');
    const environment = lane.id.slice(dot + 1) as Environment;
    try {
      const secrets = await this.options.secrets({ platform: lane.id.slice(0, dot), environment });
      lane.signing = { revision, secrets, key: this.options.serviceKey(environment) };
      lane.isUnsigned = false;
      return true;
    } catch (error) {
      const told = `webhooks of ${lane.id} are not sent: its secrets cannot be read`;
      if (!lane.isUnsigned) this.options.log('error', told, error);
      lane.isUnsigned = true;
      return false;
    }
  }

  private take(lane: Lane, { deliveries }: Claimed): void {
    for (const delivery of deliveries) {
      lane.cursor = delivery;
      if (this.share.has(delivery.webhookId) || !this.share.isOurs(delivery.webhookId)) continue;
      this.share.take(delivery.webhookId);
      lane.held += 1;
      const over = givenUp(delivery, this.options.clock.nowMs());
      if (over) this.done(lane, over);
      else lane.queue.push(delivery);
    }
    if (lane.queue.length > 0) this.active.add(lane);
  }

  /** Starts what may be started, one per lane in turn, and lets the event loop go on after each slice. */
  private pump(): void {
    if (this.isPumping) return;
    let slice = SLICE;
    let hungry = false;
    for (const lane of this.active) {
      const free = this.options.maxInFlight - this.inFlight;
      if (free <= 0 || !this.isRunning) break;
      const { endpoint, signing } = lane;
      if (!endpoint || !signing) continue;
      if (!endpoint.maySend(free) || this.options.sender.room(endpoint.url) === 0) {
        if (endpoint.inFlight > 0) this.active.delete(lane); // until one of its own is answered
        continue;
      }
      this.active.delete(lane);
      const delivery = lane.queue.shift()!;
      if (this.share.isOurs(delivery.webhookId)) this.send(lane, endpoint, signing, delivery);
      else this.release(lane, delivery);
      if (lane.queue.length > 0) this.active.add(lane); // at the end: it comes again in this very loop
      hungry ||= lane.hasMore && lane.appetite > 0;
      slice -= 1;
      if (slice > 0) continue;
      this.isPumping = true;
      setImmediate(() => {
        this.isPumping = false;
        this.pump();
      });
      break;
    }
    if (hungry) this.nudge();
  }

  private send(lane: Lane, endpoint: Endpoint, { secrets, key }: Signing, delivery: Delivery): void {
    const { url } = endpoint;
    const nowMs = this.options.clock.nowMs();
    const body = Buffer.from(delivery.body);
    const headers = signatureHeaders({
      id: publicId('Webhook', delivery.webhookId),
      timestampSeconds: Math.floor(nowMs / 1_000),
      body,
      secrets: secretsAt(secrets, nowMs),
      privateKey: key,
    });
    endpoint.inFlight += 1;
    this.inFlight += 1;
    const answered = (result: SendResult) => this.answered(lane, endpoint, delivery, result);
    void this.options.sender.send({ url, headers, body }).then(answered);
  }

  private answered(lane: Lane, endpoint: Endpoint, delivery: Delivery, result: SendResult): void {
    endpoint.inFlight -= 1;
    this.inFlight -= 1;
    if (result.outcome === 'failed' && (result.reason === 'BUSY' || result.reason === 'CLOSED')) {
      this.release(lane, delivery); // not an attempt: it is due as before
    } else {
      const outcome = outcomeOf(delivery, result, this.options.clock.nowMs(), this.options.delayMs);
      endpoint.learn(outcome.status === 'DELIVERED', result.durationMs);
      this.done(lane, outcome);
    }
    if (lane.queue.length > 0) this.active.add(lane);
    if (this.inFlight === 0) this.idle();
    this.pump();
  }

  private done(lane: Lane, outcome: Outcome): void {
    this.outcomes.push({ lane, outcome });
    this.options.attempted?.(outcome.status, outcome.durationMs);
    this.nudge();
  }

  private release(lane: Lane, delivery: Delivery): void {
    this.share.drop(delivery.webhookId);
    lane.held -= 1;
  }

  private dropQueue(lane: Lane): void {
    for (const delivery of lane.queue.splice(0)) this.release(lane, delivery);
    this.active.delete(lane);
    lane.cursor = undefined;
  }

  private dropQueues(): void {
    for (const lane of this.lanes.values()) this.dropQueue(lane);
  }

  private leaveToOthers(): void {
    for (const lane of this.lanes.values()) {
      const ours: Delivery[] = [];
      for (const delivery of lane.queue.splice(0)) {
        if (this.share.isOurs(delivery.webhookId)) ours.push(delivery);
        else this.release(lane, delivery);
      }
      lane.queue.push(...ours);
      if (ours.length === 0) this.active.delete(lane);
    }
  }

  private laneOf(tenantId: string): Lane {
    const lane = this.lanes.get(tenantId) ?? new Lane(tenantId);
    this.lanes.set(tenantId, lane);
    return lane;
  }

  /** The projector or the API says whose deliveries are due; nobody named: look at all. */
  private notified(payload: string): void {
    if (payload === '') this.scannedAt = Number.NEGATIVE_INFINITY;
    else for (const tenant of payload.split(',')) this.laneOf(tenant).hasMore = true;
    this.nudge();
  }

  /** Bodies of a platform's webhooks were emptied: what is queued is claimed anew, as it is now. */
  private erased(tenant: string): void {
    const lane = this.lanes.get(tenant);
    if (!lane) return;
    lane.erasures += 1;
    lane.hasMore = true;
    this.dropQueue(lane);
    this.nudge();
  }

  private nudge(): void {
    this.wanted = true;
    this.wake();
  }

  /** Resolves when nothing is in flight, or after `ms`. */
  private settled(ms: number): Promise<void> {
    if (this.inFlight === 0) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = Number.isFinite(ms) ? setTimeout(resolve, ms) : undefined;
      const before = this.idle;
      this.idle = () => {
        clearTimeout(timer);
        before();
        resolve();
      };
    });
  }

  private sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
