export interface LatelyUsedOptions<T> {
  /** How many things to keep of those that are used again and again. */
  size: number;
  /** One that is held stays, however long ago it was used. */
  isHeld: (thing: T) => boolean;
}

/** What part of `size` there is on top of it for what has come lately. */
const NEWCOMERS = 1 / 4;

/**
 * What was used lately, by name. Most new things are used for a moment and never again: they pass through a small part of the memory.
 * What is used once more after that moment, and what is older, is kept in the large part, out of which newcomers push nothing.
 */
export class LatelyUsed<T> {
  private readonly kept: Halves<T>;
  private readonly newcomers: Halves<T>;

  constructor({ size, isHeld }: LatelyUsedOptions<T>) {
    this.kept = new Halves(size, isHeld);
    this.newcomers = new Halves(size * NEWCOMERS, isHeld);
  }

  /** The thing of that name, which counts as a use. */
  use(name: string): T | undefined {
    const known = this.kept.young.get(name) ?? this.kept.renew(name) ?? this.newcomers.young.get(name);
    if (known !== undefined) return known;
    const stayed = this.newcomers.take(name);
    if (stayed !== undefined) this.kept.add(name, stayed);
    return stayed;
  }

  /** The thing of that name, which does not count as a use. */
  get(name: string): T | undefined {
    return this.kept.get(name) ?? this.newcomers.get(name);
  }

  /** A thing that is not known yet. */
  add(name: string, thing: T, { isNew }: { isNew: boolean }): void {
    (isNew ? this.newcomers : this.kept).add(name, thing);
  }

  /** Forgets this thing; another one of its name stays. */
  drop(name: string, thing: T): void {
    for (const { young, old } of [this.kept, this.newcomers]) {
      for (const half of [young, old]) if (half.get(name) === thing) half.delete(name);
    }
  }
}

/** When the younger half is full it becomes the older one, and what nobody has used in there is forgotten. A use costs no reordering. */
class Halves<T> {
  young = new Map<string, T>();
  old = new Map<string, T>();
  private readonly size: number;
  private readonly isHeld: (thing: T) => boolean;

  constructor(size: number, isHeld: (thing: T) => boolean) {
    this.size = size;
    this.isHeld = isHeld;
  }

  get(name: string): T | undefined {
    return this.young.get(name) ?? this.old.get(name);
  }

  /** From the older half. */
  take(name: string): T | undefined {
    const thing = this.old.get(name);
    if (thing !== undefined) this.old.delete(name);
    return thing;
  }

  renew(name: string): T | undefined {
    const thing = this.take(name);
    if (thing !== undefined) this.add(name, thing);
    return thing;
  }

  add(name: string, thing: T): void {
    this.young.set(name, thing);
    if (this.young.size < this.size / 2) return;
    const held = [...this.old].filter(([, one]) => this.isHeld(one));
    this.old = this.young;
    this.young = new Map(held);
  }
}
