import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { timestamp } from '../kernel/clock.ts';
import type { AnyDecider, PersonalFields } from '../kernel/decider.ts';
import type { LoggedEvent, StoredEvent } from '../kernel/event-store.port.ts';
import { fromJson, toJson } from '../kernel/json.ts';
import type { Event, EventMeta, RecordedEvent, Tenant } from '../kernel/messages.ts';
import type { SubjectKeys } from '../kernel/subject-keys.port.ts';

/** Brings stored data of an older version to the newest: a pure function per event type and version it starts from. */
export type Upcasters = Readonly<
  Record<string, (data: Record<string, unknown>, version: number) => Record<string, unknown>>
>;

type ClockSeen = (tenant: Tenant, aheadMs: number) => void;

/** An encrypted field in a stored payload: `{ "$enc": "<base64 of iv, tag, ciphertext>" }`. */
interface Sealed {
  $enc: string;
}

const IV_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Turns events into what the store keeps and back. Money becomes decimal strings; personal fields are sealed with AES-256-GCM under
 * the key of their subject, bound to event id and field name; a field whose key was destroyed is absent after reading.
 */
export class EventCodec {
  private readonly personal = new Map<string, PersonalFields>();
  private readonly keys: SubjectKeys;
  private readonly upcasters: Upcasters;
  private readonly clockSeen: ClockSeen | undefined;

  /** `clockSeen`: told of every event that was read whose platform's clock was ahead. */
  constructor(deciders: readonly AnyDecider[], keys: SubjectKeys, upcasters: Upcasters = {}, clockSeen?: ClockSeen) {
    this.keys = keys;
    this.upcasters = upcasters;
    this.clockSeen = clockSeen;
    for (const decider of deciders) {
      for (const [type, fields] of Object.entries(decider.personal ?? {})) this.personal.set(type, fields);
    }
  }

  /** True when the event carries personal data, so that a key is needed before it can be written. */
  isPersonal(type: string): boolean {
    return this.personal.has(type);
  }

  /** The subject whose key seals the event's personal fields. */
  subjectOf(event: Event): string | undefined {
    const personal = this.personal.get(event.type);
    return personal && String((event.data as Record<string, unknown>)[personal.subject]);
  }

  /** The keys that these events need, made where they are missing. */
  async keysFor(events: Iterable<Event>): Promise<ReadonlyMap<string, Buffer>> {
    const subjects = new Set<string>();
    for (const event of events) {
      const subject = this.subjectOf(event);
      if (subject !== undefined) subjects.add(subject);
    }
    return subjects.size > 0 ? this.keys.ensure([...subjects]) : new Map();
  }

  /** `at`: wall time. How far the platform's clock is ahead of it stands in `meta`, and is part of what decoding gives as `at`. */
  encode(event: Event, id: string, at: string, meta: EventMeta, keys: ReadonlyMap<string, Buffer>): StoredEvent {
    const { commandId, correlationId, causationId, actor, version, aheadMs, tenant } = meta;
    const { platform, environment } = tenant;
    const where = { platform, environment, at };
    return {
      id,
      type: event.type,
      payload: toJson(this.personal.has(event.type) ? this.seal(event, id, keys) : event.data),
      metadata: JSON.stringify({ commandId, correlationId, causationId, actor, version, aheadMs, ...where }),
    };
  }

  async decode(events: readonly LoggedEvent[]): Promise<RecordedEvent[]> {
    const decoded = events.map(decodeOpen);
    const subjects = new Set<string>();
    for (const event of decoded) {
      const subject = this.subjectOf(event);
      if (subject !== undefined) subjects.add(subject);
      if (event.meta.aheadMs) this.clockSeen?.(event.meta.tenant, event.meta.aheadMs);
    }
    const keys = subjects.size > 0 ? await this.keys.find([...subjects]) : new Map<string, Buffer>();
    for (const event of decoded) {
      if (this.personal.has(event.type)) event.data = this.unseal(event, keys);
      const upcast = this.upcasters[event.type];
      if (upcast) event.data = upcast(event.data as Record<string, unknown>, event.meta.version ?? 1);
    }
    return decoded;
  }

  private seal(event: Event, id: string, keys: ReadonlyMap<string, Buffer>): object {
    const { subject, fields } = this.personal.get(event.type)!;
    const data: Record<string, unknown> = { ...event.data };
    const key = keys.get(String(data[subject]));
    for (const field of fields) {
      if (data[field] === undefined) continue;
      data[field] = key ? sealed(data[field], key, id, field) : undefined;
    }
    return data;
  }

  private unseal(event: RecordedEvent, keys: ReadonlyMap<string, Buffer>): object {
    const { subject, fields } = this.personal.get(event.type)!;
    const data: Record<string, unknown> = { ...event.data };
    const key = keys.get(String(data[subject]));
    for (const field of fields) {
      const value = data[field];
      if (!isSealed(value)) continue;
      if (key) data[field] = unsealed(value, key, event.id, field);
      else delete data[field];
    }
    return data;
  }
}

function decodeOpen(event: LoggedEvent): RecordedEvent {
  const { platform, environment, at, ...meta } = JSON.parse(event.metadata);
  return {
    type: event.type,
    data: fromJson(event.payload),
    at: meta.aheadMs ? timestamp(Date.parse(at) + meta.aheadMs) : at,
    id: event.id,
    stream: event.stream,
    revision: event.revision,
    position: event.position,
    meta: { ...meta, tenant: { platform, environment } },
  };
}

const isSealed = (value: unknown): value is Sealed =>
  typeof value === 'object' && value !== null && typeof (value as Sealed).$enc === 'string';

function sealed(value: unknown, key: Buffer, eventId: string, field: string): Sealed {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(`${eventId}.${field}`));
  const text = Buffer.concat([cipher.update(toJson(value), 'utf8'), cipher.final()]);
  return { $enc: Buffer.concat([iv, cipher.getAuthTag(), text]).toString('base64') };
}

function unsealed({ $enc }: Sealed, key: Buffer, eventId: string, field: string): unknown {
  const bytes = Buffer.from($enc, 'base64');
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, IV_BYTES))
    .setAAD(Buffer.from(`${eventId}.${field}`))
    .setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
  const text = Buffer.concat([decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES)), decipher.final()]);
  return fromJson(text.toString('utf8'), field);
}
