import type { Institution, Institutions } from './institutions.port.ts';
import { institutionTable } from './institutions.table.ts';

const all: readonly Institution[] = Object.entries(institutionTable).flatMap(([currency, countries]) =>
  Object.entries(countries).flatMap(([country, names]) =>
    names.map((name) => {
      const [bankName, displayName] = typeof name === 'string' ? [name, name] : name;
      return { bankName, displayName, country, currency };
    }),
  ),
);

/** The institutions of the table, for the sandbox. */
export const sandboxInstitutions: Institutions = {
  async list({ country, currency } = {}) {
    return all.filter(
      (institution) =>
        (country === undefined || institution.country === country) &&
        (currency === undefined || institution.currency === currency),
    );
  },
};
