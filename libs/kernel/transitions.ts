import { Rejection, reject } from './errors.ts';

/** One row of a transition table: from (one or several states), command, then either the next state and the event, or a refusal. */
export type TransitionRow<S extends string, C extends string> =
  | readonly [from: S | readonly S[], command: C, to: S, event: string]
  | readonly [from: S | readonly S[], command: C, refusal: Rejection];

/** What the table says of one state and command. */
export type Cell<S extends string> = { to: S; event: string } | Rejection;

export interface TransitionTable<S extends string, C extends string> {
  /** The refusal of a command in a state, or undefined when the table allows it. */
  guard(state: S, command: C): Rejection | undefined;
  cell(state: S, command: C): Cell<S>;
  readonly rows: readonly TransitionRow<S, C>[];
  readonly states: readonly S[];
  readonly commands: readonly C[];
  readonly otherwise: Rejection;
}

/**
 * The spec's state machine as a literal: same rows, same order, refusals included; what no row names is refused with `otherwise`.
 * Three readers: `decide` (the guard), the spec test (every state × command) and `ops spec` (Markdown).
 */
export function transitions<S extends string, C extends string>(
  rows: readonly TransitionRow<S, C>[],
  otherwise: Rejection = reject('INVALID_STATE_TRANSITION'),
): TransitionTable<S, C> {
  const cells = new Map<string, Cell<S>>();
  const states = new Set<S>();
  const commands = new Set<C>();
  for (const [from, name, ...outcome] of rows) {
    commands.add(name);
    for (const state of typeof from === 'string' ? [from] : from) {
      states.add(state);
      const key = `${state} ${name}`;
      if (cells.has(key)) continue; // several rows for a cell: the first is the one without a condition on data
      const [to, event] = outcome;
      cells.set(key, to instanceof Rejection ? to : { to, event: event as string });
      if (!(to instanceof Rejection)) states.add(to);
    }
  }
  const cell = (state: S, name: C) => cells.get(`${state} ${name}`) ?? otherwise;
  return {
    cell,
    guard(state, name) {
      const found = cell(state, name);
      return found instanceof Rejection ? found : undefined;
    },
    rows,
    states: [...states],
    commands: [...commands],
    otherwise,
  };
}
