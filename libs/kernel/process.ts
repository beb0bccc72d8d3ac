import type { AnyDecider } from './decider.ts';
import type { Rejection } from './errors.ts';
import type { Command } from './messages.ts';

/** The first of a step's commands that was refused, and which one it was. */
export interface Refused {
  at: number;
  rejection: Rejection;
}

/**
 * What a process does next. Either it sends commands to other streams, one after the other until one is refused, or it calls a
 * provider; what came of it goes as a command to the process's own stream. A step has no outcome "timed out": what is unknown is
 * asked again with the same ids.
 */
export type Step =
  | { sends: readonly Command[]; after: (refused?: Refused) => Command }
  | { call: string; request: object; after: (answer: never) => Command };

/**
 * The life of one resource that has to go on by itself: a pure function from its state to the next step.
 * The resource's own stream is the process's memory (intent before effect), so resuming after a crash is asking `next` again.
 */
export interface Process<S = unknown> {
  /** What it accomplishes: `completePayment`. */
  name: string;
  decider: AnyDecider;
  /** Event types of the stream after which the runner looks at it. */
  startsOn: readonly string[];
  /** The next step, or undefined when there is nothing to do now. */
  next(state: S): Step | undefined;
  /** When the stream has to be woken, as RFC 3339 UTC; undefined when it waits for nothing. Kept as a row beside the read model. */
  dueAt(state: S): string | undefined;
  /** The command to send when that time has come; undefined when the state has moved on. */
  wake(state: S, now: string): Command | undefined;
}

// biome-ignore lint/suspicious/noExplicitAny: a list of processes holds every state type
export type AnyProcess = Process<any>;
