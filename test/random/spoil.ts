import type { Random } from '../faults/random.ts';
import type { Call } from './asking.ts';
import { type Known, typeOf } from './known.ts';

/** A request that is wrong, and the statuses of which it must get one; absent: what the OpenAPI document says of its body decides. */
export interface Spoilt {
  call: Call;
  wanted?: readonly number[];
}

/** Refusals of a request that names what is there for others only, or that is wrong in another way as well. */
const REFUSALS = [400, 403, 404, 409, 410];

/** What fields hold that no client means. JSON has them all, also an unpaired surrogate. */
const ODD: readonly unknown[] = [
  null,
  true,
  '',
  ' ',
  'x',
  'x'.repeat(5_000),
  '7',
  '\u0000',
  'a\u0000b',
  '\ud800',
  'a\udfffb',
  '\u202e\u{1f4b8}',
  '__proto__',
  'constructor',
  '$%7b;--',
  0,
  -1,
  1.5,
  2 ** 53,
  9_000_000_000_000_001,
  1e300,
  [],
  [[]],
  {},
  { length: 3 },
  JSON.parse('{"__proto__": {"amount": 1}}'),
];

const BROKEN = ['{"amount": 1', '[1, 2', '{"a": 1e}', '{"a": "\u0001"}', "{'a': 1}", '\ufeff{', '{"a": NaN}'];
const UNKNOWN_NAMES = [
  '__proto__',
  'constructor',
  'toString',
  'id',
  'status',
  'aFieldOfTomorrow',
  '',
  'a.b',
  '\u0000',
  '\ud800',
];

/** The request made wrong in one way; of its fields, two may be odd at once. */
export function spoilt(right: Call, random: Random, known: Known, elsewhere: Known): Spoilt {
  const ways = [
    withOddField,
    withOddField,
    withOddField,
    withUnknownField,
    brokenBody,
    ofNobody,
    ofOthers,
    byViewer,
    unknownMethod,
    oddKey,
  ];
  for (;;) {
    const found = random.pick(ways)(right, random, known, elsewhere);
    if (found) return found;
  }
}

type Way = (right: Call, random: Random, known: Known, elsewhere: Known) => Spoilt | undefined;
type Json = Record<string, unknown>;

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null;

/** Where an object has members: each as the object that holds it and its name there. */
function members(value: unknown): (readonly [Json, string])[] {
  if (!isObject(value)) return [];
  return Object.keys(value).flatMap((name) => [[value, name] as const, ...members(value[name])]);
}

const copied = <T>(body: T): T => JSON.parse(JSON.stringify(body));

const withOddField: Way = ({ body, ...right }, random, known) => {
  const wrong: Json = isObject(body) ? copied(body) : {};
  const times = random.pick([1, 1, 2]);
  for (let i = 0; i < times; i++) {
    const all = members(wrong);
    if (all.length === 0) return undefined;
    const [holder, name] = random.pick(all);
    const dice = random.next();
    if (dice < 0.25) delete holder[name];
    else if (dice < 0.35) set(holder, name, known.one(random, random.pick(known.types))!.id);
    else set(holder, name, random.pick(ODD));
  }
  return { call: { ...right, body: wrong } };
};

const withUnknownField: Way = ({ body, ...right }, random) => {
  if (!isObject(body)) return undefined;
  const wrong = copied(body);
  const holders = [
    wrong,
    ...members(wrong).flatMap(([holder, name]) => (isObject(holder[name]) ? [holder[name]] : [])),
  ];
  set(random.pick(holders), random.pick(UNKNOWN_NAMES), random.pick(ODD));
  return { call: { ...right, body: wrong } };
};

/** Sets a member of any name, `__proto__` too. */
function set(holder: Json, name: string, odd: unknown): void {
  const value = copied(odd); // it may be made odder still
  Object.defineProperty(holder, name, { value, enumerable: true, writable: true, configurable: true });
}

const brokenBody: Way = (right, random) =>
  right.body === undefined ? undefined : { call: { ...right, body: random.pick(BROKEN) }, wanted: [400] };

/** The path with another id in the place of its own. */
function elsewhereBound({ path }: Call, change: (id: string) => string | undefined): string | undefined {
  const parts = path.split('/');
  const at = parts.findIndex((part) => typeOf(part));
  const other = at < 0 ? undefined : change(parts[at]!);
  return other === undefined ? undefined : parts.with(at, other).join('/');
}

const ofNobody: Way = (right, random, known) => {
  const path = elsewhereBound(right, (id) => {
    const [type, uuid] = id.split(':') as [string, string];
    const other = random.pick(known.types.filter((one) => one !== type && typeOf(`${one}:${uuid}`)));
    const nonsense = [
      'nonsense',
      `${type}:`,
      `${id}0`,
      id.toUpperCase(),
      '%00',
      '%ED%A0%80',
      '..%2f..%2fconfig',
      '__proto__',
    ];
    return random.pick([`${other}:${uuid}`, known.one(random, other)?.id ?? 'x', ...nonsense]);
  });
  return path === undefined ? undefined : { call: { ...right, path }, wanted: [400, 404, 405] };
};

/** What belongs to another platform is not found, or refused where the body names it. */
const ofOthers: Way = (right, random, _known, elsewhere) => {
  const other = (id: string) => elsewhere.one(random, typeOf(id)!)?.id;
  const path = elsewhereBound(right, other);
  if (path !== undefined) return { call: { ...right, path }, wanted: [400, 404] };
  if (!isObject(right.body)) return undefined;
  const body = copied(right.body);
  const named = members(body).filter(([holder, name]) => typeOf(holder[name]));
  if (named.length === 0) return undefined;
  const [holder, name] = random.pick(named);
  const id = other(String(holder[name]));
  if (id === undefined) return undefined;
  holder[name] = id;
  return { call: { ...right, body }, wanted: REFUSALS };
};

const byViewer: Way = (right) => ({ call: { ...right, isByViewer: true }, wanted: [403] });

const unknownMethod: Way = (right) => ({ call: { ...right, method: 'PUT', body: right.body ?? {} }, wanted: [405] });

const oddKey: Way = (right, random) =>
  right.method === 'DELETE'
    ? undefined
    : { call: { ...right, key: random.pick(['', 'k'.repeat(256)]) }, wanted: [400] };
