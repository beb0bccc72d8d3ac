import { type Rejection, reject } from '../../kernel/errors.ts';

/** The longest part before the `@`, its `$` included. */
const MAX_USERNAME = 64;
const USERNAME = /^\$[a-z0-9._+-]+$/;

/**
 * A UMA address in the form in which it is stored: `$username@domain`, lower case, at the platform's own domain (facts §6).
 * Refuses anything else with `INVALID_UMA_ADDRESS`, naming the field.
 */
export function umaAddressOf(text: string, domain: string, field = 'umaAddress'): string | Rejection {
  const invalid = invalidIn(field);
  const address = text.toLowerCase();
  const at = address.indexOf('@');
  const username = at < 0 ? address : address.slice(0, at);
  if (!USERNAME.test(username) || at < 0) {
    return invalid('PATTERN', `${field} must be $username@domain; the name takes a-z, 0-9, "-", "_", "." and "+".`, {
      pattern: '^\\$[a-z0-9._+-]+@.+$',
    });
  }
  if (username.length > MAX_USERNAME) {
    const message = `The name of ${field} must have at most ${MAX_USERNAME} characters with its "$".`;
    return invalid('MAX_LENGTH', message, { maxLength: MAX_USERNAME });
  }
  if (address.slice(at + 1) !== domain.toLowerCase()) {
    return invalid('FORMAT', `${field} must be at the platform's domain ${domain}.`, { domain });
  }
  return address;
}

/** The address of a customer who was given none. */
export const generatedUmaAddress = (customerId: string, domain: string): string =>
  `$${customerId.replaceAll('-', '').slice(-16)}@${domain.toLowerCase()}`;

const invalidIn =
  (field: string) =>
  (constraint: string, message: string, more: object): Rejection =>
    reject('INVALID_UMA_ADDRESS', { errors: [{ field, constraint, message, ...more }] }, message);
