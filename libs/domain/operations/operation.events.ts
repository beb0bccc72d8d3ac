import type { Event } from '../../kernel/messages.ts';

/** What somebody was shown of people's data, and why it can be told: recorded before it is shown. */
export interface PersonalDataRevealedData {
  operationId: string;
  /** Who asked: the name given, else the user of the machine, as `<user>@<host>`. */
  by: string;
  /** The command that showed it. */
  command: 'export' | 'inspect';
  /** What was asked for, as it was given: an id, positions or times, event types. */
  subject?: string;
  from?: string;
  to?: string;
  types?: readonly string[];
  customerId?: string;
  /** Position of the log up to which it was shown at most. */
  upTo: number;
}

/** Facts about what operators and auditors did to the deployment. */
export type OperationEvent = Event<'PersonalDataRevealed', PersonalDataRevealedData>;

export const operationEventTypes = ['PersonalDataRevealed'] as const satisfies readonly OperationEvent['type'][];
