import { type FieldError, rejectFields } from '../../kernel/errors.ts';
import { type Fault, join } from './rules.ts';

/** How many field errors one answer lists at most, and how long the path of one may be. */
const MAX_ERRORS = 100;
const MAX_PATH = 200;

/** Throws the rejection for these errors, if there is any; lists the first hundred. */
export function refuseFields(errors: FieldError[]): void {
  if (errors.length > 0) throw rejectFields(errors.slice(0, MAX_ERRORS));
}

/** The sentence and the members of a field error. */
export function fieldError(path: string, { at, says, message, ...fault }: Fault): FieldError {
  const whole = join(path, at);
  const field = whole.length > MAX_PATH ? `${whole.slice(0, MAX_PATH)}…` : whole;
  const { constraint, ...more } = fault;
  return { field, constraint, message: message ?? `${field} ${says}.`, ...more };
}
