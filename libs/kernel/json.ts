/** JSON in which money survives: a `bigint` is written as a decimal string, and a field that ends in `Minor` is read back as one. */
export const toJson = (value: unknown): string =>
  JSON.stringify(value, (_, field) => (typeof field === 'bigint' ? field.toString() : field));

/** Reads what `toJson` wrote. */
export function fromJson<T>(text: string): T {
  return revived(JSON.parse(text)) as T;
}

/** Any other text is left alone: a name that a client chose must not make an event unreadable. */
const MONEY = /^-?[0-9]+$/;

function revived(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) if (typeof value[i] === 'object') value[i] = revived(value[i]);
    return value;
  }
  const object = value as Record<string, unknown>;
  for (const key in object) {
    const field = object[key];
    if (typeof field === 'string') {
      if (key.endsWith('Minor') && MONEY.test(field)) object[key] = BigInt(field);
    } else if (typeof field === 'object') revived(field);
  }
  return value;
}
