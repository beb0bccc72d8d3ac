import type { CurrencyCode } from '../kernel/money.ts';
import type { Corridor, Rate } from '../kernel/rate.ts';

/** Where prices of currencies come from. `rate` and `corridor` throw `INVALID_CURRENCY` where there is no price. */
export interface RatesProvider {
  /** The rate in force at `now`; exactly 1 from a currency to itself. */
  rate(from: CurrencyCode, to: CurrencyCode, now: Date): Promise<Rate>;

  /** The rate with the rails, limits and service fee of a payment from one currency to another (or to itself). */
  corridor(from: CurrencyCode, to: CurrencyCode, now: Date): Promise<Corridor>;

  /** What `GET /exchange-rates` lists: USD and each of `sources` to every other currency; those without a price are left out. */
  corridors(sources: readonly CurrencyCode[], now: Date): Promise<Corridor[]>;
}
