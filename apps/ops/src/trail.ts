import type { Entry } from '../../../libs/domain/accounts/account.events.ts';
import { account } from '../../../libs/domain/accounts/account.ts';
import { deciders } from '../../../libs/domain/index.ts';
import { isUuid, publicId } from '../../../libs/kernel/ids.ts';
import { categoryOf, type RecordedEvent, streamIdOf } from '../../../libs/kernel/messages.ts';
import { EventCodec } from '../../../libs/runtime/codec.ts';
import { movements } from '../../../projections/journal.ts';
import type { Engine } from '../../shared/engine.ts';
import { type ListedDelivery, listDeliveries } from './deliveries.ts';
import { isGapless } from './replay.ts';

/** What followed from one request or one wake-up: its commands, their events, their ledger entries, their webhooks. */
export interface Trail {
  correlationId: string;
  commands: TrailCommand[];
}

export interface TrailCommand {
  commandId: string;
  actor: string;
  at: string;
  events: TrailEvent[];
}

export interface TrailEvent {
  position: number;
  stream: string;
  type: string;
  entries: Entry[];
  webhooks: Pick<ListedDelivery, 'id' | 'type' | 'status' | 'attemptCount'>[];
}

/** How far from the resource it is looked: a payment's accounts, an account's payments and their accounts. */
const STEPS = 2;
const WEBHOOKS = 1_000;

const RESOURCES = ['Customer', 'InternalAccount', 'ExternalAccount', 'Quote', 'Transaction', 'PlatformConfig'] as const;

/** The public ids that the resource of a stream may have. */
export const publicIdsOf = (stream: string): string[] => {
  const uuid = streamIdOf(stream).slice(0, 36);
  return isUuid(uuid) ? RESOURCES.map((type) => publicId(type, uuid)) : [];
};

/** Without keys personal data reads as if it had been erased. */
export const keyless = {
  find: async () => new Map<string, Buffer>(),
  ensure: async () => new Map<string, Buffer>(),
  destroy: async () => {},
};

/** Follows the newest correlations of a resource's events through every stream that they name, oldest first. */
export async function trails(
  engine: Pick<Engine, 'store' | 'pool'>,
  streams: readonly string[],
  newest: number,
): Promise<Trail[]> {
  const codec = new EventCodec(deciders, keyless);
  const own: RecordedEvent[] = [];
  for (const stream of streams) own.push(...(await codec.decode(await engine.store.readStream(stream, -1))));
  const byPosition = own.toSorted((a, b) => a.position - b.position);
  const correlations = [...new Set(byPosition.map(({ meta }) => meta.correlationId))].slice(-newest);
  const found: Trail[] = [];
  for (const correlationId of correlations) {
    const first = byPosition.find(({ meta }) => meta.correlationId === correlationId)!;
    const events = await correlated(engine, codec, correlationId, first, streams);
    found.push({ correlationId, commands: await commandsOf(engine, events) });
  }
  return found;
}

/**
 * The events of a correlation, in the order of the log. What they name is followed, and what the event names that opened their stream: the
 * execution of a payment does not repeat its accounts.
 */
async function correlated(
  engine: Pick<Engine, 'store'>,
  codec: EventCodec,
  correlationId: string,
  first: RecordedEvent,
  streams: readonly string[],
): Promise<RecordedEvent[]> {
  const events: RecordedEvent[] = [];
  const seen = new Set<string>();
  const since = Math.max(0, first.position - 1 - lookBack(engine));
  let next = new Set(streams);
  for (let step = 0; step <= STEPS && next.size > 0; step += 1) {
    const named = new Set<string>();
    for (const stream of next) {
      seen.add(stream);
      const logged = await readForTrail(engine, stream, since);
      const mine = logged.filter(({ metadata }) => JSON.parse(metadata).correlationId === correlationId);
      if (mine.length === 0) continue;
      const decoded = await codec.decode(mine);
      events.push(...decoded);
      const [opening] = await codec.decode(logged.slice(0, 1));
      for (const { data } of [opening!, ...decoded]) {
        for (const name of streamsNamedBy(data)) if (!seen.has(name)) named.add(name);
      }
    }
    next = named;
  }
  return events.sort((a, b) => a.position - b.position);
}

/** An account's events each name what they are about, and there may be very many of them: only the newer ones are read. */
const readForTrail = ({ store }: Pick<Engine, 'store'>, stream: string, since: number) =>
  categoryOf(stream) === account.name ? store.readStreamSince(stream, since) : store.readStream(stream, -1);

/**
 * A request may have written to other streams before it wrote to the one at hand: so many positions before, at most. Where they have gaps
 * they count bytes.
 */
const lookBack = (engine: Pick<Engine, 'store'>): number => (isGapless(engine) ? 10_000 : 10_000_000);

async function commandsOf(engine: Pick<Engine, 'pool'>, events: readonly RecordedEvent[]): Promise<TrailCommand[]> {
  const resources = [
    ...new Set(events.flatMap(({ stream, data }) => [stream, ...streamsNamedBy(data)].flatMap(publicIdsOf))),
  ];
  const positions = events.map(({ position }) => position);
  const { rows } = await engine.pool.query<{ id: string; position: string }>(
    'SELECT id, position FROM webhooks WHERE resource = ANY($1) AND position = ANY($2::bigint[])',
    [resources, positions],
  );
  const at = new Map(rows.map(({ id, position }) => [publicId('Webhook', id), Number(position)]));
  const webhooks = at.size > 0 ? await listDeliveries(engine, { resources, positions }, WEBHOOKS) : [];
  const commands = new Map<string, TrailCommand>();
  for (const event of events) {
    const { commandId, actor } = event.meta;
    const command = commands.get(commandId) ?? { commandId, actor, at: event.at, events: [] };
    commands.set(commandId, command);
    command.events.push({
      position: event.position,
      stream: event.stream,
      type: event.type,
      entries: [...movements(event)],
      webhooks: webhooks
        .filter(({ id }) => at.get(id) === event.position)
        .map(({ id, type, status, attemptCount }) => ({ id, type, status, attemptCount })),
    });
  }
  return [...commands.values()];
}

/** Streams whose ids stand in an event's data, by the names of the fields. */
function streamsNamedBy(data: unknown): string[] {
  if (typeof data !== 'object' || data === null) return [];
  return Object.entries(data).flatMap(([field, value]) => {
    if (Array.isArray(value))
      return field === 'claimIds' ? value.map((id) => `claim-${id}`) : value.flatMap(streamsNamedBy);
    if (typeof value === 'object') return streamsNamedBy(value);
    return typeof value === 'string' ? streamsOfField(field, value) : [];
  });
}

function streamsOfField(field: string, id: string): string[] {
  const owners = deciders.filter((decider) => decider.id === field).map(({ name }) => name);
  if (field === 'accountId') owners.push('externalAccount'); // an end of a payment
  if (field === 'platformFeeAccountId') owners.push('account');
  return id === '' ? [] : owners.map((name) => `${name}-${id}`);
}
