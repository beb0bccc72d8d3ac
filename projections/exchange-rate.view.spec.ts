import { expect, test } from '@jest/globals';
import Ajv from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { exchangeRates } from '../libs/domain/payments/exchange-rates.ts';
import { Rejection } from '../libs/kernel/errors.ts';
import { sandboxRates } from '../libs/providers/rates.sandbox.ts';
import { ExchangeRate, ExchangeRateListResponse, exchangeRateView } from './exchange-rate.view.ts';

const now = new Date('2025-10-13T12:00:00Z');

async function sandboxRows(platformCurrencies: string[]): Promise<ExchangeRate[]> {
  const corridors = await sandboxRates.corridors(platformCurrencies, now);
  const rows = exchangeRates({ sendingAmount: 10_000n }, corridors, new Map());
  if (rows instanceof Rejection) throw rows;
  return rows.map(exchangeRateView);
}

test('a row looks as the API documents it', async () => {
  const [row] = (await sandboxRows([])).filter(
    (each) => each.destinationPaymentRail === 'SEPA_INSTANT' && each.destinationCurrency.code === 'EUR',
  );
  expect(row).toEqual({
    sourceCurrency: { code: 'USD', name: 'United States Dollar', symbol: '$', decimals: 2 },
    sendingAmount: 10000,
    minSendingAmount: 1,
    maxSendingAmount: 1000000000,
    destinationCurrency: { code: 'EUR', name: 'Euro', symbol: '€', decimals: 2 },
    destinationPaymentRail: 'SEPA_INSTANT',
    receivingAmount: 9200,
    exchangeRate: 1.08695652,
    fees: { fixed: 0, total: 50 },
    updatedAt: '2025-10-13T12:00:00.000Z',
  });
});

test('every row of the sandbox satisfies the schema', async () => {
  const ajv = new Ajv.default({ allErrors: true, inlineRefs: false });
  addFormats.default(ajv);
  ajv.addFormat('int64', true);
  const schema = JSON.parse(
    JSON.stringify(ExchangeRateListResponse, (key, value) => (key === '$id' ? undefined : value)),
  );
  const data = await sandboxRows(['USD', 'EUR', 'GBP', 'MXN', 'BTC', 'USDC', 'USDB']);
  const valid = ajv.validate(schema, JSON.parse(JSON.stringify({ data })));
  expect([valid, ajv.errors]).toEqual([true, null]);
  expect(data.length).toBeGreaterThan(100);
  expect(ajv.validate(schema, { data: [{ ...data[0], exchangeRate: 0 }] })).toBe(false);
});
