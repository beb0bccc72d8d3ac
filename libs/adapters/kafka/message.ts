import type { LoggedEvent } from '../../kernel/event-store.port.ts';

/**
 * What the relay writes into a partition. Position and previous position follow from the log alone, so every relay, an old one that was
 * stopped and continues included, writes the same message for the same event.
 */
export interface FeedMessage {
  /** Log position of the last event of the partition up to here. 0: there is none. */
  position: number;
  /** Position of the event before it in this partition; 0: it is the first. */
  previous: number;
  /** Absent in a mark, which only says how far the partition goes, and for an event that is too large: it is read from the store. */
  event?: LoggedEvent;
}

/** A message with its place in Kafka. */
export interface PlacedMessage {
  offset: string;
  message: FeedMessage;
}

/** What a relay writes to. */
export interface FeedSink {
  /** Writes messages; each partition's in this order, and resolves when all are kept. When it throws, any of them may be kept. */
  send(messages: readonly OutgoingMessage[]): Promise<void>;
  close(): Promise<void>;
}

export interface OutgoingMessage {
  partition: number;
  /** The platform; null for a mark. */
  key: string | null;
  value: string;
}

const VERSION = 1;
/** What Kafka takes by default is 1 MiB, with the batch around it. */
const MAX_BYTES = 900_000;

/** As JSON text. Payload and metadata are strings in it, so that they come back to the byte. An event that is too large is left out. */
export function encodeMessage({ position, previous, event }: FeedMessage): string {
  const mark = { v: VERSION, position, previous };
  if (!event) return JSON.stringify(mark);
  const { id, type, stream, revision, metadata, payload } = event;
  const text = JSON.stringify({ ...mark, id, type, stream, revision, metadata, payload });
  return Buffer.byteLength(text) > MAX_BYTES ? JSON.stringify(mark) : text;
}

/** Reads what `encodeMessage` wrote; undefined for anything else, such as a message of a later version: the store has what it would say. */
export function decodeMessage(text: string): FeedMessage | undefined {
  let fields: Record<string, unknown>;
  try {
    fields = JSON.parse(text);
  } catch {
    return undefined;
  }
  const { v, position, previous, ...rest } = fields ?? {};
  if (v !== VERSION || !isPosition(position) || !isPosition(previous)) return undefined;
  if (rest.id === undefined) return { position, previous };
  const { id, type, stream, revision, metadata, payload } = rest as unknown as Omit<LoggedEvent, 'position'>;
  return { position, previous, event: { id, type, stream, revision, position, metadata, payload } };
}

const isPosition = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
