import { Type } from 'typebox';

/** Vocabulary that quotes and transactions share. */
export const PurposeOfPayment = Type.Enum(
  [
    'GIFT',
    'SELF',
    'GOODS_OR_SERVICES',
    'EDUCATION',
    'HEALTH_OR_MEDICAL',
    'REAL_ESTATE_PURCHASE',
    'TAX_PAYMENT',
    'LOAN_PAYMENT',
    'UTILITY_BILL',
    'DONATION',
    'TRAVEL',
    'FAMILY_SUPPORT',
    'SALARY_PAYMENT',
    'OTHER',
  ],
  { $id: 'PurposeOfPayment', type: 'string' },
);

export const amountOf = (description: string, minimum = 0) => Type.Integer({ format: 'int64', minimum, description });

export const ExchangeRateNumber = Type.Number({
  exclusiveMinimum: 0,
  description:
    'Units of the sending currency per one unit of the receiving currency, both in major units, net of fees.',
  examples: [1.08695652],
});
