import { type ErrorCode, type ErrorDetails, type Rejection, reject } from './errors.ts';
import type { Command, Event } from './messages.ts';

/** What stands in a stream of a command that it has refused for good. */
export interface CommandRefusedData {
  command: string;
  code: ErrorCode;
  message: string;
  details?: ErrorDetails;
}

/**
 * A stream may hold a refusal: of a command that several senders send with one id, and whose refusal they act upon. Whoever sends it later
 * gets the same refusal, whatever the stream's state would allow by then. It changes no state, and any stream may hold it.
 */
export const COMMAND_REFUSED = 'CommandRefused';

/** The event that records a refusal. */
export const commandRefused = ({ type }: Command, { code, message, details }: Rejection): Event => ({
  type: COMMAND_REFUSED,
  data: { command: type, code, message, ...(details && { details }) } satisfies CommandRefusedData,
});

/** The refusal that an event records; undefined for every other event. */
export function refusalIn({ type, data }: Pick<Event, 'type' | 'data'>): Rejection | undefined {
  if (type !== COMMAND_REFUSED) return undefined;
  const { code, details, message } = data as CommandRefusedData;
  return reject(code, details, message);
}
