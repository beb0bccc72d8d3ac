import { type IdType } from '../../kernel/ids.ts';
import { Field, type FieldOptions } from './fields.ts';
import * as rules from './rules.ts';
import { type Rule, type TextOptions } from './rules.ts';

/** A query parameter that is given once, as text: `parse` makes the value out of it, or hands it back as it came. */
function single(rule: Rule, parse?: (raw: string) => unknown): Rule {
  return {
    ...rule,
    read(raw) {
      if (typeof raw !== 'string') return raw;
      const value = parse ? parse(raw) : raw;
      return rule.read ? rule.read(value) : value;
    },
    check: (value, query) =>
      Array.isArray(value) ? [{ constraint: 'TYPE', says: 'must be given once' }] : rule.check(value, query),
  };
}

/** Query parameters may be absent unless `optional: false`. Absent ones keep the value their property is declared with. */
const query = (rule: Rule, options: FieldOptions): PropertyDecorator => Field(rule, { optional: true, ...options });

export const QueryText = (options: TextOptions & FieldOptions = {}) => query(single(rules.text(options)), options);

export const QueryInteger = (options: { min?: number; max?: number; default?: number } & FieldOptions = {}) => {
  const rule = rules.integer(options);
  const schema = options.default === undefined ? rule.schema : { ...rule.schema, default: options.default };
  return query(
    single({ ...rule, schema }, (raw) => (/^-?\d{1,400}$/.test(raw) ? Number(raw) : raw)),
    options,
  );
};

/** `true` or `false`. */
export const QueryFlag = (options: FieldOptions = {}) =>
  query(
    single(rules.flag(), (raw) => (raw === 'true' ? true : raw === 'false' ? false : raw)),
    options,
  );

/** RFC 3339; a `+` of an offset that arrives as a space is understood. The property holds UTC with milliseconds and `Z`. */
export const QueryTimestamp = (options: FieldOptions = {}) =>
  query(
    single(rules.timestamp(), (raw) => raw.replace(/ (?=\d\d:\d\d$)/, '+')),
    options,
  );

export const QueryOneOf = (values: readonly string[], options: FieldOptions = {}) =>
  query(single(rules.oneOf(values)), options);

export const QueryPublicId = (type: IdType | IdType[], options: FieldOptions = {}) =>
  query(single(rules.publicIdOf(...[type].flat())), options);

/** Several values of one rule, the key repeated or the values joined with commas: `@QueryList(oneOf(['PENDING', 'FAILED']))`. */
export function QueryList(element: Rule, options: { min?: number; max?: number } & FieldOptions = {}) {
  const rule = rules.listOf(element, options);
  const split = (raw: unknown) => [raw].flat().flatMap((part) => (typeof part === 'string' ? part.split(',') : [part]));
  return query({ ...rule, read: (raw) => (raw === undefined ? raw : rule.read!(split(raw))) }, options);
}
