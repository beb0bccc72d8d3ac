import { type ClaimState, claim } from '../../../libs/domain/claims/claim.ts';
import { fold } from '../../../libs/kernel/decider.ts';
import { isUuid } from '../../../libs/kernel/ids.ts';
import { categoryOf, streamIdOf } from '../../../libs/kernel/messages.ts';
import type { Engine } from '../../shared/engine.ts';
import { type ListedDelivery, listDeliveries } from './deliveries.ts';
import { type InspectedStream, inspect } from './inspect.ts';
import { publicIdsOf, type Trail, trails } from './trail.ts';

/** A value that must be unique, which a resource has claimed at some time. */
export interface InspectedClaim {
  stream: string;
  rule: string;
  status: ClaimState['status'];
  /** Whose it is now. */
  owner?: string;
  /** Whether that is the resource at hand. */
  isOwn: boolean;
  claimedAt?: string;
}

export interface InspectedTimer {
  stream: string;
  process: string;
  dueAt: string;
}

/** Everything that is known of a resource. */
export interface Inspection {
  streams: InspectedStream[];
  claims: InspectedClaim[];
  timers: InspectedTimer[];
  /** The newest webhooks about it. */
  deliveries: ListedDelivery[];
  /** What followed from each request that touched it, and from each time it was woken. */
  trails: Trail[];
}

const DELIVERIES = 50;

/** Inspects a resource with what stands around it; of its correlations the newest so many are followed. */
export async function inspectAll(
  engine: Engine,
  id: string,
  { reveal, trails: newest }: { reveal: boolean; trails: number },
): Promise<Inspection> {
  const streams = await inspect(engine, id, { reveal });
  const names = streams.map(({ stream }) => stream);
  const resources = names.flatMap(publicIdsOf);
  return {
    streams,
    claims: await claimsOf(engine, streams),
    timers: await timersOf(engine, names),
    deliveries: resources.length > 0 ? await listDeliveries(engine, { resources }, DELIVERIES) : [],
    trails: newest > 0 ? await trails(engine, names, newest) : [],
  };
}

/** The claims that the events name. */
async function claimsOf({ store, codec }: Engine, streams: readonly InspectedStream[]): Promise<InspectedClaim[]> {
  const ids = new Set(streams.flatMap(({ events }) => events.flatMap(({ data }) => claimIds(data))));
  const own = new Set(streams.map(({ stream }) => streamIdOf(stream)));
  const claims: InspectedClaim[] = [];
  for (const id of ids) {
    const stream = `${claim.name}-${id}`;
    if (streams.some((one) => one.stream === stream)) continue;
    const events = await codec.decode(await store.readStream(stream, -1));
    const [first] = events;
    if (!first) continue;
    const { status, owner, claimedAt } = fold(claim, events as never);
    const { rule } = first.data as { rule: string };
    const held = status === 'HELD' && { owner: owner!, claimedAt: claimedAt! };
    claims.push({ stream, rule, status, ...held, isOwn: status === 'HELD' && own.has(owner!) });
  }
  return claims;
}

function claimIds(data: unknown): string[] {
  if (typeof data !== 'object' || data === null) return [];
  return Object.entries(data).flatMap(([field, value]) => {
    if (field === 'claimId') return [String(value)];
    if (field === 'claimIds') return (value as unknown[]).map(String);
    return claimIds(value);
  });
}

async function timersOf({ pool }: Engine, streams: readonly string[]): Promise<InspectedTimer[]> {
  const { rows } = await pool.query<{ stream: string; process: string; due_at: Date }>(
    'SELECT stream, process, due_at FROM timers WHERE stream = ANY($1) ORDER BY due_at',
    [streams],
  );
  return rows.map(({ stream, process, due_at: dueAt }) => ({ stream, process, dueAt: dueAt.toISOString() }));
}

/** The customer whose data is in a stream, or the platform; for the record of who was shown. */
export const subjectOf = (stream: string): string | undefined => {
  const uuid = streamIdOf(stream);
  return categoryOf(stream) === 'customer' && isUuid(uuid) ? uuid : undefined;
};
