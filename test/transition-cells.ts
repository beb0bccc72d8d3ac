import { expect, test } from '@jest/globals';
import type { AnyDecider } from '../libs/kernel/decider.ts';
import { Rejection } from '../libs/kernel/errors.ts';
import type { Command, Event } from '../libs/kernel/messages.ts';
import type { TransitionTable } from '../libs/kernel/transitions.ts';

/** When the events of examples happened. */
export const AT = '2025-10-13T12:00:00.000Z';

interface Examples<S, C extends string> {
  /** A state of that status, such that the first row of the cell holds. */
  given(status: string, command: C): S;
  /** A command for every name of the table, such that the first row of every cell holds. */
  when: Readonly<Record<C, Command>>;
  /** Where a state stands in the table; `status` unless it says otherwise. */
  statusOf?: (state: S) => string;
}

/**
 * Tests every cell of a transition table against the decider that it guards: what the table refuses is refused with the same code
 * and reason, what it allows leads to the events and the status it names. The event `nothing` is none; several are joined by commas.
 */
export function testEveryCell<S, St extends string, C extends string>(
  decider: Pick<AnyDecider, 'decide' | 'evolve' | 'commands'>,
  table: TransitionTable<St, C>,
  { given, when, statusOf = (state) => (state as { status: string }).status }: Examples<S, C>,
): void {
  const cells = table.states.flatMap((status) =>
    table.commands.map((command) => ({ status, command, cell: table.cell(status, command) })),
  );

  test('the table and the examples have the same commands, all of the decider', () => {
    expect(Object.keys(when).sort()).toEqual([...table.commands].sort());
    const known = decider.commands.map(({ type }) => type);
    expect(known).toEqual(expect.arrayContaining(Object.values<Command>(when).map(({ type }) => type)));
  });

  test.each(cells)('$status × $command', ({ status, command, cell }) => {
    const state = given(status, command);
    expect(statusOf(state)).toBe(status);
    const decision = decider.decide(state, when[command]);
    expect(refusalOf(decision)).toEqual(refusalOf(cell));
    if (cell instanceof Rejection || decision instanceof Rejection) return;
    expect(decision.map(({ type }) => type)).toEqual(cell.event === 'nothing' ? [] : cell.event.split(', '));
    expect(statusOf(folded(decider, state, decision))).toBe(cell.to);
  });
}

/** An example: `given(decider, …events).when(command)`, then `.leadsTo(…events)` exactly and in order, or `.rejects(code, reason)`. */
export function given(decider: AnyDecider, ...events: readonly Event[]) {
  const state = folded(decider, decider.initial, events);
  return {
    state,
    when(command: Command) {
      const decision = decider.decide(state, command);
      return {
        leadsTo: (...expected: readonly Event[]) => expect(decision).toEqual(expected),
        rejects: (code: string, reason?: string) => expect(refusalOf(decision)).toEqual({ code, reason }),
        /** The state after it was accepted. */
        state() {
          expect(refusalOf(decision)).toBe('accepted');
          return folded(decider, state, decision as readonly Event[]);
        },
      };
    },
  };
}

const folded = <S>(decider: Pick<AnyDecider, 'evolve'>, state: S, events: readonly Event[]): S =>
  events.reduce((before, event) => decider.evolve(before, { ...event, at: AT }), state);

const refusalOf = (outcome: object) =>
  outcome instanceof Rejection ? { code: outcome.code, reason: outcome.details?.reason } : 'accepted';
