import type { LoggedEvent, StoredEvent } from '../../kernel/event-store.port.ts';

/** An event in the form in which the client sends bytes as they are. */
export interface WireEvent {
  id: string;
  contentType: 'application/octet-stream';
  type: string;
  data: Uint8Array;
  metadata: Uint8Array;
}

/** An event as the client gives it back: data as bytes, metadata parsed where it is JSON. */
export interface WireRecord {
  id: string;
  streamId: string;
  revision: bigint;
  type: string;
  data: unknown;
  metadata?: unknown;
  position?: { commit: bigint };
}

/** In front of metadata that the client must not parse; no JSON text begins with it. */
const UNPARSED = '\u001e';

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/**
 * The payload goes out as bytes, not as JSON, which the client would write anew in its own way. Metadata that is JSON is parsed by the
 * client when it is read: what would not come back as the same text is sent in a form that is no JSON.
 */
export function toWire({ id, type, payload, metadata }: StoredEvent): WireEvent {
  return {
    id,
    contentType: 'application/octet-stream',
    type,
    data: encoder.encode(payload),
    metadata: encoder.encode(comesBack(metadata) ? metadata : UNPARSED + metadata),
  };
}

/** @throws when the server gave no position, or one beyond 2^53. */
export function fromWire(record: WireRecord): LoggedEvent {
  return {
    id: record.id,
    type: record.type,
    payload: textOf(record.data),
    metadata: metadataOf(record.metadata),
    stream: record.streamId,
    revision: Number(record.revision),
    position: positionOf(record),
  };
}

/** Place of a record in the log: its commit position. */
export function positionOf({ position }: Pick<WireRecord, 'position'>): number {
  const commit = position?.commit;
  if (commit === undefined || commit > BigInt(Number.MAX_SAFE_INTEGER)) {
    throw new Error(
      'This server does not say where an event of a stream stands in the log: EventStoreDB 22.6 or newer is needed.',
    );
  }
  return Number(commit);
}

/** True for what the server itself writes: statistics, links, metadata of streams. */
export const isSystem = ({ streamId, type }: Pick<WireRecord, 'streamId' | 'type'>): boolean =>
  streamId.startsWith('$') || type.startsWith('$');

function comesBack(metadata: string): boolean {
  try {
    const parsed: unknown = JSON.parse(metadata);
    return typeof parsed === 'object' && parsed !== null && JSON.stringify(parsed) === metadata;
  } catch {
    return false;
  }
}

function metadataOf(metadata: unknown): string {
  if (metadata === undefined) return '';
  if (!ArrayBuffer.isView(metadata)) return JSON.stringify(metadata);
  const text = textOf(metadata);
  return text.startsWith(UNPARSED) ? text.slice(UNPARSED.length) : text;
}

/** Data of another content type was parsed by the client; this store never wrote it. */
const textOf = (data: unknown): string =>
  ArrayBuffer.isView(data)
    ? decoder.decode(data as Uint8Array<ArrayBuffer>)
    : typeof data === 'string'
      ? data
      : JSON.stringify(data);
