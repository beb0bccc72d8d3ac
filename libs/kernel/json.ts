/**
 * Fields whose members somebody else names, a client or a counterparty: nothing in them is money, whatever it is called. A free-form
 * field of an event or a state has to stand here (test/tidy.spec.ts).
 */
export const freeFields: ReadonlySet<string> = new Set([
  'senderCustomerInfo',
  'receiverCustomerInfo',
  'counterpartyInformation',
  'accountInfo',
  'accountOrWalletInfo',
  'embeddedWalletConfig',
  'cardTokenization2faConfig',
]);

/** JSON in which money survives: a `bigint` is written as a decimal string, and a field that ends in `Minor` is read back as one. */
export const toJson = (value: unknown): string =>
  JSON.stringify(value, (_, field) => (typeof field === 'bigint' ? field.toString() : field));

/** JSON in which each object's keys are in order: `{"b":1,"a":[2]}` and `{"a":[2],"b":1}` give the same text. */
export const canonicalJson = (value: unknown): string => JSON.stringify(inOrder(value));

function inOrder(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(inOrder);
  const ordered: Record<string, unknown> = {};
  for (const key of Object.keys(value).sort()) ordered[key] = inOrder((value as Record<string, unknown>)[key]);
  return ordered;
}

/** Reads what `toJson` wrote. `field`: the name of the field whose value it is, when it is not a whole event or state. */
export function fromJson<T>(text: string, field = ''): T {
  const value = JSON.parse(text);
  return (freeFields.has(field) ? value : revived(value)) as T;
}

/** Any other text is left alone. */
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
    } else if (typeof field === 'object' && !freeFields.has(key)) revived(field);
  }
  return value;
}
