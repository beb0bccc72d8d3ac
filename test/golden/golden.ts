import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { deciders } from '../../libs/domain/index.ts';
import type { LoggedEvent } from '../../libs/kernel/event-store.port.ts';
import { COMMAND_REFUSED } from '../../libs/kernel/refusal.ts';
import type { SubjectKeys } from '../../libs/kernel/subject-keys.port.ts';
import { EventCodec } from '../../libs/runtime/codec.ts';

/** A stored event as some version of the program wrote it, and what it means. Written once, never changed. */
export interface Golden {
  stored: LoggedEvent;
  /** What decoding gives: `bigint` as `{ "$bigint": "12" }`. */
  decoded: unknown;
}

export const folder = path.dirname(fileURLToPath(import.meta.url));
const domain = path.join(folder, '../../libs/domain');

/** The file of an event type in a schema version of its payload. */
export const fileOf = (type: string, version = 1): string => path.join(folder, `${type}.v${version}.golden.json`);

/** Every event type of every `*.events.ts`, and the one that any stream may hold, in order. */
export async function storedEventTypes(): Promise<string[]> {
  const files = (await readdir(domain, { recursive: true })).filter((file) => file.endsWith('.events.ts'));
  const sources = await Promise.all(files.map((file) => readFile(path.join(domain, file), 'utf8')));
  const types = sources.flatMap((source) => [...source.matchAll(/\bEvent<\s*'(\w+)'/g)].map(([, type]) => type!));
  return [...types, COMMAND_REFUSED].sort();
}

const keyOf = (subject: string): Buffer => createHash('sha256').update(`golden ${subject}`).digest();

/** Keys of subjects that are the same for ever, so that sealed fields of golden files can be read. */
const goldenKeys: SubjectKeys = {
  ensure: async (subjects) => new Map(subjects.map((subject) => [subject, keyOf(subject)])),
  find: async (subjects) => new Map(subjects.map((subject) => [subject, keyOf(subject)])),
  destroy: async () => {},
};

export const codec = new EventCodec(deciders, goldenKeys);

/** The same after the keys of all subjects were destroyed. */
export const erasedCodec = new EventCodec(deciders, { ...goldenKeys, find: async () => new Map() });

/** A decoded value in a form that JSON files can hold. */
export function plain(value: unknown): unknown {
  if (typeof value === 'bigint') return { $bigint: value.toString() };
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, plain(member)]));
}
