import { countryCodes } from '../../kernel/countries.ts';
import { type FieldError } from '../../kernel/errors.ts';
import { type IdType, parsePublicId, publicId } from '../../kernel/ids.ts';

/** A JSON Schema of draft 2020-12, as OpenAPI 3.1 uses it. */
export type JsonSchema = Record<string, unknown>;

/**
 * What is wrong with a value. `says` follows the field's name in a sentence ("must be an integer"); a `message` is taken as it
 * is. `at` is the path inside the value, when the value is a list or an object.
 */
export interface Fault {
  at?: string;
  constraint: FieldError['constraint'];
  says?: string;
  message?: string;
  [more: string]: unknown;
}

/**
 * How one kind of value is read, checked and documented. `read` brings a good value into its canonical form and hands anything
 * else back as it came; `check` gives undefined when nothing is wrong.
 */
export interface Rule {
  schema: JsonSchema;
  check(value: unknown, body: object): Fault[] | undefined;
  read?(value: unknown): unknown;
}

/** The largest text a field takes when it names no bound of its own, in characters. */
const DEFAULT_MAX_TEXT = 10_000;

const formats = {
  email: [/^[^\s@<>()",;:\\[\]]{1,64}@[a-z0-9-]+(\.[a-z0-9-]+)+$/i, 'an e-mail address'],
  uri: [/^[a-z][a-z0-9+.-]*:\S+$/i, 'an absolute URI'],
  uuid: [/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i, 'a uuid'],
  hostname: [
    /^(?=.{1,253}$)[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$/i,
    'a host name',
  ],
} as const;

export interface TextOptions {
  /** Shortest and longest text, in characters. */
  min?: number;
  max?: number;
  pattern?: RegExp;
  format?: keyof typeof formats;
}

const one = (constraint: Fault['constraint'], says: string, more?: object): Fault[] => [{ constraint, says, ...more }];

/** A text without NUL characters. */
export function text({ min, max = DEFAULT_MAX_TEXT, pattern, format }: TextOptions = {}): Rule {
  const known = format && formats[format];
  return {
    schema: {
      type: 'string',
      ...(min === undefined ? {} : { minLength: min }),
      maxLength: max,
      ...(pattern && { pattern: pattern.source }),
      ...(format && { format }),
    },
    check(value) {
      if (typeof value !== 'string') return one('TYPE', 'must be a string');
      if (value.includes('\u0000'))
        return one('PATTERN', 'must not contain NUL characters', { pattern: '^[^\\u0000]*$' });
      if (min !== undefined && value.length < 2 * min && characters(value) < min) {
        return one('MIN_LENGTH', `must have at least ${counted(min, 'character')}`, { minLength: min });
      }
      if (value.length > max && characters(value) > max) {
        return one('MAX_LENGTH', `must have at most ${counted(max, 'character')}`, { maxLength: max });
      }
      if (known && !(known[0].test(value) && (format !== 'uri' || URL.canParse(value)))) {
        return one('FORMAT', `must be ${known[1]}`, { format });
      }
      if (pattern && !pattern.test(value)) {
        return one('PATTERN', `must match ${pattern.source}`, { pattern: pattern.source });
      }
      return undefined;
    },
  };
}

const characters = (value: string): number => [...value].length;
const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

/** A JSON number without a fraction; never rounded, so at most 2^53−1 either way. */
export function integer(bounds: { min?: number; max?: number } = {}): Rule {
  const { min = Number.MIN_SAFE_INTEGER, max = Number.MAX_SAFE_INTEGER } = bounds;
  return {
    schema: { type: 'integer', format: 'int64', ...(bounds.min !== undefined && { minimum: min }), maximum: max },
    check(value) {
      if (typeof value !== 'number' || !(Number.isInteger(value) || Math.abs(value) === Infinity)) {
        return one('TYPE', 'must be an integer');
      }
      if (value < min) return one('MINIMUM', `must be at least ${min}`, { minimum: min });
      if (value > max) return one('MAXIMUM', `must be at most ${max}`, { maximum: max });
      return undefined;
    },
  };
}

/** `true` or `false`. */
export const flag = (): Rule => ({
  schema: { type: 'boolean' },
  check: (value) => (typeof value === 'boolean' ? undefined : one('TYPE', 'must be true or false')),
});

/** One of some texts. */
export function oneOf(values: readonly string[]): Rule {
  const allowed = new Set(values);
  return {
    schema: { type: 'string', enum: [...values] },
    check(value) {
      if (typeof value !== 'string') return one('TYPE', 'must be a string');
      return allowed.has(value)
        ? undefined
        : one('ENUM', `must be one of ${values.join(', ')}`, { allowed: [...values] });
    },
  };
}

const RFC3339 = /^(\d{4}-\d{2}-\d{2})T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/i;

/** A moment in RFC 3339; read as UTC with milliseconds and `Z`. */
export const timestamp = (): Rule => ({
  schema: { type: 'string', format: 'date-time' },
  read: (value) => (isTimestamp(value) ? new Date(value).toISOString() : value),
  check(value) {
    if (typeof value !== 'string') return one('TYPE', 'must be a string');
    if (isTimestamp(value)) return undefined;
    return one('FORMAT', 'must be an RFC 3339 timestamp such as 2025-10-13T12:00:00Z', { format: 'date-time' });
  },
});

function isTimestamp(value: unknown): value is string {
  const parts = typeof value === 'string' ? RFC3339.exec(value) : null;
  if (!parts || !isCalendarDay(parts[1]!)) return false;
  const date = new Date(parts[0]);
  return !Number.isNaN(date.valueOf()) && /^(?!0000)\d{4}-/.test(date.toISOString());
}

/** A day of the calendar, `YYYY-MM-DD`. */
export const dateOnly = (): Rule => ({
  schema: { type: 'string', format: 'date' },
  check(value) {
    if (typeof value !== 'string') return one('TYPE', 'must be a string');
    if (/^\d{4}-\d{2}-\d{2}$/.test(value) && isCalendarDay(value)) return undefined;
    return one('FORMAT', 'must be a date of the calendar as YYYY-MM-DD', { format: 'date' });
  },
});

function isCalendarDay(day: string): boolean {
  const date = new Date(`${day}T00:00:00Z`);
  return !day.startsWith('0000') && !Number.isNaN(date.valueOf()) && date.toISOString().startsWith(day);
}

/** An assigned ISO 3166-1 alpha-2 country code. */
export const country = (): Rule => ({
  schema: { type: 'string', pattern: '^[A-Z]{2}$', description: 'ISO 3166-1 alpha-2 country code.' },
  check(value) {
    if (typeof value !== 'string') return one('TYPE', 'must be a string');
    if (countryCodes.has(value)) return undefined;
    return one('FORMAT', 'must be an ISO 3166-1 alpha-2 country code', { format: 'iso3166-1-alpha-2' });
  },
});

const E164 = /^\+[1-9]\d{1,14}$/;

/** A telephone number in E.164. */
export const phoneE164 = (): Rule => ({
  schema: { type: 'string', pattern: E164.source },
  check(value) {
    if (typeof value !== 'string') return one('TYPE', 'must be a string');
    if (E164.test(value)) return undefined;
    return one('FORMAT', 'must be a telephone number in E.164, such as +14155550123', {
      format: 'e.164',
      pattern: E164.source,
    });
  },
});

/** An e-mail address of at most 320 characters. */
export const email = (): Rule => text({ max: 320, format: 'email' });

/** A public id `<Type>:<uuid>` of one of some types; read with the uuid in lower case. */
export function publicIdOf(...types: IdType[]): Rule {
  const pattern = `^(${types.join('|')}):[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`;
  const canonical = (value: unknown): string | undefined => {
    if (typeof value !== 'string') return undefined;
    const type = types.find((candidate) => value.startsWith(`${candidate}:`));
    const uuid = type && parsePublicId(type, value);
    return type && uuid && publicId(type, uuid);
  };
  return {
    schema: { type: 'string', pattern },
    read: (value) => canonical(value) ?? value,
    check(value) {
      if (typeof value !== 'string') return one('TYPE', 'must be a string');
      const named = types.map((type) => `${type}:<uuid>`).join(' or ');
      return canonical(value) ? undefined : one('PATTERN', `must be an id of the form ${named}`, { pattern });
    },
  };
}

/** Bounds of a free object: levels of objects and lists, itself included; entries of each of them; characters. */
const FREE = { levels: 4, entries: 50, name: 100, text: 1_000, json: 100_000 } as const;

const freeValue = { $ref: '#/components/schemas/FreeValue' };
const freeEntries = {
  maxProperties: FREE.entries,
  propertyNames: { maxLength: FREE.name },
  additionalProperties: freeValue,
};

/**
 * The schema component that free objects refer to. Its bounds are said in words: of a value that contains values of its own kind
 * some generators of clients make nothing, nor of the operation that takes it.
 */
export const freeValueSchema: JsonSchema = {
  description: `Any JSON: texts of ${FREE.text} characters, objects and lists of ${FREE.entries} entries, ${FREE.levels} levels deep, ${FREE.json} characters as JSON in all.`,
};

/** An object whose names and values are the client's: texts, numbers, booleans, null, and objects and lists of them, within bounds. */
export const freeObject = (): Rule => ({
  schema: { type: 'object', ...freeEntries },
  check(value) {
    if (!isObject(value)) return one('TYPE', 'must be an object');
    const faults = freeFaults(value, 1);
    if (faults.length > 0) return faults;
    const isLong = JSON.stringify(value).length > FREE.json;
    return isLong
      ? one('MAX_LENGTH', `must have at most ${FREE.json} characters as JSON`, { maxLength: FREE.json })
      : undefined;
  },
});

const freeName = text({ max: FREE.name });
const freeText = text({ max: FREE.text });

function freeFaults(value: unknown, level: number): Fault[] {
  if (typeof value === 'string') return freeText.check(value, {}) ?? [];
  if (typeof value !== 'object' || value === null) return [];
  if (level > FREE.levels) return one('TYPE', `must be no object or list: there are ${FREE.levels} levels at most`);
  const entries = Object.entries(value);
  if (entries.length > FREE.entries) {
    return one('MAX_LENGTH', `must have at most ${FREE.entries} entries`, { maxLength: FREE.entries });
  }
  return entries.flatMap(([name, entry]) => {
    const isNamed = !freeName.check(name, {});
    const tooLong = one('MAX_LENGTH', 'has a name that is too long', { maxLength: FREE.name });
    const faults = isNamed ? freeFaults(entry, level + 1) : tooLong;
    return faults.map((fault) => ({ ...fault, at: join(name, fault.at) }));
  });
}

/** A list whose elements follow a rule. */
export function listOf(element: Rule, bounds: { min?: number; max?: number } = {}): Rule {
  const { schema, check } = listBounds(element.schema, bounds);
  return {
    schema,
    read: (value) => (Array.isArray(value) && element.read ? value.map(element.read) : value),
    check(value, body) {
      const outside = check(value);
      if (outside) return outside;
      const faults = (value as unknown[]).flatMap((item, index) =>
        (element.check(item, body) ?? []).map((fault) => ({ ...fault, at: join(String(index), fault.at) })),
      );
      return faults.length > 0 ? faults : undefined;
    },
  };
}

/** What is true of a list apart from its elements. */
export function listBounds(items: JsonSchema, { min = 0, max = 100 }: { min?: number; max?: number }) {
  return {
    schema: { type: 'array', items, ...(min > 0 && { minItems: min }), maxItems: max } as JsonSchema,
    check(value: unknown): Fault[] | undefined {
      if (!Array.isArray(value)) return one('TYPE', 'must be a list');
      if (value.length < min)
        return one('MIN_LENGTH', `must have at least ${counted(min, 'element')}`, { minLength: min });
      if (value.length > max)
        return one('MAX_LENGTH', `must have at most ${counted(max, 'element')}`, { maxLength: max });
      return undefined;
    },
  };
}

/** A JSON object: neither a list nor null. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** `join('address', 'line1')` → `address.line1`; an empty part leaves the other. */
export const join = (path: string, rest: string | undefined): string =>
  !rest ? path : path ? `${path}.${rest}` : rest;
