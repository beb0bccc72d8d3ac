import { describe, expect, test } from '@jest/globals';
import { MemoryEventStore } from '../adapters/memory/event-store.ts';
import { MemorySubjectKeys } from '../adapters/memory/subject-keys.ts';
import { type ClaimState, ClaimValue, claim } from '../domain/claims/claim.ts';
import { IssueToken, type TokenState, token } from '../domain/tokens/token.ts';
import { recordedAt } from '../kernel/clock.ts';
import type { Tenant } from '../kernel/messages.ts';
import { EventCodec } from './codec.ts';
import { WritePath } from './execute.ts';
import { PlatformClock } from './platform-clock.ts';

const WALL_MS = Date.parse('2025-10-13T12:00:00.000Z');
const wall = { nowMs: () => WALL_MS };
const a: Tenant = { platform: 'a', environment: 'sandbox' };
const b: Tenant = { platform: 'b', environment: 'sandbox' };

/** Clocks whose platforms' streams say so many milliseconds, and the platforms that were looked up. */
function clocks(stored: Record<string, number> = {}) {
  const lookedUp: string[] = [];
  const clock = new PlatformClock(wall, async ({ platform }) => {
    lookedUp.push(platform);
    return stored[platform] ?? 0;
  });
  return { clock, lookedUp };
}

describe("a platform's clock", () => {
  test('is wall time until it is moved, and then ahead by as much, for this platform alone', async () => {
    const { clock } = clocks({ a: 60_000 });
    await Promise.all([clock.know(a), clock.know(b)]);
    expect([clock.nowMs(), clock.nowMs(a), clock.nowMs(b)]).toEqual([WALL_MS, WALL_MS + 60_000, WALL_MS]);
  });

  test('in production is wall time, whatever is said of it', async () => {
    const { clock, lookedUp } = clocks({ a: 60_000 });
    const production: Tenant = { ...a, environment: 'production' };
    clock.learn(production, 5_000);
    expect([clock.know(production), clock.nowMs(production), lookedUp]).toEqual([undefined, WALL_MS, []]);
    clock.learn(a, 5_000);
    expect(clock.nowMs(production)).toBe(WALL_MS);
  });

  test('is looked up once', async () => {
    const { clock, lookedUp } = clocks();
    await clock.know(a);
    expect([clock.know(a), lookedUp]).toEqual([undefined, ['a']]);
  });

  test('is still looked up when an event told something of it', async () => {
    const { clock } = clocks({ a: 60_000 });
    clock.learn(a, 5_000);
    expect([clock.isKnown(a), clock.aheadMs(a)]).toEqual([false, 5_000]);
    await clock.know(a);
    expect([clock.isKnown(a), clock.aheadMs(a)]).toEqual([true, 60_000]);
  });

  test('never goes back, in whatever order it is heard of', async () => {
    const { clock } = clocks({ a: 30_000 });
    clock.learn(a, 60_000);
    clock.learn(a, 10_000);
    await clock.refresh(a);
    expect(clock.aheadMs(a)).toBe(60_000);
  });
});

describe('what is written while a clock is ahead', () => {
  const issue = (tenant: Tenant) =>
    new IssueToken({ tokenId: 't', ...tenant, name: 'n', permissions: ['VIEW'], clientId: 'c', secretHash: 'h' });
  const envelope = (tenant: Tenant) => ({ commandId: 'one', correlationId: 'r', actor: 'test', tenant });

  function processOn(store: MemoryEventStore, stored: Record<string, number>) {
    const { clock } = clocks(stored);
    const codec = new EventCodec([token, claim], new MemorySubjectKeys(), {}, (tenant, aheadMs) =>
      clock.learn(tenant, aheadMs),
    );
    return { clock, codec, writePath: new WritePath({ store, codec, clock, writer: 'w', log: () => {} }) };
  }

  test("is folded with the platform's time and stored with wall time; who reads it knows the clock", async () => {
    const store = new MemoryEventStore();
    const { writePath } = processOn(store, { a: 60_000 });
    const { state } = await writePath.execute(token, issue(a), envelope(a));
    expect((state as TokenState).createdAt).toBe('2025-10-13T12:01:00.000Z');
    const { events } = await store.readAll(0, 10);
    expect(JSON.parse(events[0]!.metadata)).toMatchObject({ at: '2025-10-13T12:00:00.000Z', aheadMs: 60_000 });

    const other = processOn(store, {});
    const [event] = await other.codec.decode(events);
    expect([event!.at, recordedAt(event!)]).toEqual(['2025-10-13T12:01:00.000Z', '2025-10-13T12:00:00.000Z']);
    expect(other.clock.aheadMs(a)).toBe(60_000);
    expect((await other.writePath.state<TokenState>(token, 't')).state).toEqual(state);
  });

  test('says nothing of a clock that was never moved', async () => {
    const store = new MemoryEventStore();
    await processOn(store, { a: 60_000 }).writePath.execute(token, issue(b), envelope(b));
    const { events } = await store.readAll(0, 10);
    expect(Object.keys(JSON.parse(events[0]!.metadata))).not.toContain('aheadMs');
  });

  test('has wall time where platforms share it', async () => {
    const { writePath } = processOn(new MemoryEventStore(), { a: 60_000 });
    const take = new ClaimValue({ claimId: 'c', rule: 'UMA_ADDRESS', owner: 'o', refusal: 'UMA_ADDRESS_EXISTS' });
    const { state } = await writePath.execute(claim, take, envelope(a));
    expect((state as ClaimState).claimedAt).toBe('2025-10-13T12:00:00.000Z');
  });
});
