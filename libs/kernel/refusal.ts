import { type ErrorCode, type ErrorDetails, type Rejection, reject } from './errors.ts';
import type { Command, Event } from './messages.ts';

/** What stands in a stream of a command that it has refused for good, beside the field that names the stream's resource. */
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

/** The event that records a refusal. `idField`: the decider's, which names the stream's resource. */
export function commandRefused(idField: string, { type, data }: Command, refusal: Rejection): Event {
  const { code, message, details } = refusal;
  const refused: CommandRefusedData = { command: type, code, message, ...(details && { details }) };
  return { type: COMMAND_REFUSED, data: { [idField]: (data as Record<string, unknown>)[idField], ...refused } };
}

/** The refusal that an event records; undefined for every other event. */
export function refusalIn({ type, data }: Pick<Event, 'type' | 'data'>): Rejection | undefined {
  if (type !== COMMAND_REFUSED) return undefined;
  const { code, details, message } = data as CommandRefusedData;
  return reject(code, details, message);
}
