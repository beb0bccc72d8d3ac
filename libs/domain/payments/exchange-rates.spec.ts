import { describe, expect, test } from '@jest/globals';
import { Rejection } from '../../kernel/errors.ts';
import type { Corridor } from '../../kernel/rate.ts';
import { type ExchangeRateQuery, type ExchangeRateRow, exchangeRateSources, exchangeRates } from './exchange-rates.ts';

const asOf = '2025-10-13T00:05:00.000Z';
const corridor = (from: string, to: string, buys: string, rails: Corridor['rails']): Corridor => ({
  rate: { from, to, buys, asOf },
  rails,
  minSendingAmount: 1n,
  maxSendingAmount: 1_000_000_000n,
  maxDailyAmount: 5_000_000_000n,
  service: { fixed: 0n, bps: 50 },
});
const corridors = [
  corridor('USD', 'EUR', '0.92', ['SEPA_INSTANT', 'SEPA']),
  corridor('USD', 'INR', '82.5', ['UPI']),
  corridor('USD', 'VND', '25400', ['BANK_TRANSFER']),
  corridor('EUR', 'USD', '1/0.92', ['ACH']),
];
const noFees = new Map();

function rows(query: Partial<ExchangeRateQuery>, platformFees = noFees): ExchangeRateRow[] {
  const result = exchangeRates({ sendingAmount: 10_000n, ...query }, corridors, platformFees);
  if (result instanceof Rejection) throw result;
  return result;
}

const ways = (list: ExchangeRateRow[]) =>
  list.map((row) => `${row.sourceCurrency}-${row.destinationCurrency} ${row.destinationPaymentRail}`);

describe('exchange rates', () => {
  test('have one row per corridor and rail', () => {
    expect(ways(rows({}))).toEqual([
      'USD-EUR SEPA_INSTANT',
      'USD-EUR SEPA',
      'USD-INR UPI',
      'USD-VND BANK_TRANSFER',
      'EUR-USD ACH',
    ]);
  });

  test('show the receiving amount before fees', () => {
    expect(rows({ sourceCurrency: 'USD', destinationCurrencies: ['INR'] })).toEqual([
      {
        sourceCurrency: 'USD',
        destinationCurrency: 'INR',
        destinationPaymentRail: 'UPI',
        minSendingAmount: 1n,
        maxSendingAmount: 1_000_000_000n,
        sendingAmount: 10_000n,
        receivingAmount: 825_000n,
        exchangeRate: '0.01212121',
        fees: { fixed: 0n, total: 50n },
        updatedAt: asOf,
      },
    ]);
  });

  test("add the platform's own fee of the source currency", () => {
    const fees = new Map([['USD', { fixed: 100n, bps: 30 }]]);
    const [toEur] = rows({ sourceCurrency: 'USD' }, fees);
    expect(toEur!.fees).toEqual({ fixed: 100n, total: 180n });
    expect(toEur!.receivingAmount).toBe(9200n);
    expect(rows({ sourceCurrency: 'EUR' }, fees)[0]!.fees).toEqual({ fixed: 0n, total: 50n });
  });

  test('are filtered by either side', () => {
    expect(ways(rows({ destinationCurrencies: ['INR', 'USD'] }))).toEqual(['USD-INR UPI', 'EUR-USD ACH']);
    expect(ways(rows({ sourceCurrency: 'INR' }))).toEqual([]);
  });

  test('of nothing are nothing', () => {
    expect(rows({ sourceCurrency: 'EUR', sendingAmount: 0n })[0]).toMatchObject({
      sendingAmount: 0n,
      receivingAmount: 0n,
      fees: { fixed: 0n, total: 0n },
      exchangeRate: '0.92',
    });
  });

  test('are refused where the receiving amount could not be paid', () => {
    const query = { sendingAmount: 9_000_000_000_000_000n };
    expect(exchangeRates(query, corridors, noFees)).toMatchObject({ code: 'AMOUNT_OUT_OF_RANGE' });
    expect(ways(rows({ ...query, destinationCurrencies: ['EUR'] }))).toHaveLength(2);
  });
});

describe('the query', () => {
  test('asks for what goes out of the platform’s currencies, and of the one that it names', () => {
    const query = { sourceCurrency: 'INR', destinationCurrencies: ['EUR', 'KES'], sendingAmount: 1n };
    expect(exchangeRateSources(query, ['USD', 'EUR'])).toEqual(['USD', 'EUR', 'INR']);
  });
});
