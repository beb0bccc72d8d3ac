import type { Random } from '../faults/random.ts';

/** A resource as an answer showed it last. */
// biome-ignore lint/suspicious/noExplicitAny: answers are checked against the OpenAPI document
export type Thing = { id: string } & Record<string, any>;

const ID = /^(\w+):[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** Of each type the latest are asked for again: they are the ones to which something still happens. */
const LATEST = 12;

/** The type that an id names, `Quote` of `Quote:0195…`; undefined when it is no id. */
export const typeOf = (id: unknown): string | undefined =>
  typeof id === 'string' ? (ID.exec(id)?.[1] ?? undefined) : undefined;

/** What a client has learnt of its platform from the answers that it got. */
export class Known {
  private readonly things = new Map<string, Map<string, Thing>>();
  private readonly latest: number;

  constructor(latest = LATEST) {
    this.latest = latest;
  }

  /** Remembers every resource in an answer. An invitation goes by its code, a transaction also by its quote. */
  learn(value: unknown): void {
    if (typeof value !== 'object' || value === null) return;
    const one = value as Record<string, unknown>;
    for (const inner of Object.values(one)) this.learn(inner);
    const type = typeOf(one.id);
    if (type) this.add(type, one as Thing);
    if (typeof one.inviterUma === 'string') this.add('Invitation', { ...one, id: String(one.code) });
    if (typeOf(one.transactionId)) this.add('Transaction', { id: String(one.transactionId) });
  }

  forget(id: string): void {
    for (const things of this.things.values()) things.delete(id);
  }

  /** One of these that fits; undefined when there is none. */
  one(random: Random, type: string, fits: (thing: Thing) => boolean = () => true): Thing | undefined {
    const fitting = [...(this.things.get(type)?.values() ?? [])].filter(fits).slice(-this.latest);
    return fitting.length > 0 ? random.pick(fitting) : undefined;
  }

  /** As much of it as is about this customer, or about nobody in particular. */
  around(customerId: string): Known {
    const all = [...this.things].flatMap(([type, things]) => [...things.values()].map((thing) => ({ type, thing })));
    const own = all.filter(({ thing }) => thing.customerId === customerId).map(({ thing }) => thing.id);
    const names = [customerId, ...own];
    const around = new Known();
    for (const { type, thing } of all) {
      const text = JSON.stringify(thing);
      if (!text.includes('Customer:') || names.some((name) => text.includes(name))) around.add(type, thing);
    }
    return around;
  }

  /** Those of which something is there. */
  get types(): string[] {
    return [...this.things].flatMap(([type, { size }]) => (size > 0 ? [type] : []));
  }

  private add(type: string, thing: Thing): void {
    const things = this.things.get(type) ?? new Map<string, Thing>();
    this.things.set(type, things.set(thing.id, { ...things.get(thing.id), ...thing }));
  }
}
