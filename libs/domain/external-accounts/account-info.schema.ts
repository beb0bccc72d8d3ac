import { accountExamples } from './account.examples.ts';
import { type AccountType, accountTypeNames, accountTypes } from './account-types.ts';
import {
  type AccountTypeRow,
  type BeneficiaryChoice,
  type BeneficiaryRule,
  type FieldRule,
  type Fields,
  isObjectRule,
  type RailRule,
} from './field-rules.ts';
import { identifierChecks } from './identifier-checks.ts';

export type JsonSchema = Record<string, unknown>;

const ref = (component: string): JsonSchema => ({ $ref: `#/components/schemas/${component}` });

/** `USD_ACCOUNT` → `Usd`, `BASE_WALLET` → `BaseWallet`: the beginning of the type's component names. */
const componentPrefix = (type: AccountType): string =>
  type
    .replace(/_ACCOUNT$/, '')
    .split('_')
    .map((word) => word[0] + word.slice(1).toLowerCase())
    .join('');

const isWallet = (type: AccountType): boolean => accountTypes[type].rails.length === 0;

/** The component of the response variant, for example `UsdExternalAccountInfo`. */
export const responseComponent = (type: AccountType): string => `${componentPrefix(type)}ExternalAccountInfo`;

/** The component of the create variant; a wallet has one for both, except LIGHTNING with its alias in responses. */
export const createComponent = (type: AccountType): string =>
  isWallet(type) && type !== 'LIGHTNING'
    ? responseComponent(type)
    : `${componentPrefix(type)}ExternalAccountCreateInfo`;

/** In responses LIGHTNING may also be called LIGHTNING_ACCOUNT (spec, `accountInfo` variants). */
const responseNames = (type: AccountType): string[] =>
  type === 'LIGHTNING' ? ['LIGHTNING', 'LIGHTNING_ACCOUNT'] : [type];

/** The schema of one field; objects are referred to by their component. */
export function fieldSchema(rule: FieldRule): JsonSchema {
  if (isObjectRule(rule)) return ref(rule.component);
  const { required: _, multiline: __, check, enum: values, ...bounds } = rule;
  const schema: JsonSchema = { type: 'string', ...bounds };
  if (values) schema.enum = [...values];
  if (check) schema.description = `Must be ${identifierChecks[check].says}.`;
  return schema;
}

/** Names of the fields that must be there. */
const requiredNames = (fields: Fields): string[] => Object.keys(fields).filter((name) => fields[name]!.required);

/** The schema of an object of fields; other properties are tolerated (decision 16). */
export function objectSchema(fields: Fields): JsonSchema {
  const properties = Object.entries(fields).map(([name, rule]) => [name, fieldSchema(rule)]);
  return { type: 'object', required: requiredNames(fields), properties: Object.fromEntries(properties) };
}

function beneficiarySchema({ INDIVIDUAL, BUSINESS }: BeneficiaryChoice): JsonSchema {
  const mapping = {
    INDIVIDUAL: `#/components/schemas/${INDIVIDUAL.component}`,
    BUSINESS: `#/components/schemas/${BUSINESS.component}`,
  };
  return {
    oneOf: [ref(INDIVIDUAL.component), ref(BUSINESS.component)],
    discriminator: { propertyName: 'beneficiaryType', mapping },
  };
}

/**
 * What the rails demand beyond the fields that are always required, as alternatives. In an `allOf`, for beside `properties` generators of
 * clients take them for further variants of which nothing is known; and as names only, for with their schemas some make all required.
 */
function alternatives(row: AccountTypeRow): JsonSchema {
  if (row.exactlyOneOf) return { allOf: [{ oneOf: row.exactlyOneOf.map((field) => ({ required: [field] })) }] };
  if (row.rails.length === 0 || row.rails.some((rule) => rule.needs.length === 0)) return {};
  const text = (rule: RailRule): string =>
    rule.beneficiaryType ? `${rule.rail}, for a ${rule.beneficiaryType} beneficiary` : rule.rail;
  return { allOf: [{ anyOf: row.rails.map((rule) => ({ title: text(rule), required: [...rule.needs] })) }] };
}

function variantSchema(type: AccountType, form: 'create' | 'response'): JsonSchema {
  const row = accountTypes[type];
  const { required, properties } = objectSchema(row.fields) as { required: string[]; properties: JsonSchema };
  const schema: JsonSchema = {
    type: 'object',
    required: ['accountType', ...required],
    properties: {
      accountType: { type: 'string', enum: form === 'create' ? [type] : responseNames(type) },
      ...properties,
    },
    ...alternatives(row),
    examples: [accountExamples[type]],
  };
  const all = schema as { required: string[]; properties: JsonSchema };
  if (row.beneficiary) all.properties.beneficiary = beneficiarySchema(row.beneficiary);
  if (row.beneficiary?.required) all.required.push('beneficiary');
  if (form === 'create' || isWallet(type)) return schema;
  const rails = [...new Set(row.rails.map((rule) => rule.rail))];
  all.required.push('paymentRails');
  all.properties.paymentRails = { type: 'array', items: { type: 'string', enum: rails } };
  schema.examples = [{ ...accountExamples[type], paymentRails: rails }];
  return schema;
}

function beneficiaryComponent(rule: BeneficiaryRule): JsonSchema {
  const { required, properties } = objectSchema(rule.fields) as { required: string[]; properties: JsonSchema };
  return {
    type: 'object',
    required: ['beneficiaryType', ...required],
    properties: { beneficiaryType: { type: 'string', enum: [rule.beneficiaryType] }, ...properties },
  };
}

function oneOfVariants(variants: readonly (readonly [discriminator: string, component: string])[]): JsonSchema {
  const mapping = variants.map(([name, component]) => [name, `#/components/schemas/${component}`]);
  return {
    oneOf: [...new Set(variants.map(([, component]) => component))].map(ref),
    discriminator: { propertyName: 'accountType', mapping: Object.fromEntries(mapping) },
  };
}

/** Objects inside beneficiaries, such as `BeneficiaryAddress`, by their component names. */
function nestedComponents(fields: Fields): [string, JsonSchema][] {
  return Object.values(fields)
    .filter(isObjectRule)
    .map((rule) => [rule.component, objectSchema(rule.fields)]);
}

/**
 * Every OpenAPI component of `accountInfo`: `ExternalAccountType`, each variant to create and to answer, the
 * beneficiaries with `BeneficiaryAddress`, and the two unions `ExternalAccountCreateInfoOneOf` and `ExternalAccountInfoOneOf`.
 */
export function accountInfoComponents(): Record<string, JsonSchema> {
  const components: Record<string, JsonSchema> = {
    ExternalAccountType: { type: 'string', enum: [...accountTypeNames] },
    ExternalAccountCreateInfoOneOf: oneOfVariants(accountTypeNames.map((type) => [type, createComponent(type)])),
    ExternalAccountInfoOneOf: oneOfVariants(
      accountTypeNames.flatMap((type) => responseNames(type).map((name) => [name, responseComponent(type)] as const)),
    ),
  };
  for (const type of accountTypeNames) {
    components[createComponent(type)] = variantSchema(type, 'create');
    components[responseComponent(type)] = variantSchema(type, 'response');
    const { beneficiary } = accountTypes[type];
    for (const rule of beneficiary ? [beneficiary.INDIVIDUAL, beneficiary.BUSINESS] : []) {
      components[rule.component] = beneficiaryComponent(rule);
      Object.assign(components, Object.fromEntries(nestedComponents(rule.fields)));
    }
  }
  return components;
}
