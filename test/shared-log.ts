import { deciders } from '../libs/domain/index.ts';
import { timestamp } from '../libs/kernel/clock.ts';
import { type AnyDecider, fold, isAside, streamOf } from '../libs/kernel/decider.ts';
import { Rejection } from '../libs/kernel/errors.ts';
import type { Command, Event } from '../libs/kernel/messages.ts';
import type { WritePath } from '../libs/runtime/execute.ts';
import type { Envelope, Executed, Known } from '../libs/runtime/stream.ts';

const owners = new Map(deciders.flatMap((decider) => decider.commands.map(({ type }) => [type, decider] as const)));

interface LoggedStream {
  /** By revision, that before the first event included. */
  states: unknown[];
  /** How many of the events before each of them are no asides. */
  moves: number[];
  /** Ids of the commands that it holds. */
  done: Set<string>;
}

/** Streams that several processes write, by pure deciders alone, for properties of what they do at the same time. */
export class SharedLog {
  nowMs = Date.parse('2026-01-01T00:00:00.000Z');
  private readonly streams = new Map<string, LoggedStream>();
  private readonly appended: () => void;

  /** `appended` is called after each command that led to events. */
  constructor(appended: () => void = () => {}) {
    this.appended = appended;
  }

  revision(decider: AnyDecider, id: string): number {
    return this.of(decider, id).states.length - 1;
  }

  state<S>(decider: AnyDecider, id: string, revision = this.revision(decider, id)): S {
    return this.of(decider, id).states[revision] as S;
  }

  /** How many of the events up to a revision are no asides. */
  moves(decider: AnyDecider, id: string, revision: number): number {
    return this.of(decider, id).moves[revision]!;
  }

  /** The ids of a decider's streams. */
  ids({ name }: AnyDecider): string[] {
    return [...this.streams.keys()]
      .filter((key) => key.startsWith(`${name}-`))
      .map((key) => key.slice(name.length + 1));
  }

  /** Decides on the newest state; a command that the stream holds changes nothing. */
  send(command: Command, commandId: string): Executed {
    const decider = owners.get(command.type)!;
    const id = (command.data as Record<string, string>)[decider.id]!;
    const { states, moves, done } = this.of(decider, id);
    const replayed = done.has(commandId);
    const decision = replayed ? [] : decider.decide(states.at(-1), command);
    if (decision instanceof Rejection) throw decision;
    for (const event of decision as Event[]) {
      states.push(fold({ initial: states.at(-1), evolve: decider.evolve }, [{ ...event, at: timestamp(this.nowMs) }]));
      moves.push(moves.at(-1)! + (isAside(decider, event.type) ? 0 : 1));
    }
    if (decision.length > 0) {
      done.add(commandId);
      this.appended();
    }
    const revision = states.length - 1;
    return { state: states.at(-1), revision, position: revision, events: decision as Event[], replayed };
  }

  private of(decider: AnyDecider, id: string): LoggedStream {
    const name = `${decider.name}-${id}`;
    const stream = this.streams.get(name) ?? { states: [decider.initial], moves: [0], done: new Set() };
    this.streams.set(name, stream);
    return stream;
  }
}

/** What is thrown where a request dies. */
export class Died extends Error {}

/**
 * The write path of one process: it remembers of a stream what it last read or wrote, which may be older than the log. `step` is awaited
 * before everything that it does, and again before it is answered; a request that dies there has done the one and not the other.
 */
export class ProcessView implements Pick<WritePath, 'state' | 'execute' | 'noteForeign'> {
  private readonly log: SharedLog;
  private readonly seen: Map<string, number>;
  private readonly step: () => Promise<void>;

  constructor(log: SharedLog, seen: Map<string, number> = new Map(), step: () => Promise<void> = async () => {}) {
    this.log = log;
    this.seen = seen;
    this.step = step;
  }

  /** The same memory with another way of taking steps. */
  stepping(step: () => Promise<void>): ProcessView {
    return new ProcessView(this.log, this.seen, step);
  }

  /** Notices what others have written. */
  catchUp(): void {
    this.seen.clear();
  }

  async state<S>(decider: AnyDecider, id: string): Promise<Known<S>> {
    await this.step();
    const name = `${decider.name}-${id}`;
    const revision = this.seen.get(name) ?? this.log.revision(decider, id);
    this.seen.set(name, revision);
    const moved = { revision: this.log.moves(decider, id, revision), position: revision };
    return { state: this.log.state<S>(decider, id, revision), revision, position: revision, moved };
  }

  async execute(decider: AnyDecider, command: Command, { commandId }: Envelope): Promise<Executed> {
    await this.step();
    try {
      return this.log.send(command, commandId);
    } finally {
      const id = streamOf(decider, command).slice(decider.name.length + 1);
      this.seen.set(streamOf(decider, command), this.log.revision(decider, id));
      await this.step();
    }
  }

  noteForeign(): void {}
}

/** Commands without a bus. */
export const commandsOf = (path: Pick<WritePath, 'execute'>) => ({
  send: <S>(command: Command, envelope: Envelope) =>
    path.execute(owners.get(command.type)!, command, envelope) as Promise<Executed<S>>,
});
