import type { Random } from '../faults/random.ts';
import type { Document } from '../openapi-validator.ts';
import type { Answer, Ask, Call } from './asking.ts';
import type { Known } from './known.ts';

interface Parameter {
  name: string;
  in: string;
  schema: { type?: string; enum?: string[]; format?: string };
}

/** A GET that the document knows, with its parameters. */
interface Reading {
  path: string;
  parameters: Parameter[];
}

const NONSENSE = [
  '',
  'nonsense',
  '\u0000',
  '%',
  '-1',
  '1e9',
  '2026-13-45',
  '__proto__',
  'x'.repeat(3_000),
  '\u{1f4b8}',
];
const PAGES = 4;

/** Everything that can be read, as the OpenAPI document has it. */
export const readingsOf = (document: Document): Reading[] =>
  Object.entries(document.paths).flatMap(([path, { get }]) => {
    const operation = get as { parameters?: Parameter[]; security?: unknown[] } | undefined;
    return operation?.security?.length ? [{ path, parameters: operation.parameters ?? [] }] : [];
  });

/** A random read of something: often a list, with filters of which some are wrong. */
export function someReading(readings: readonly Reading[], random: Random, known: Known): Call {
  const { path, parameters } = random.pick(readings);
  const filters = parameters.filter((one) => one.in === 'query' && one.name !== 'cursor' && random.next() < 0.3);
  const query = filters.map((one) => [one.name, valueFor(one, random, known)] as [string, string]);
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(named(name, random, known)));
  return { method: 'GET', path: `${filled}${query.length > 0 ? `?${new URLSearchParams(query)}` : ''}` };
}

function valueFor({ name, schema }: Parameter, random: Random, known: Known): string {
  if (random.next() < 0.1) return random.pick(NONSENSE);
  if (schema.enum) return random.pick(schema.enum);
  if (schema.format === 'date-time') return new Date(Date.now() + random.between(-600_000, 60_000)).toISOString();
  if (schema.type === 'boolean') return random.pick(['true', 'false']);
  if (schema.type === 'integer') return String(random.between(1, random.pick([3, 100, 110])));
  return named(name, random, known);
}

/** Something known of the kind that a name speaks of, or anything. */
function named(name: string, random: Random, known: Known): string {
  if (/currency/i.test(name)) return random.pick(['USD', 'EUR', 'BTC']);
  if (/region|country/i.test(name)) return 'US';
  if (/uma/i.test(name))
    return known.one(random, 'Customer', (one) => one.umaAddress)?.umaAddress ?? '$nobody@example.com';
  const kind = name.replace(/(Id|Identifier|Code)$/, '').toLowerCase();
  const wanted = known.types.filter((type) => type.toLowerCase().includes(kind));
  return known.one(random, random.pick(random.next() < 0.9 && wanted.length > 0 ? wanted : known.types))!.id;
}

/**
 * Follows a list from its first page: no page is longer than asked for, none shows again what was on another, and a cursor is of no use
 * to any other list. Answers what is not so.
 */
export async function wrongPages(ask: Ask, call: Call, first: Answer): Promise<string[]> {
  const [path, text = ''] = call.path.split('?') as [string, string?];
  const query = new URLSearchParams(text);
  const most = Number(query.get('limit') ?? 20);
  const seen = new Set<string>();
  const wrong: string[] = [];
  let page = first.body as { data?: { id?: string }[]; nextCursor?: string };
  for (let n = 0; n < PAGES && Array.isArray(page.data); n++) {
    if (query.has('limit') && page.data.length > most) wrong.push(`${page.data.length} on a page of ${most}`);
    for (const { id } of page.data) {
      if (id !== undefined && seen.has(id)) wrong.push(`${id} is on two pages`);
      seen.add(String(id));
    }
    if (!page.nextCursor) return wrong;
    const other = `${path === '/tokens' ? '/customers' : '/tokens'}?${new URLSearchParams({ cursor: page.nextCursor })}`;
    if ((await ask({ method: 'GET', path: other })).status !== 400) wrong.push(`its cursor is taken by ${other}`);
    query.set('cursor', page.nextCursor);
    const next = await ask({ method: 'GET', path: `${path}?${query}` });
    if (next.status !== 200) return [...wrong, `the next page is ${next.status} ${next.text}`];
    page = next.body;
  }
  return wrong;
}
