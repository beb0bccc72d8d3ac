/** Injection token of `RailsOf`: the rails that payouts and pulls take. */
export const RAILS = Symbol('RailsOf');
