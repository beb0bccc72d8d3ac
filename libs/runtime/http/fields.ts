import { applyDecorators } from '@nestjs/common';
import { ApiExtraModels, ApiProperty, type ApiPropertyOptions, getSchemaPath } from '@nestjs/swagger';
import { plainToInstance, Transform, Type } from 'class-transformer';
import { ValidateBy, ValidateNested } from 'class-validator';
import { type FieldError } from '../../kernel/errors.ts';
import { type IdType } from '../../kernel/ids.ts';
import * as rules from './rules.ts';
import { type Fault, isObject, type JsonSchema, type Rule, type TextOptions } from './rules.ts';

/** What every field decorator takes beside its own options. */
export interface FieldOptions {
  /** The field may be absent. Absent and `optional` not set: `REQUIRED`. */
  optional?: boolean;
  /** The field may be `null`. */
  nullable?: boolean;
  /** Makes an optional field required when the rest of the body says so. Bodies may be invalid elsewhere when this is asked. */
  requiredIf?: (body: never) => boolean;
  description?: string;
  example?: unknown;
}

/** A class of request bodies or of parts of them. */
export type BodyClass<T extends object = object> = new () => T;

const found = new WeakMap<object, Map<string, Fault[]>>();

/** What the last validation of this object found wrong with this property itself. */
export const faultsOf = (body: object, property: string): Fault[] => found.get(body)?.get(property) ?? [];

/** One field: how it is read, checked (by class-validator) and documented (in the OpenAPI document). */
export function Field(rule: Rule, options: FieldOptions = {}, documented?: object): PropertyDecorator {
  const check = presence(rule, options);
  const { optional, requiredIf, nullable, description, example } = options;
  const schema = { ...rule.schema, ...(description && { description }), ...(example !== undefined && { example }) };
  return applyDecorators(
    ...(rule.read ? [Transform(({ value }) => rule.read!(value))] : []),
    ValidateBy({
      name: 'field',
      validator: {
        validate(value, args) {
          const body = args!.object;
          const faults = check(value, body);
          if (faults) remember(body, args!.property, faults);
          return !faults;
        },
        defaultMessage: () => 'invalid',
      },
    }),
    ApiProperty({
      ...(documented ? { ...documented, ...(description && { description }) } : schema),
      required: !(optional || requiredIf),
      ...(nullable && { nullable }),
    } as ApiPropertyOptions),
  );
}

function presence(rule: Rule, options: FieldOptions): Rule['check'] {
  const { optional, nullable } = options;
  const requiredIf = options.requiredIf as ((body: object) => boolean) | undefined;
  const missing: Fault[] = [{ constraint: 'REQUIRED', says: 'is required' }];
  return (value, body) => {
    if (value === undefined)
      return requiredIf ? (requiredIf(body) ? missing : undefined) : optional ? undefined : missing;
    if (value === null && nullable) return undefined;
    return value === null && !optional ? missing : rule.check(value, body);
  };
}

function remember(body: object, property: string, faults: Fault[]): void {
  const byProperty = found.get(body) ?? new Map<string, Fault[]>();
  found.set(body, byProperty.set(property, faults));
}

export const Text = (options: TextOptions & FieldOptions = {}) => Field(rules.text(options), options);

/** A JSON integer: a text, a fraction or a number beyond 2^53−1 is refused, never rounded. */
export const Integer = (options: { min?: number; max?: number } & FieldOptions = {}) =>
  Field(rules.integer(options), options);

export const Flag = (options: FieldOptions = {}) => Field(rules.flag(), options);

export const OneOf = (values: readonly string[], options: FieldOptions = {}) => Field(rules.oneOf(values), options);

/** RFC 3339 with any offset; the property holds UTC with milliseconds and `Z`. */
export const Timestamp = (options: FieldOptions = {}) => Field(rules.timestamp(), options);

/** `YYYY-MM-DD`, a day that exists. */
export const DateOnly = (options: FieldOptions = {}) => Field(rules.dateOnly(), options);

export const Country = (options: FieldOptions = {}) => Field(rules.country(), options);

export const PhoneE164 = (options: FieldOptions = {}) => Field(rules.phoneE164(), options);

export const Email = (options: FieldOptions = {}) => Field(rules.email(), options);

/** `<Type>:<uuid>` of the given type or types; the property holds it with the uuid in lower case. */
export const PublicId = (type: IdType | IdType[], options: FieldOptions = {}) =>
  Field(rules.publicIdOf(...[type].flat()), options);

/** An object of which the client names the members (`freeObject`). */
export const FreeObject = (options: FieldOptions = {}) => Field(rules.freeObject(), options);

const objectRule: Rule = {
  schema: {},
  check: (value) => (isObject(value) ? undefined : [{ constraint: 'TYPE', says: 'must be an object' }]),
};

/** An object with fields of its own. */
export const Nested = (type: () => BodyClass, options: FieldOptions = {}): PropertyDecorator =>
  applyDecorators(Type(type), ValidateNested(), Field(objectRule, options, { type: () => type() }));

/** An object of the class that its discriminator names: `@NestedOneOf('sourceType', { ACCOUNT: AccountSource })`. */
export function NestedOneOf(
  discriminator: string,
  variants: Record<string, BodyClass>,
  options: FieldOptions = {},
): PropertyDecorator {
  return applyDecorators(
    Transform(({ value }) => {
      const variant = isObject(value) && variantOf(discriminator, variants, value);
      return variant ? plainToInstance(variant, value) : value;
    }),
    ValidateNested(),
    Field(variantRule(discriminator, variants), options, oneOfSchema(discriminator, variants)),
    target(ApiExtraModels(...Object.values(variants))),
  );
}

/** The class that the discriminator of this object names. */
export const variantOf = (
  discriminator: string,
  variants: Record<string, BodyClass>,
  body: Record<string, unknown>,
) => {
  const name = body[discriminator];
  return typeof name === 'string' && Object.hasOwn(variants, name) ? variants[name] : undefined;
};

/** Checks that a value is an object with a known discriminator. */
export function variantRule(discriminator: string, variants: Record<string, BodyClass>): Rule {
  const known = presence(rules.oneOf(Object.keys(variants)), {});
  return {
    schema: {},
    check(value, body) {
      if (!isObject(value)) return objectRule.check(value, body);
      return known(value[discriminator], value)?.map((fault) => ({ ...fault, at: discriminator }));
    },
  };
}

/** The variants as OpenAPI shows them. */
export function oneOfSchema(discriminator: string, variants: Record<string, BodyClass>): JsonSchema {
  const refs = Object.entries(variants).map(([name, variant]) => [name, getSchemaPath(variant)] as const);
  return {
    oneOf: [...new Set(refs.map(([, path]) => path))].map(($ref) => ({ $ref })),
    discriminator: { propertyName: discriminator, mapping: Object.fromEntries(refs) },
  };
}

/** A list of objects of a class (`@ListOf(() => Owner)`) or of values that follow a rule (`@ListOf(country())`). */
export function ListOf(
  element: Rule | (() => BodyClass),
  options: { min?: number; max?: number } & FieldOptions = {},
): PropertyDecorator {
  if (typeof element !== 'function') return Field(rules.listOf(element, options), options);
  const { schema, check } = rules.listBounds({}, options);
  const { minItems, maxItems } = schema;
  const rule: Rule = {
    schema: {},
    check(value) {
      const outside = check(value);
      if (outside) return outside;
      const wrong = (value as unknown[]).flatMap((item, index): Fault[] =>
        isObject(item) ? [] : [{ at: String(index), constraint: 'TYPE', says: 'must be an object' }],
      );
      return wrong.length > 0 ? wrong : undefined;
    },
  };
  const documented = { type: () => element(), isArray: true, maxItems, ...(minItems !== undefined && { minItems }) };
  return applyDecorators(Type(element), ValidateNested(), Field(rule, options, documented));
}

/**
 * A field with a check of its own, such as a compiled JSON Schema. `check` gives every error with its path inside the value
 * (empty for the value itself) and a whole sentence as `message`; the value may be anything but undefined and null.
 */
export function Checked(
  check: (value: unknown, body: object) => FieldError[],
  { schema, ...options }: { schema: JsonSchema } & FieldOptions,
): PropertyDecorator {
  return Field(
    {
      schema,
      check(value, body) {
        const faults = check(value, body).map(({ field, ...fault }): Fault => ({ ...fault, at: field }));
        return faults.length > 0 ? faults : undefined;
      },
    },
    options,
  );
}

/** Applies a class decorator to the class of the decorated property. */
const target =
  (decorate: ClassDecorator & MethodDecorator): PropertyDecorator =>
  (prototype) =>
    decorate(prototype.constructor as never);
