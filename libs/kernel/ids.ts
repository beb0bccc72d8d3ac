import { hash } from 'node:crypto';

/** The type prefixes of public ids: `<Type>:<uuid>` (spec, chapter Resources). */
export type IdType =
  | 'Platform'
  | 'PlatformConfig'
  | 'Customer'
  | 'InternalAccount'
  | 'ExternalAccount'
  | 'Quote'
  | 'Transaction'
  | 'Token'
  | 'Webhook'
  | 'Sweep'
  | 'Lookup'
  | 'Invitation';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** True for a lower-case uuid of any version. */
export const isUuid = (text: string): boolean => UUID.test(text);

/** `publicId('Card', uuid)` → `Card:<uuid>`. */
export const publicId = (type: IdType, uuid: string): string => `${type}:${uuid}`;

/** The uuid of a public id of that type, in lower case; undefined when the text is not one. */
export function parsePublicId(type: IdType, text: string): string | undefined {
  if (!text.startsWith(`${type}:`)) return undefined;
  const uuid = text.slice(type.length + 1).toLowerCase();
  return isUuid(uuid) ? uuid : undefined;
}

/** A time-ordered uuid (version 7) from a time in milliseconds and ten random bytes. */
export function uuidV7(timeMs: number, random: Uint8Array): string {
  const bytes = Buffer.alloc(16);
  bytes.writeUIntBE(timeMs, 0, 6);
  bytes.set(random.subarray(0, 10), 6);
  return stamped(bytes, 0x70);
}

/** The same uuid (version 8) for the same parts, for ids that must come out again after a crash. */
export function derivedUuid(...parts: string[]): string {
  return stamped(hash('sha256', parts.join('\u0000'), 'buffer').subarray(0, 16), 0x80);
}

function stamped(bytes: Buffer, version: number): string {
  bytes[6] = (bytes[6]! & 0x0f) | version;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = bytes.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
