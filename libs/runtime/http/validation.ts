import { type ArgumentMetadata, Body, type PipeTransform } from '@nestjs/common';
import { ApiBody, ApiExtraModels, getSchemaPath } from '@nestjs/swagger';
import { plainToInstance } from 'class-transformer';
import { getMetadataStorage, type ValidationError, validateSync } from 'class-validator';
import { type FieldError, Rejection, reject, together } from '../../kernel/errors.ts';
import { fieldError, refuseFields } from './field-errors.ts';
import { type BodyClass, faultsOf, oneOfSchema, variantOf, variantRule } from './fields.ts';
import { isObject, join } from './rules.ts';

const plainTypes: unknown[] = [undefined, Object, String, Number, Boolean, Array, Buffer];

rememberRules();

/**
 * The pipe that turns bodies and query strings into instances of their classes. Every invalid field is reported at once, as
 * `400 INVALID_INPUT` with `details.errors`; unknown fields are dropped (decision 16).
 */
export class Validated implements PipeTransform {
  transform(value: unknown, { type, metatype }: ArgumentMetadata): unknown {
    if ((type !== 'body' && type !== 'query') || plainTypes.includes(metatype)) return value;
    return readAs(metatype as BodyClass, value);
  }
}

/** Reads a value as an instance of a class with field decorators; throws the rejection that names every invalid field. */
export function readAs<T extends object>(type: BodyClass<T>, value: unknown): T {
  const { instance, errors } = validated(type, value);
  if (errors.length > 0) refuseFields(errors.flatMap((error) => flatten(error, '')));
  return instance;
}

function validated<T extends object>(type: BodyClass<T>, value: unknown): { instance: T; errors: ValidationError[] } {
  const instance = plainToInstance(type, objectOf(value));
  return { instance, errors: validateSync(instance, { whitelist: true, forbidUnknownValues: false }) };
}

/** A body that is read but not accepted yet: of rules that depend on who asks the errors are told together with its own. */
export interface Submitted<T> {
  /** What was sent. */
  readonly given: Readonly<Record<string, unknown>>;
  /** The fields that are valid by themselves. */
  readonly valid: Partial<T>;
  /**
   * The body, when nothing is wrong with it and none of the checks throws a rejection. Rejections that name fields are thrown as one
   * (`together`), any other at once.
   */
  accept(...checks: (() => unknown)[]): T;
}

/** Reads a value as `readAs` does, and leaves it to the handler to accept it. */
export function submitted<T extends object>(type: BodyClass<T>, value: unknown): Submitted<T> {
  const { instance, errors } = validated(type, value);
  const wrong = errors.map(({ property }) => property);
  const valid = Object.fromEntries(Object.entries(instance).filter(([name]) => !wrong.includes(name)));
  const own = () => refuseFields(errors.flatMap((error) => flatten(error, '')));
  return {
    given: objectOf(value) as Record<string, unknown>,
    valid: valid as Partial<T>,
    accept(...checks) {
      const [first, ...others] = [own, ...checks].flatMap(refusalOf);
      if (first) throw together([first, ...others]);
      return instance;
    },
  };
}

function refusalOf(check: () => unknown): Rejection[] {
  try {
    check();
    return [];
  } catch (error) {
    if (error instanceof Rejection && error.details?.errors) return [error];
    throw error;
  }
}

/** `@SubmittedBody(ThingRequest) body: Submitted<ThingRequest>`. */
export const SubmittedBody =
  <T extends object>(type: BodyClass<T>): ParameterDecorator =>
  (target, key, index) => {
    ApiBody({ type })(target, key!, Object.getOwnPropertyDescriptor(target, key!)!);
    Body({ transform: (value: unknown) => submitted(type, value) })(target, key, index);
  };

/** class-validator goes through the rules of every class for each object it validates; those of one class never change. */
function rememberRules(): void {
  const storage = getMetadataStorage();
  const find = storage.getTargetValidationMetadatas.bind(storage);
  const known = new WeakMap<object, ReturnType<typeof find>>();
  storage.getTargetValidationMetadatas = (type, ...options) => {
    const rules = known.get(type) ?? find(type, ...options);
    known.set(type, rules);
    return rules;
  };
}

function objectOf(value: unknown): object {
  if (value === undefined) return {};
  if (isObject(value)) return value;
  throw reject('INVALID_INPUT', { reason: 'BODY_NOT_AN_OBJECT' }, 'The body must be a JSON object.');
}

function flatten(error: ValidationError, parent: string): FieldError[] {
  const path = join(parent, error.property);
  const faults = error.target ? faultsOf(error.target, error.property) : [];
  const own = faults.map((fault) => fieldError(path, fault));
  const wrongItself = faults.some((fault) => !fault.at);
  const inside = wrongItself ? [] : (error.children ?? []).flatMap((child) => flatten(child, path));
  return [...own, ...inside];
}

/** What is wrong with a body whichever of the classes it is meant to be. */
function errorsInAll(types: readonly BodyClass[], body: object, discriminator: string): FieldError[] {
  const [first = [], ...others] = types.map((type) =>
    validated(type, body).errors.flatMap((error) => flatten(error, '')),
  );
  const isSame = (one: FieldError) => (other: FieldError) =>
    one.field === other.field && one.constraint === other.constraint;
  return first.filter((one) => one.field !== discriminator && others.every((errors) => errors.some(isSame(one))));
}

/**
 * A body that is one of several classes, named by a discriminator: `@BodyOneOf('customerType', { INDIVIDUAL: IndividualBody })`.
 * Without the discriminator the body is read as `otherwise`, or refused when there is none. `read: submitted` leaves it to the handler to
 * accept the body.
 */
export function BodyOneOf(
  discriminator: string,
  variants: Record<string, BodyClass>,
  { otherwise, read = readAs }: { otherwise?: BodyClass; read?: (type: BodyClass, value: unknown) => object } = {},
): ParameterDecorator {
  const rule = variantRule(discriminator, variants);
  const pipe: PipeTransform = {
    transform(value: unknown) {
      const body = objectOf(value) as Record<string, unknown>;
      if (otherwise && body[discriminator] === undefined) return read(otherwise, body);
      const unnamed = rule.check(body, body)?.map((fault) => fieldError('', fault));
      if (unnamed) refuseFields([...unnamed, ...errorsInAll(Object.values(variants), body, discriminator)]);
      return read(variantOf(discriminator, variants, body)!, body);
    },
  };
  return (target, key, index) => {
    const method = Object.getOwnPropertyDescriptor(target, key!)!;
    const named = oneOfSchema(discriminator, variants);
    const schema = otherwise ? { anyOf: [named, { $ref: getSchemaPath(otherwise) }] } : named;
    ApiExtraModels(...Object.values(variants), ...(otherwise ? [otherwise] : []))(target, key!, method);
    ApiBody({ schema })(target, key!, method);
    Body(pipe)(target, key, index);
  };
}
