import { type Clock, timestamp } from '../kernel/clock.ts';
import { evolved } from '../kernel/decider.ts';
import { Rejection } from '../kernel/errors.ts';
import type { KeyedAnswer } from '../kernel/event-store.port.ts';
import { derivedUuid } from '../kernel/ids.ts';
import type { Event, Tenant } from '../kernel/messages.ts';
import { commandRefused } from '../kernel/refusal.ts';
import type { PlatformClock } from './platform-clock.ts';
import type { Decided, Envelope, Executed, Stream, Waiting } from './stream.ts';

/** One stream's part of a flush: what its waiting commands decided, and how each is answered once that is written. */
export interface Draft {
  stream: Stream;
  /** The commands, in order. */
  waiting: Waiting[];
  decided: Decided[];
  /** The state after everything decided. */
  state: unknown;
  answers: KeyedAnswer[];
  keyOwners: Map<string, Waiting>;
  commandIds: Map<string, Rejection | undefined>;
  /** Whose resources were written, or found written. */
  tenants: Set<Tenant>;
  /** Gives the answers, refusals included, in order. `firstPosition` is that of the first event written. */
  settle: ((firstPosition: number) => void)[];
}

/** True when there is something to write: events, or answers of keyed requests. */
export const writes = (draft: Draft): boolean => draft.decided.length > 0 || draft.answers.length > 0;

/** When and where a flush is decided: wall time, and how far each platform's clock is ahead of it, in milliseconds. */
export interface Moment {
  /** Of this write path alone (`WritePathOptions`). */
  writer: string;
  nowMs: number;
  aheadMs(tenant: Tenant): number;
}

/** The clock of a write path: that of platforms, where they have clocks of their own. */
export type TimedClock = Clock & Partial<Pick<PlatformClock, 'aheadMs' | 'know'>>;

export const momentOf = (clock: TimedClock, writer: string): Moment => ({
  writer,
  nowMs: clock.nowMs(),
  aheadMs: (tenant) => clock.aheadMs?.(tenant) ?? 0,
});

/**
 * Decides the commands that wait for a stream, at most `limit`, one on top of the other, at one moment. A stream that is only assumed
 * to be new has to be read first when its first command leads to anything but events: undefined then, and nothing is taken.
 */
export function draftOf(stream: Stream, limit: number, moment: Moment): Draft | undefined {
  const draft: Draft = {
    stream,
    waiting: stream.queue.splice(0, limit),
    decided: [],
    state: stream.state,
    answers: [],
    keyOwners: new Map(),
    commandIds: new Map(),
    tenants: new Set(),
    settle: [],
  };
  for (const one of draft.waiting) {
    try {
      decideOne(draft, one, moment);
    } catch (error) {
      draft.settle.push(() => one.reject(error));
    }
    if (stream.assumedNew && draft.decided.length === 0) {
      stream.queue.unshift(...draft.waiting);
      return undefined;
    }
  }
  return draft;
}

/** Changes the draft only when nothing can fail any more, so that a fault in one command leaves no trace in the others' state. */
function decideOne(draft: Draft, one: Waiting, { writer, nowMs, aheadMs }: Moment): void {
  const { stream } = draft;
  const { command, envelope } = one;
  const { commandId } = envelope;
  const isKnown = one.isKnown || stream.window.has(commandId) || draft.commandIds.has(commandId);
  const ahead = stream.decider.clock === 'wall' ? 0 : aheadMs(envelope.tenant);
  const recorded = timestamp(nowMs);
  const at = ahead === 0 ? recorded : timestamp(nowMs + ahead);
  let { state } = draft;
  let events: readonly Event[] = [];
  let refusal = one.refusal ?? stream.window.refusalOf(commandId) ?? draft.commandIds.get(commandId);
  if (isKnown && refusal) throw refusal;
  if (!isKnown) {
    const decision = stream.decider.decide(state, command);
    if (!(decision instanceof Rejection)) events = decision;
    else if (envelope.stands?.(decision)) {
      refusal = decision;
      events = [commandRefused(stream.decider.id, command, decision)];
    } else throw decision;
    for (const event of events) state = evolved(stream.decider, state, { ...event, at });
  }
  const decided = events.map((event, step) => {
    const id = eventId(commandId, stream.name, step, recorded, writer);
    return { event, id, at: recorded, meta: metaOf(envelope, ahead) };
  });
  const last = draft.decided.length + decided.length;
  const { position } = stream;
  const done: Executed = { state, revision: stream.revision + last, position, events, replayed: isKnown };
  const answer = refusal ? undefined : envelope.answer?.(done);

  draft.state = state;
  draft.decided.push(...decided);
  if (decided.length > 0) draft.commandIds.set(commandId, refusal);
  if (isKnown || decided.length > 0) draft.tenants.add(envelope.tenant);
  if (answer && !draft.keyOwners.has(answer.key)) {
    draft.answers.push(answer);
    draft.keyOwners.set(answer.key, one);
  }
  draft.settle.push((firstPosition) => {
    if (last > 0) done.position = firstPosition + last - 1;
    if (refusal) one.reject(refusal);
    else one.resolve(done);
  });
}

/**
 * The same command decided once more is another event, which a store that recognises repeated ids must not take for the one that it has.
 * So the id holds the time of the decision, and the writer, as two of them may decide it in the same millisecond.
 */
const eventId = (commandId: string, stream: string, step: number, at: string, writer: string): string =>
  derivedUuid(commandId, stream, String(step), at, writer);

function metaOf(envelope: Envelope, aheadMs: number): Decided['meta'] {
  const { commandId, correlationId, causationId, actor, tenant } = envelope;
  const ahead = aheadMs !== 0 && { aheadMs };
  return { commandId, correlationId, ...(causationId && { causationId }), actor, tenant, ...ahead };
}
