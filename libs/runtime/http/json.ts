import { isUtf8 } from 'node:buffer';
import { type FieldError, reject } from '../../kernel/errors.ts';
import { fieldError, refuseFields } from './field-errors.ts';
import { join } from './rules.ts';

/** How deep objects and lists of a body may be nested, and how many values it may hold in all. */
export const MAX_DEPTH = 32;
export const MAX_VALUES = 5_000;

/**
 * Reads a JSON body. Refused, with `400 INVALID_INPUT`: bytes that are not UTF-8, what is not JSON, too deep or too many values,
 * and by field: NUL characters and lone surrogates in texts and names, numbers that a JavaScript number cannot hold exactly. Keys that
 * reach the prototype of an object are dropped.
 */
export function readJson(bytes: Buffer): unknown {
  if (!isUtf8(bytes)) throw reject('INVALID_INPUT', { reason: 'INVALID_UTF8' }, 'The body is not valid UTF-8.');
  const text = bytes.toString();
  const inspector = new Inspector(text.includes('\\u'));
  const value = inspector.inspect(parse(mayRound(text) ? markRounded(text) : text), '', 0);
  refuseFields(inspector.errors);
  return value;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const position = /position (\d+)/.exec((error as Error).message)?.[1];
    const details = { reason: 'MALFORMED_JSON', ...(position && { position: Number(position) }) };
    throw reject('INVALID_INPUT', details, 'The body is not valid JSON.');
  }
}

/** Halves of a character without the other one: no UTF-8 holds them, and PostgreSQL takes none. */
const SURROGATES = /\p{Surrogate}/gu;
const prototypeKeys = new Set(['__proto__', 'constructor', 'prototype']);

class Inspector {
  readonly errors: FieldError[] = [];
  private readonly escaped: boolean;
  private values = 0;

  /** `escaped`: the text has `\u` escapes, the only way a NUL or a lone surrogate gets into valid UTF-8 JSON. */
  constructor(escaped: boolean) {
    this.escaped = escaped;
  }

  inspect(value: unknown, path: string, depth: number): unknown {
    if (++this.values > MAX_VALUES) throw tooBig('BODY_TOO_COMPLEX', `The body holds more than ${MAX_VALUES} values.`);
    if (typeof value === 'string') this.inspectText(value, path);
    else if (typeof value === 'number') this.inspectNumber(value, path);
    else if (typeof value === 'object' && value !== null)
      this.inspectInside(value as Record<string, unknown>, path, depth);
    return value;
  }

  private inspectInside(value: Record<string, unknown>, path: string, depth: number): void {
    if (depth === MAX_DEPTH) throw tooBig('BODY_TOO_DEEP', `The body is nested deeper than ${MAX_DEPTH} levels.`);
    for (const key of Object.keys(value)) {
      if (prototypeKeys.has(key) && !Array.isArray(value)) {
        delete value[key];
        continue;
      }
      this.inspect(value[key], join(path, this.escaped ? this.inspectName(key, path) : key), depth + 1);
    }
  }

  /** A name that may stand in a path, whatever it was. */
  private inspectName(key: string, path: string): string {
    const name = key.replaceAll('\u0000', '\\u0000').replace(SURROGATES, '\uFFFD');
    if (key.includes('\u0000')) {
      this.refuse(join(path, name), 'PATTERN', 'must not contain NUL characters in its name');
    } else if (name !== key) this.refuse(join(path, name), 'FORMAT', 'must have a name of well-formed Unicode');
    return name;
  }

  private inspectText(value: string, path: string): void {
    if (value.startsWith(ROUNDED)) this.refuse(path, 'TYPE', 'has more digits than a number can hold exactly');
    else if (this.escaped && value.includes('\u0000')) {
      this.refuse(path, 'PATTERN', 'must not contain NUL characters', { pattern: '^[^\\u0000]*$' });
    } else if (this.escaped && value.search(SURROGATES) >= 0)
      this.refuse(path, 'FORMAT', 'must be well-formed Unicode');
  }

  private inspectNumber(value: number, path: string): void {
    const limit = Number.MAX_SAFE_INTEGER;
    if (value > limit) this.refuse(path, 'MAXIMUM', `must be at most ${limit}`, { maximum: limit });
    if (value < -limit) this.refuse(path, 'MINIMUM', `must be at least ${-limit}`, { minimum: -limit });
  }

  private refuse(path: string, constraint: FieldError['constraint'], says: string, more: object = {}): void {
    this.errors.push(fieldError(path || 'body', { constraint, says, ...more }));
  }
}

const tooBig = (reason: string, message: string) => reject('INVALID_INPUT', { reason }, message);

/** Starts the text that stands for a number with too many digits; no text that a client may send starts so. */
const ROUNDED = '\u0000number ';
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/** Integers that are rounded show in their value; this asks only whether a fraction may have been. */
const mayRound = (text: string): boolean => /\d\.\d{8}|\d{8}\.\d|\d[eE]-/.test(text);

/** Replaces the fractions that JSON.parse would round by a text that the inspection refuses. */
function markRounded(text: string): string {
  return text.replace(TOKEN, (token) => {
    if (token.startsWith('"') || !/\.|[eE]-/.test(token)) return token;
    const digits = token
      .replace(/[eE].*$/, '')
      .replace(/\D/g, '')
      .replace(/^0+|0+$/g, '');
    const lost = digits.length > 15 || (digits !== '' && Number(token) === 0);
    return lost ? JSON.stringify(ROUNDED + token) : token;
  });
}
