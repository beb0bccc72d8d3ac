/** Injection token of `UmaOf`: the world of UMA outside this deployment. */
export const UMA = Symbol('UmaOf');
