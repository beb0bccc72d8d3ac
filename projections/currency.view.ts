import { type Static, Type } from 'typebox';

/** A currency with its exponent. */
export const Currency = Type.Object(
  {
    code: Type.String({ description: 'ISO 4217 code, or the ticker of a crypto currency.', examples: ['USD'] }),
    name: Type.String({ examples: ['United States Dollar'] }),
    symbol: Type.String({ description: 'Empty where the currency has none.', examples: ['$'] }),
    decimals: Type.Integer({
      minimum: 0,
      description: 'Digits after the decimal point: the smallest unit is 10^-decimals.',
      examples: [2],
    }),
  },
  { $id: 'Currency' },
);
export type Currency = Static<typeof Currency>;

/** An amount in the smallest unit of its currency. */
export const CurrencyAmount = Type.Object(
  {
    amount: Type.Integer({ format: 'int64', description: 'In the smallest unit of the currency.', examples: [12550] }),
    currency: Currency,
  },
  { $id: 'CurrencyAmount' },
);
export type CurrencyAmount = Static<typeof CurrencyAmount>;
