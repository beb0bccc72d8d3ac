import { describe, expect, test } from '@jest/globals';
import { accountExamples } from '../domain/external-accounts/account.examples.ts';
import { accountTypeNames, accountTypes } from '../domain/external-accounts/account-types.ts';
import { isCurrency } from '../kernel/money.ts';
import { sandboxInstitutions } from './institutions.sandbox.ts';

const fiatTypes = accountTypeNames.filter((type) => accountTypes[type].rails.length > 0 && type !== 'SWIFT_ACCOUNT');

describe('the sandbox institutions', () => {
  test('the filters narrow the list, alone and together', async () => {
    const philippine = await sandboxInstitutions.list({ country: 'PH' });
    expect(philippine.map(({ bankName }) => bankName)).toEqual([
      'BDO Unibank',
      'BPI',
      'GCash',
      'Land Bank of the Philippines',
      'Maya Bank',
      'Metrobank',
      'Security Bank',
    ]);
    expect(philippine[1]).toEqual({
      bankName: 'BPI',
      displayName: 'Bank of the Philippine Islands',
      country: 'PH',
      currency: 'PHP',
    });
    const dollars = await sandboxInstitutions.list({ currency: 'USD' });
    expect(new Set(dollars.map(({ country }) => country))).toEqual(new Set(['SV', 'US']));
    expect(await sandboxInstitutions.list({ currency: 'USD', country: 'SV' })).toHaveLength(4);
    expect(await sandboxInstitutions.list({ currency: 'USD', country: 'PH' })).toEqual([]);
  });

  test('no institution is listed twice for a country and currency, and codes are codes', async () => {
    const all = await sandboxInstitutions.list();
    const keys = all.map(({ bankName, country, currency }) => `${currency} ${country} ${bankName}`);
    expect(keys).toEqual([...new Set(keys)]);
    for (const { country, currency } of all) {
      expect(country).toMatch(/^[A-Z]{2}$/);
      expect(isCurrency(currency)).toBe(true);
    }
  });

  test.each(fiatTypes)(
    '%s: its currency has at least two institutions, and its example names one of them',
    async (type) => {
      const [currency] = accountTypes[type].currencies as readonly string[];
      const names = (await sandboxInstitutions.list({ currency })).map(({ bankName }) => bankName);
      expect(names.length).toBeGreaterThanOrEqual(2);
      const named = accountExamples[type].bankName ?? accountExamples[type].provider;
      if (named !== undefined) expect(names).toContain(named);
    },
  );
});
