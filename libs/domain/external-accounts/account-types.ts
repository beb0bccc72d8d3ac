import { internalAccountType, isCurrency } from '../../kernel/money.ts';
import type { PaymentRail } from '../../kernel/rails.ts';
import { fiatAccountTypes } from './account-types.fiat.ts';
import { walletAccountTypes } from './account-types.wallets.ts';
import type { AccountTypeRow } from './field-rules.ts';

const table = { ...fiatAccountTypes, ...walletAccountTypes };

/** The discriminator of `accountInfo` (spec, chapter `accountInfo` variants). */
export type AccountType = keyof typeof table;

/** Every account type with all that depends on it: one table for checks, JSON Schemas, rails and examples. */
export const accountTypes: Readonly<Record<AccountType, AccountTypeRow>> = table;

/** All account types, in the table's order. */
export const accountTypeNames = Object.keys(table) as AccountType[];

/** The `accountInfo` of an external account that has passed `checkAccountInfo`. */
export type AccountInfo = { readonly accountType: AccountType } & Readonly<Record<string, unknown>>;

export const isAccountType = (value: unknown): value is AccountType =>
  typeof value === 'string' && Object.hasOwn(table, value);

/** Fields that may identify the account at its institution, the first one present being the primary identifier. */
const identifierFields = [
  'iban',
  'accountNumber',
  'clabeNumber',
  'pixKey',
  'vpa',
  'phoneNumber',
  'address',
  'lightningAddress',
  'invoice',
  'bolt12',
] as const;

/** The codes that tell at which bank an account number is valid. */
const bankCodes = ['routingNumber', 'sortCode', 'bankCode', 'branchCode', 'ifsc', 'swiftCode'] as const;

/**
 * The members of `accountInfo` that are personal data, encrypted wherever they are stored: the identifiers, which
 * lead to a person, and the whole beneficiary.
 */
export const personalFields: readonly string[] = [...identifierFields, 'taxId', 'fiToFiInformation', 'beneficiary'];

export type IdentifierField = (typeof identifierFields)[number];

/** The field that holds the primary identifier; undefined when none is given. Also for input not yet checked. */
export function identifierField(info: Readonly<Record<string, unknown>>): IdentifierField | undefined {
  return identifierFields.find((field) => typeof info[field] === 'string');
}

/** The primary identifier: IBAN, account number, CLABE, Pix key, phone number, address... (facts §5). */
export function primaryIdentifier(info: Readonly<Record<string, unknown>>): string {
  const field = identifierField(info);
  return field === undefined ? '' : String(info[field]);
}

/** The last 3 characters of the primary identifier, of its user part where it has a domain: decides sandbox outcomes. */
export function suffixOf(info: Readonly<Record<string, unknown>>): string {
  const identifier = primaryIdentifier(info);
  const at = identifier.indexOf('@');
  return (at < 0 ? identifier : identifier.slice(0, at)).slice(-3);
}

/**
 * What all entries of one and the same account have in common, for the rule that a holder has an account once per
 * currency: the primary identifier, for an account number the codes without which its type does not take one, and for
 * a wallet its network. Names are spelled in many ways and optional codes may be left out, so neither counts.
 */
export function accountKey(info: AccountInfo): string {
  const row = accountTypes[info.accountType];
  const identifier = foldedIdentifier(info);
  if (row.rails.length === 0) return `${info.accountType}|${identifier}`;
  const codes = identifierField(info) === 'accountNumber' ? bankCodes.filter((code) => goesWithNumber(row, code)) : [];
  return [identifier, ...codes.map((code) => bankOf(code, info))].join('|');
}

/** The key of accounts that were added when it held the account type, bank names and optional codes (version 1). */
export function formerAccountKey(info: AccountInfo): string {
  const identifier = foldedIdentifier(info);
  if (identifierField(info) !== 'accountNumber') return `${info.accountType}|${identifier}`;
  const codes = bankCodes.filter((code) => code !== 'swiftCode' && info[code] !== undefined);
  const bank = (codes.length > 0 ? codes : ['swiftCode', 'bankName']).map((field) => lowerCase(info[field]));
  return [info.accountType, identifier, ...bank].join('|');
}

function foldedIdentifier(info: AccountInfo): string {
  const identifier = primaryIdentifier(info);
  return accountTypes[info.accountType].caseSensitive ? identifier : lowerCase(identifier);
}

const lowerCase = (value: unknown): string => String(value ?? '').toLowerCase();

/** True when the code is always given with an account number: it is required, or every rail to the number needs it. */
function goesWithNumber({ fields, rails }: AccountTypeRow, code: string): boolean {
  const toNumber = rails.filter(({ needs }) => needs.includes('accountNumber'));
  return (
    fields[code]?.required === true || (toNumber.length > 0 && toNumber.every(({ needs }) => needs.includes(code)))
  );
}

/** A BIC without its last three characters, the branch: they may be left out. */
const bankOf = (code: string, info: AccountInfo): string =>
  code === 'swiftCode' ? lowerCase(info[code]).slice(0, 8) : lowerCase(info[code]);

/** The rails whose fields are all given, in the table's order; none for wallets (facts §5). */
export function railsOf(info: AccountInfo): PaymentRail[] {
  const beneficiary = info.beneficiary as { beneficiaryType?: unknown } | undefined;
  const satisfied = accountTypes[info.accountType].rails.filter(
    (rule) =>
      rule.needs.every((field) => info[field] !== undefined) &&
      (rule.beneficiaryType === undefined || rule.beneficiaryType === beneficiary?.beneficiaryType),
  );
  return [...new Set(satisfied.map(({ rail }) => rail))];
}

/** True for a wallet in its owner's own custody, whose ownership can be verified: no `vaspName` names a custodian. */
export const isSelfCustodyWallet = (info: AccountInfo): boolean =>
  accountTypes[info.accountType].selfCustody === true && info.vaspName === undefined;

/** The name of the beneficiary: a person's `fullName` or a business's `legalName`; undefined without beneficiary. */
export function beneficiaryName(info: AccountInfo): string | undefined {
  const beneficiary = info.beneficiary as { fullName?: string; legalName?: string } | undefined;
  return beneficiary?.fullName ?? beneficiary?.legalName;
}

/** True when an account of this type may hold the currency. */
export function holdsCurrency(row: AccountTypeRow, currency: string): boolean {
  if (row.currencies === 'ANY_FIAT') return isCurrency(currency) && internalAccountType(currency) === 'INTERNAL_FIAT';
  return row.currencies.includes(currency);
}
