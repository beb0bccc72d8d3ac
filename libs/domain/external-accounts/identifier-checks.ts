import { isValidBIC, isValidIBAN } from 'ibantools';
import { countryCodes } from '../../kernel/countries.ts';
import { isBolt11, isBolt12, isEvmAddress, solanaKey, sparkIdentityKey, tronAccount } from './wallet-addresses.ts';

/** A check beyond a pattern. */
interface Check {
  /** What a valid value is, as a sentence's end: "must be ...". */
  readonly says: string;
  readonly passes: (value: string, info: Readonly<Record<string, unknown>>) => boolean;
  /**
   * The form without its checksum, for the sandbox, whose magic suffixes a checksum or an alphabet may rule out
   * (base58 has no 0). Absent: the field's pattern is form enough.
   */
  readonly form?: RegExp;
}

const weightedSum = (digits: string, weights: readonly number[]): number =>
  weights.reduce((sum, weight, index) => sum + weight * Number(digits[index]), 0);

/** ABA routing number: weights 3, 7, 1 to a multiple of 10, and a Federal Reserve district or range in front. */
function isAba(value: string): boolean {
  const range = Number(value.slice(0, 2));
  const known = (range >= 1 && range <= 12) || (range >= 21 && range <= 32) || (range >= 61 && range <= 72);
  return (known || range === 80) && weightedSum(value, [3, 7, 1, 3, 7, 1, 3, 7, 1]) % 10 === 0;
}

/** The check digit of a CLABE's first 17 digits: weights 3, 7, 1, each product modulo 10. */
export function clabeCheckDigit(digits: string): string {
  const sum = [...digits.slice(0, 17)].reduce(
    (total, digit, i) => total + ((Number(digit) * [3, 7, 1][i % 3]!) % 10),
    0,
  );
  return String((10 - (sum % 10)) % 10);
}

const modulo11Digit = (body: string, weights: readonly number[]): string => {
  const values = [...body].map((character) => character.charCodeAt(0) - 48);
  const rest = weights.reduce((sum, weight, index) => sum + weight * values[index]!, 0) % 11;
  return rest < 2 ? '0' : String(11 - rest);
};

/** Two check digits at the end, the second over the first as well; `weights` are those of the second. */
function hasModulo11Digits(value: string, weights: readonly number[]): boolean {
  const first = modulo11Digit(value.slice(0, -2), weights.slice(1));
  return value.endsWith(first + modulo11Digit(value.slice(0, -2) + first, weights));
}

const isCpf = (value: string): boolean =>
  /^[0-9]{11}$/.test(value) && !/^(.)\1+$/.test(value) && hasModulo11Digits(value, [11, 10, 9, 8, 7, 6, 5, 4, 3, 2]);

/** CNPJ, in its numeric form and in the one with letters that is issued from 2026. */
const isCnpj = (value: string): boolean =>
  /^[0-9A-Z]{12}[0-9]{2}$/.test(value) &&
  !/^(.)\1+$/.test(value) &&
  hasModulo11Digits(value, [6, 5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2]);

const EMAIL = /^[^\s@]{1,64}@[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)+$/i;
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

const pixKeys: ReadonlyMap<unknown, (value: string) => boolean> = new Map([
  ['CPF', isCpf],
  ['CNPJ', isCnpj],
  ['EMAIL', (value) => EMAIL.test(value)],
  ['PHONE', (value) => /^\+[1-9][0-9]{7,14}$/.test(value)],
  ['RANDOM', (value) => UUID.test(value)],
]);

/** Checks by name, as the table of account types refers to them. */
const table = {
  iban: {
    says: 'a valid IBAN (ISO 13616: length and check digits of its country)',
    passes: (value) => isValidIBAN(value.toUpperCase()),
  },
  bic: { says: 'a BIC of an existing country (ISO 9362)', passes: (value) => isValidBIC(value) },
  aba: { says: 'a valid ABA routing number', passes: isAba },
  clabe: {
    says: 'a CLABE with the right check digit',
    passes: (value) => value.endsWith(clabeCheckDigit(value)),
  },
  country: { says: 'a country of ISO 3166-1 alpha-2', passes: (value) => countryCodes.has(value) },
  pixKey: {
    says: 'a Pix key of the kind that pixKeyType names',
    passes: (value, info) => pixKeys.get(info.pixKeyType)?.(value) ?? true,
  },
  evmAddress: {
    says: 'an address of 0x and 40 hexadecimal digits, with the EIP-55 checksum when in mixed case',
    passes: isEvmAddress,
    form: /^0x[0-9a-fA-F]{40}$/,
  },
  solanaAddress: {
    says: 'a base58 address of 32 bytes',
    passes: (value) => solanaKey(value) !== undefined,
    form: /^[1-9A-HJ-NP-Za-km-z]{29,41}[0-9]{3}$/,
  },
  sparkAddress: {
    says: 'a Spark address (bech32m)',
    passes: (value) => sparkIdentityKey(value) !== undefined,
    form: /^(?:spark|sp)(?:rt|t|s|l)?1[02-9ac-hj-np-z]{59}[0-9]{3}$/,
  },
  tronAddress: {
    says: 'a base58check address that begins with T',
    passes: (value) => tronAccount(value) !== undefined,
    form: /^T[1-9A-HJ-NP-Za-km-z]{30}[0-9]{3}$/,
  },
  bolt11: { says: 'a BOLT 11 invoice', passes: isBolt11 },
  bolt12: { says: 'a BOLT 12 offer', passes: isBolt12 },
  lightningAddress: {
    says: 'a Lightning address, user@domain',
    passes: (value) => EMAIL.test(value),
  },
} as const satisfies Record<string, Check>;

export type CheckName = keyof typeof table;

/** Checks beyond patterns: check digits, checksums and encodings. */
export const identifierChecks: Readonly<Record<CheckName, Check>> = table;
