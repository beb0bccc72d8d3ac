import type { Rejection } from './errors.ts';
import type { Command, CommandClass, Event, Stamped } from './messages.ts';
import { COMMAND_REFUSED } from './refusal.ts';

/**
 * The pure heart of a feature: `decide` turns a command into events or a rejection, `evolve` folds an event into the state.
 * Neither awaits, reads a clock or draws randomness: what a decision needs lies in the command.
 */
export interface Decider<S = unknown, C extends Command = Command, E extends Event = Event> {
  /** The category of its streams: `payment` → `payment-<id>`. */
  name: string;
  /** The field of every command's data that names the stream: `accountId`. */
  id: string;
  commands: readonly CommandClass[];
  /** Commands that start a stream: no read before the first append, which expects that there is none. */
  creates?: readonly string[];
  initial: S;
  decide(state: S, command: C): readonly E[] | Rejection;
  evolve(state: S, event: E & Stamped): S;
  /** `wall`: its events carry wall time, whatever platform they are about. For what platforms share. Absent: the time of their platform. */
  clock?: 'wall';
  /** Version of the state's shape: a snapshot or a read row of another version is discarded and built again. */
  version: number;
  /**
   * Types of events after which a process of the stream has the same to do as before. What it sends keeps its ids then: they derive from
   * the last event that is not among these (libs/runtime/drive.ts).
   */
  asides?: readonly E['type'][];
  /** Personal fields of an event's data, encrypted in the log, by event type; `subject` is the field that names whose they are. */
  personal?: Readonly<Record<string, PersonalFields>>;
  /** Whether a state holds any of them, so that no snapshot may be made of it. Absent: with `personal`, every state does. */
  holdsPersonal?(state: S): boolean;
}

export interface PersonalFields {
  subject: string;
  fields: readonly string[];
}

// biome-ignore lint/suspicious/noExplicitAny: a list of deciders holds every state, command and event type
export type AnyDecider = Decider<any, any, any>;

/** The stream that a command is for. */
export function streamOf(decider: Pick<AnyDecider, 'name' | 'id'>, command: Command): string {
  const id = (command.data as Record<string, unknown>)[decider.id];
  if (typeof id !== 'string' || id === '') throw new Error(`${command.type} names no ${decider.id}`);
  return `${decider.name}-${id}`;
}

/** The state after an event of the stream, which may be one that no decider knows: a recorded refusal changes nothing. */
export const evolved = <S, E extends Event>(
  decider: Pick<Decider<S, Command, E>, 'evolve'>,
  state: S,
  event: E & Stamped,
): S => (event.type === COMMAND_REFUSED ? state : decider.evolve(state, event));

/** True for an event that no process is moved by, a recorded refusal among them. */
export const isAside = ({ asides }: Pick<AnyDecider, 'asides'>, type: string): boolean =>
  type === COMMAND_REFUSED || asides?.includes(type) === true;

/** The state after a list of events, from the beginning. */
export function fold<S, E extends Event>(
  decider: Pick<Decider<S, Command, E>, 'initial' | 'evolve'>,
  events: Iterable<E & Stamped>,
): S {
  let state = decider.initial;
  for (const event of events) state = evolved(decider, state, event);
  return state;
}

/** `event('CardFrozen', { cardId })`: an event literal whose type is kept. */
export const event = <T extends string, D extends object>(type: T, data: D): Event<T, D> => ({ type, data });
