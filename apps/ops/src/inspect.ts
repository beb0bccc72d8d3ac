import { deciders } from '../../../libs/domain/index.ts';
import { type AnyDecider, evolved } from '../../../libs/kernel/decider.ts';
import type { LoggedEvent } from '../../../libs/kernel/event-store.port.ts';
import { isUuid } from '../../../libs/kernel/ids.ts';
import { fromJson, toJson } from '../../../libs/kernel/json.ts';
import { categoryOf } from '../../../libs/kernel/messages.ts';
import { EventCodec } from '../../../libs/runtime/codec.ts';
import { changedPaths } from '../../projector/src/compare.ts';
import type { Engine } from '../../shared/engine.ts';
import { keyless } from './trail.ts';

/** One event of a stream, with what it made of the state. */
export interface InspectedEvent {
  position: number;
  revision: number;
  type: string;
  at: string;
  actor: string;
  correlationId: string;
  data: unknown;
  before: unknown;
  after: unknown;
  /** Paths of the state that changed: `terms.sendingMinor`. */
  changed: string[];
}

export interface InspectedStream {
  stream: string;
  events: InspectedEvent[];
}

export const MASKED = '[personal data]';

/**
 * The streams that an id names, event by event: a public id (`Customer:<uuid>`), a bare uuid or the name of a stream. Personal data
 * and secrets are masked unless `reveal` is set: they are not even decrypted then.
 */
export async function inspect(engine: Engine, id: string, { reveal = false } = {}): Promise<InspectedStream[]> {
  const names = await streamsOf(engine, id);
  return Promise.all(names.map((name) => inspectStream(engine, name, reveal)));
}

/** The streams that an id names. */
export async function streamsOf({ store }: Pick<Engine, 'store'>, id: string): Promise<string[]> {
  const uuid = id.slice(id.lastIndexOf(':') + 1).toLowerCase();
  const candidates = isUuid(uuid)
    ? deciders.flatMap(({ name }) => ['', '.sandbox', '.production'].map((suffix) => `${name}-${uuid}${suffix}`))
    : [id.replace(/^Invitation:/, 'invitation-')];
  const found: { stream: string; position: number }[] = [];
  for (const stream of candidates) {
    const [first] = await store.readStream(stream, -1);
    if (first) found.push({ stream, position: first.position });
  }
  return found.sort((a, b) => a.position - b.position).map(({ stream }) => stream);
}

async function inspectStream(engine: Engine, stream: string, reveal: boolean): Promise<InspectedStream> {
  const decider = deciders.find(({ name }) => name === categoryOf(stream));
  if (!decider) throw new Error(`No part of this version knows the stream ${stream}.`);
  const codec = reveal ? engine.codec : new EventCodec(deciders, keyless);
  const stored = await engine.store.readStream(stream, -1);
  const decoded = await codec.decode(stored);
  let state: unknown = decider.initial;
  const events = decoded.map((event, i): InspectedEvent => {
    const before = plain(state);
    state = evolved(decider, state, { type: event.type, data: event.data, at: event.at });
    const after = plain(state);
    return {
      position: event.position,
      revision: event.revision,
      type: event.type,
      at: event.at,
      actor: event.meta.actor,
      correlationId: event.meta.correlationId,
      data: reveal ? plain(event.data) : masked(decider, stored[i]!, plain(event.data)),
      before,
      after,
      changed: changedPaths(before, after).map(({ path }) => path.join('.')),
    };
  });
  return { stream, events };
}

/** What the event says of a person is masked; what it does not say is not made up. */
function masked(decider: AnyDecider, { type, payload }: LoggedEvent, data: object): object {
  const said = JSON.parse(payload) as Record<string, unknown>;
  const fields = (decider.personal?.[type]?.fields ?? []).filter((field) => said[field] !== undefined);
  return { ...data, ...Object.fromEntries(fields.map((field) => [field, MASKED])) };
}

/** A copy as it would be stored, so that what is undefined is not there. */
const plain = (value: unknown): object => fromJson(toJson(value));

/** The lines that tell it to people: every field after each event, those that changed marked and with what they were. */
export function told({ stream, events }: InspectedStream): string[] {
  const lines = [`${stream}  (${events.length} ${events.length === 1 ? 'event' : 'events'})`];
  for (const event of events) {
    lines.push('', `#${event.revision} ${event.type}   ${event.at}   position ${event.position}   by ${event.actor}`);
    for (const [path, value] of leaves(event.data)) lines.push(`    ${path} = ${shown(value)}`);
    lines.push('  state');
    const before = new Map(leaves(event.before));
    const after = new Map(leaves(event.after));
    for (const [path, value] of after) {
      const was = before.get(path);
      const isSame = before.has(path) && shown(was) === shown(value);
      const told = before.has(path) || !isPart(path, before) ? `   (was ${shown(was)})` : '';
      lines.push(isSame ? `    ${path} = ${shown(value)}` : `  * ${path} = ${shown(value)}${told}`);
    }
    for (const [path, value] of before) {
      if (!after.has(path) && !isPart(path, after)) lines.push(`  * ${path} is gone   (was ${shown(value)})`);
    }
  }
  return lines;
}

/** Whether what is empty here has something in it there: it is told of by that. */
const isPart = (path: string, there: ReadonlyMap<string, unknown>): boolean =>
  [...there.keys()].some((one) => one.startsWith(`${path}.`));

function leaves(value: unknown, path = ''): [string, unknown][] {
  if (typeof value !== 'object' || value === null || Object.keys(value).length === 0) return [[path, value]];
  return Object.entries(value).flatMap(([name, inner]) => leaves(inner, path ? `${path}.${name}` : name));
}

const shown = (value: unknown): string =>
  value === undefined ? 'absent' : typeof value === 'bigint' ? `${value}` : JSON.stringify(value);
