import type { PaymentRail } from '../../kernel/rails.ts';
import type { CheckName } from './identifier-checks.ts';

/** What a text field of `accountInfo` or of a beneficiary must look like. Lengths in characters. */
export interface TextRule {
  readonly required?: true;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly enum?: readonly string[];
  readonly format?: 'date' | 'email';
  /** A check beyond the pattern, such as a check digit; a failure is a FORMAT error. */
  readonly check?: CheckName;
  /** Line breaks are allowed. */
  readonly multiline?: true;
}

/** A field that is an object of its own, such as an address. `component` names its schema in the OpenAPI document. */
export interface ObjectRule {
  readonly required?: true;
  readonly component: string;
  readonly fields: Fields;
}

export type FieldRule = TextRule | ObjectRule;
export type Fields = Readonly<Record<string, FieldRule>>;

/** A rail and the fields it cannot do without. The same rail may be listed twice: either set of fields will do. */
export interface RailRule {
  readonly rail: PaymentRail;
  readonly needs: readonly string[];
  readonly beneficiaryType?: 'BUSINESS';
}

/** One schema of a beneficiary. `component` names it in the OpenAPI document. */
export interface BeneficiaryRule {
  readonly component: string;
  readonly beneficiaryType: 'INDIVIDUAL' | 'BUSINESS';
  readonly fields: Fields;
}

/** The beneficiaries an account type takes. */
export interface BeneficiaryChoice {
  readonly required: boolean;
  readonly INDIVIDUAL: BeneficiaryRule;
  readonly BUSINESS: BeneficiaryRule;
}

/** One row of the table of account types: everything that depends on `accountType`. */
export interface AccountTypeRow {
  /** The currencies an account of this type may hold; `ANY_FIAT` is every fiat currency of the registry. */
  readonly currencies: readonly string[] | 'ANY_FIAT';
  readonly fields: Fields;
  /** Empty for wallets. At least one rule must be satisfied when there are any. */
  readonly rails: readonly RailRule[];
  /** Absent where the type has no beneficiary. */
  readonly beneficiary?: BeneficiaryChoice;
  /** A wallet whose owner can be challenged to prove ownership, unless `vaspName` names a custodian. */
  readonly selfCustody?: true;
  /** Of these fields exactly one is given. */
  readonly exactlyOneOf?: readonly string[];
  /** A field that other fields' values make mandatory. */
  readonly neededFor?: { readonly field: string; readonly when: string; readonly in: readonly string[] };
  /** The institution's name must be one of the institutions known for the currency. */
  readonly knownBankName?: true;
  /** Identifiers that differ only in case are different. */
  readonly caseSensitive?: true;
}

export const text = (minLength: number, maxLength: number): TextRule =>
  minLength === 0 ? { maxLength } : { minLength, maxLength };

export const matching = (pattern: string, minLength: number, maxLength: number = minLength): TextRule => ({
  pattern,
  minLength,
  maxLength,
});

export const oneOf = (...values: string[]): TextRule => ({ enum: values });

/** The same rule for a field that must be there. */
export function required(rule: TextRule): TextRule;
export function required(rule: ObjectRule): ObjectRule;
export function required(rule: FieldRule): FieldRule {
  return { ...rule, required: true };
}

export const isObjectRule = (rule: FieldRule): rule is ObjectRule => 'fields' in rule;
