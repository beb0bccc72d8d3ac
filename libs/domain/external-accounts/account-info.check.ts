import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js';
import { fullFormats } from 'ajv-formats/dist/formats.js';
import type { FieldError } from '../../kernel/errors.ts';
import { fieldSchema, type JsonSchema, objectSchema } from './account-info.schema.ts';
import {
  type AccountInfo,
  type AccountType,
  accountTypeNames,
  accountTypes,
  holdsCurrency,
  identifierField,
  isAccountType,
  isSelfCustodyWallet,
  suffixOf,
} from './account-types.ts';
import { type AccountTypeRow, type Fields, isObjectRule } from './field-rules.ts';
import { identifierChecks } from './identifier-checks.ts';

type Input = Readonly<Record<string, unknown>>;

/** What the checks need to know beyond the account itself. */
export interface AccountCheckContext {
  /**
   * In the sandbox an identifier that ends in a magic suffix (002 to 007, 102 to 107) needs its form but not its
   * checksum, so that any sample identifier can be given any suffix.
   */
  readonly sandbox?: boolean;
  /** The institutions known for the currency; ILS accounts must name one of them. Absent: not checked. */
  readonly bankNames?: readonly string[];
}

const MAGIC_SUFFIX = /^(?:00[2-7]|10[2-7])$/;

/**
 * Every error of an `accountInfo`, each field at most once, in the table's order; none when the account can be
 * created. `currency` is the currency of the account. Unknown fields are ignored (decision 16).
 */
export function checkAccountInfo(input: unknown, currency: string, context: AccountCheckContext = {}): FieldError[] {
  if (input === undefined) return [missing('accountInfo')];
  if (!isObject(input))
    return [{ field: 'accountInfo', constraint: 'TYPE', message: 'accountInfo must be an object.' }];
  const { accountType } = input;
  if (!isAccountType(accountType)) return [unknownVariant('accountInfo.accountType', accountType, accountTypeNames)];
  const row = accountTypes[accountType];
  const errors = [
    ...schemaErrors('accountInfo', row.fields, input),
    ...choiceErrors(row, input),
    ...railErrors(row, input),
    ...conditionErrors(row, input),
    ...checkErrors('accountInfo', row.fields, input, context),
    ...bankNameErrors(row, input, context),
  ];
  return [
    ...checkAccountCurrency(accountType, currency),
    ...inOrder('accountInfo', row.fields, firstPerField(errors)),
    ...beneficiaryErrors(row, input),
  ];
}

/**
 * What is missing from a wallet on a platform with counterparty requirements (spec, `ownershipType`; facts §5): whose it is, when it is in
 * its owner's own custody, and who that is, when it is somebody else's.
 */
export function travelRuleErrors(input: unknown, ownershipType: unknown): FieldError[] {
  if (!isObject(input) || !isAccountType(input.accountType)) return [];
  const { rails, beneficiary } = accountTypes[input.accountType];
  if (rails.length > 0) return [];
  if (ownershipType === undefined && isSelfCustodyWallet(input as AccountInfo)) return [missing('ownershipType')];
  const isUnknown = ownershipType === 'THIRD_PARTY' && beneficiary !== undefined && input.beneficiary === undefined;
  return isUnknown ? [missing('accountInfo.beneficiary')] : [];
}

/** The fields of a checked `accountInfo` that the table knows, and nothing else: what is stored. */
export function knownAccountInfo(input: AccountInfo): AccountInfo {
  const row = accountTypes[input.accountType];
  const info: Record<string, unknown> = { accountType: input.accountType, ...knownFields(row.fields, input) };
  if (row.beneficiary && isObject(input.beneficiary)) {
    const type = input.beneficiary.beneficiaryType as 'INDIVIDUAL' | 'BUSINESS';
    info.beneficiary = { beneficiaryType: type, ...knownFields(row.beneficiary[type].fields, input.beneficiary) };
  }
  return info as AccountInfo;
}

function knownFields(fields: Fields, input: Input): Record<string, unknown> {
  const known = Object.entries(fields)
    .filter(([name]) => input[name] !== undefined)
    .map(([name, rule]) => [name, isObjectRule(rule) ? knownFields(rule.fields, input[name] as Input) : input[name]]);
  return Object.fromEntries(known);
}

const isObject = (value: unknown): value is Input =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function firstPerField(errors: readonly FieldError[]): FieldError[] {
  const seen = new Set<string>();
  return errors.filter(({ field }) => !seen.has(field) && seen.add(field));
}

const missing = (field: string): FieldError => ({ field, constraint: 'REQUIRED', message: `${field} is required.` });

function unknownVariant(field: string, value: unknown, allowed: readonly string[]): FieldError {
  if (value === undefined) return { ...missing(field), allowed };
  if (typeof value !== 'string') return { field, constraint: 'TYPE', message: `${field} must be a string.`, allowed };
  return { field, constraint: 'ENUM', message: `${field} must be one of ${allowed.join(', ')}.`, allowed };
}

/** The error of a currency that accounts of this type cannot hold. */
export function checkAccountCurrency(type: AccountType, currency: string): FieldError[] {
  const row = accountTypes[type];
  if (holdsCurrency(row, currency)) return [];
  const error = { field: 'currency', constraint: 'CONFLICT' } as const;
  if (row.currencies === 'ANY_FIAT')
    return [{ ...error, message: `A ${type} holds a fiat currency, not ${currency}.` }];
  const message = `A ${type} holds ${row.currencies.join(' or ')}, not ${currency}.`;
  return [{ ...error, message, allowed: row.currencies }];
}

const ajv = new Ajv2020({ allErrors: true, verbose: true });
ajv.addFormat('date', fullFormats.date).addFormat('email', fullFormats.email);
const validators = new WeakMap<Fields, ReturnType<typeof ajv.compile>>();

function validatorOf(fields: Fields) {
  let validate = validators.get(fields);
  if (!validate) {
    validate = ajv.compile(inlined(fields));
    validators.set(fields, validate);
  }
  return validate;
}

/** The schema of the fields with nested objects in place of references to components. */
function inlined(fields: Fields): JsonSchema {
  const properties = Object.entries(fields).map(([name, rule]) => [
    name,
    isObjectRule(rule) ? inlined(rule.fields) : fieldSchema(rule),
  ]);
  return { ...objectSchema(fields), properties: Object.fromEntries(properties) };
}

/** When one value breaks several rules, the first of these is told; its entry carries the others' bounds too. */
const constraints = [
  ['required', 'REQUIRED', 'is required'],
  ['type', 'TYPE', 'must be of type'],
  ['enum', 'ENUM', 'must be one of'],
  ['pattern', 'PATTERN', 'does not match the pattern'],
  ['format', 'FORMAT', 'is not a valid'],
  ['minLength', 'MIN_LENGTH', 'is too short'],
  ['maxLength', 'MAX_LENGTH', 'is too long'],
] as const;

/** The errors of one object against its fields, ordered as the fields are. */
function schemaErrors(path: string, fields: Fields, input: Input): FieldError[] {
  const validate = validatorOf(fields);
  validate(input);
  const found = (validate.errors ?? []).toSorted((a, b) => rank(a) - rank(b)).map((error) => fieldError(path, error));
  return inOrder(path, fields, firstPerField([...found, ...unreadable(path, fields, input)]));
}

/** Texts that are blank, or hold control characters or halves of characters, in which nobody can read a name. */
function unreadable(path: string, fields: Fields, input: Input): FieldError[] {
  return Object.entries(fields).flatMap(([name, rule]) => {
    const field = `${path}.${name}`;
    const value = input[name];
    if (isObjectRule(rule)) return isObject(value) ? unreadable(field, rule.fields, value) : [];
    if (typeof value !== 'string' || value === '') return [];
    const line = rule.multiline ? value.replaceAll(/[\r\n]/g, ' ') : value;
    const isBlank = value.trim() === '' && rule.minLength !== undefined;
    if (!isBlank && !/[\p{Cc}\p{Cs}]/u.test(line)) return [];
    return [{ field, constraint: 'FORMAT', message: `${field} must be readable text.` }];
  });
}

function inOrder(path: string, fields: Fields, errors: readonly FieldError[]): FieldError[] {
  const order = fieldOrder(path, fields);
  return errors.toSorted((a, b) => order.indexOf(a.field) - order.indexOf(b.field));
}

const rank = (error: ErrorObject): number => constraints.findIndex(([keyword]) => keyword === error.keyword);

function fieldOrder(path: string, fields: Fields): string[] {
  return Object.entries(fields).flatMap(([name, rule]) => {
    const field = `${path}.${name}`;
    return isObjectRule(rule) ? [field, ...fieldOrder(field, rule.fields)] : [field];
  });
}

function fieldError(path: string, error: ErrorObject): FieldError {
  const [, constraint, says] = constraints[rank(error)]!;
  const at = path + error.instancePath.replaceAll('/', '.');
  const { params } = error as { params: { missingProperty?: string; type?: string; format?: string } };
  if (constraint === 'REQUIRED') return missing(`${at}.${params.missingProperty}`);
  const { pattern, minLength, maxLength, enum: allowed, format } = error.parentSchema as Record<string, unknown>;
  const bounds = { pattern, minLength, maxLength, allowed, format };
  const told: Partial<Record<string, unknown>> = {
    TYPE: params.type,
    ENUM: (allowed as string[] | undefined)?.join(', '),
    PATTERN: pattern,
    FORMAT: format,
  };
  return {
    field: at,
    constraint,
    message: `${at} ${[says, told[constraint]].filter(Boolean).join(' ')}.`,
    ...Object.fromEntries(Object.entries(bounds).filter(([, value]) => value !== undefined)),
  };
}

/** Of some fields exactly one: none of them is REQUIRED thrice, a further one is a CONFLICT. */
function choiceErrors({ exactlyOneOf }: AccountTypeRow, input: Input): FieldError[] {
  if (!exactlyOneOf) return [];
  const given = exactlyOneOf.filter((field) => input[field] !== undefined);
  const message = `Give exactly one of ${exactlyOneOf.join(', ')}.`;
  const wrong = given.length === 0 ? exactlyOneOf : given.slice(1);
  const constraint = given.length === 0 ? 'REQUIRED' : 'CONFLICT';
  return wrong.map((field) => ({ field: `accountInfo.${field}`, constraint, message, exactlyOneOf }));
}

/**
 * When no rail has all it needs: every field whose presence would help. Fields that are required in any case have
 * their own errors, and rails closed to this beneficiary are of no help.
 */
function railErrors({ rails, fields }: AccountTypeRow, input: Input): FieldError[] {
  const type = isObject(input.beneficiary) ? input.beneficiary.beneficiaryType : undefined;
  const open = rails.filter((rule) => !type || !rule.beneficiaryType || rule.beneficiaryType === type);
  const absent = open.map(({ needs }) => needs.filter((name) => !fields[name]?.required && input[name] === undefined));
  if (absent.some((names) => names.length === 0)) return [];
  const anyOf = open.map(({ rail, needs }) => ({ rail, fields: [...needs] }));
  const says = open.map(({ rail, needs }) => `${rail} needs ${needs.join(', ')}`).join('; ');
  return [...new Set(absent.flat())].map((name) => ({
    field: `accountInfo.${name}`,
    constraint: 'REQUIRED',
    message: `The account can be paid by no rail: ${says}.`,
    anyOf,
  }));
}

function conditionErrors({ neededFor }: AccountTypeRow, input: Input): FieldError[] {
  if (!neededFor || input[neededFor.field] !== undefined) return [];
  const value = input[neededFor.when];
  if (typeof value !== 'string' || !neededFor.in.includes(value)) return [];
  const field = `accountInfo.${neededFor.field}`;
  return [{ ...missing(field), message: `${field} is required when ${neededFor.when} is ${value}.` }];
}

/** Check digits, encodings and code lists, for values that are strings; what breaks a pattern too is told as that. */
function checkErrors(path: string, fields: Fields, input: Input, context: AccountCheckContext = {}): FieldError[] {
  const magic = context.sandbox && MAGIC_SUFFIX.test(suffixOf(input)) ? identifierField(input) : undefined;
  return Object.entries(fields).flatMap(([name, rule]) => {
    const field = `${path}.${name}`;
    const value = input[name];
    if (isObjectRule(rule)) return isObject(value) ? checkErrors(field, rule.fields, value) : [];
    if (!rule.check || typeof value !== 'string' || value.length > 4096) return [];
    const { says, passes, form } = identifierChecks[rule.check];
    const valid = name === magic ? passes(value, input) || (form?.test(value) ?? true) : passes(value, input);
    if (valid) return [];
    return [{ field, constraint: 'FORMAT', message: `${field} must be ${says}.`, format: rule.check }];
  });
}

function bankNameErrors(row: AccountTypeRow, input: Input, { bankNames }: AccountCheckContext): FieldError[] {
  if (!row.knownBankName || !bankNames || typeof input.bankName !== 'string') return [];
  if (bankNames.includes(input.bankName)) return [];
  return [unknownVariant('accountInfo.bankName', input.bankName, bankNames)];
}

function beneficiaryErrors({ beneficiary: rules }: AccountTypeRow, { beneficiary }: Input): FieldError[] {
  const path = 'accountInfo.beneficiary';
  if (!rules || (beneficiary === undefined && !rules.required)) return [];
  if (beneficiary === undefined) return [missing(path)];
  if (!isObject(beneficiary)) return [{ field: path, constraint: 'TYPE', message: `${path} must be an object.` }];
  const type = beneficiary.beneficiaryType;
  if (type !== 'INDIVIDUAL' && type !== 'BUSINESS')
    return [unknownVariant(`${path}.beneficiaryType`, type, ['INDIVIDUAL', 'BUSINESS'])];
  const { fields } = rules[type];
  const errors = [...schemaErrors(path, fields, beneficiary), ...checkErrors(path, fields, beneficiary)];
  return inOrder(path, fields, firstPerField(errors));
}
