import { InvalidArgumentError } from 'commander';
import { recordedAt, timestamp } from '../../../libs/kernel/clock.ts';
import type { EventStore } from '../../../libs/kernel/event-store.port.ts';
import type { RecordedEvent } from '../../../libs/kernel/messages.ts';
import { Misused } from './command.ts';

/** A point of the past: a position of the log, or a time at which events were stored (RFC 3339 UTC with milliseconds). */
export type Moment = { position: number } | { at: string };

const DATE = /^\d{4}-\d\d-\d\d$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/;
const LAST_MS_OF_DAY = 86_399_999;

/** Reads a position, a time with its zone, or a date (UTC), which stands for its first or its last millisecond. */
export const moment =
  (edge: 'first' | 'last') =>
  (text: string): Moment => {
    if (/^\d{1,15}$/.test(text)) return { position: Number(text) };
    const ms = (DATE.test(text) || TIME.test(text)) && isDay(text.slice(0, 10)) ? Date.parse(text) : Number.NaN;
    if (Number.isNaN(ms))
      throw new InvalidArgumentError('It must be a position, a date, or a time like 2025-10-13T12:00:00Z.');
    return { at: new Date(DATE.test(text) && edge === 'last' ? ms + LAST_MS_OF_DAY : ms).toISOString() };
  };

/** `Date.parse` takes the 31st of November for the 1st of December. */
function isDay(date: string): boolean {
  const ms = Date.parse(date);
  return !Number.isNaN(ms) && timestamp(ms).startsWith(date);
}

/** Reads a time with its zone, or a date (UTC). */
export function timeMs(text: string): number {
  const found = moment('first')(text);
  if ('at' in found) return Date.parse(found.at);
  throw new InvalidArgumentError('It must be a date, or a time like 2025-10-13T12:00:00Z.');
}

type Placed = Pick<RecordedEvent, 'position' | 'at'> & Partial<Pick<RecordedEvent, 'meta'>>;

/** A moment is wall time, also where a sandbox's clock is ahead. */
const timeOf = ({ at, meta }: Placed): string => (meta ? recordedAt({ at, meta }) : at);

/** True when the event belongs to the past that ends with the moment, which is part of it. */
export const isUpTo = (until: Moment | undefined, event: Placed): boolean =>
  until === undefined || ('position' in until ? event.position <= until.position : timeOf(event) <= until.at);

/** True when the event belongs to what begins with the moment, which is part of it. */
export const isFrom = (since: Moment | undefined, event: Placed): boolean =>
  since === undefined || ('position' in since ? event.position >= since.position : timeOf(event) >= since.at);

/** Refuses a position that the log has not come to. */
export async function requirePast(store: Pick<EventStore, 'head'>, at: Moment | undefined): Promise<void> {
  if (at === undefined || !('position' in at)) return;
  const head = await store.head();
  if (at.position > head) throw new Misused(`The log ends at position ${head}: there is no event at ${at.position}.`);
}

/** Refuses what is beyond the log's end, and what ends before it begins. */
export async function requireSpan(
  store: Pick<EventStore, 'head'>,
  { from, to }: { from?: Moment; to?: Moment },
): Promise<void> {
  for (const one of [from, to]) await requirePast(store, one);
  if (!from || !to) return;
  const isBackwards =
    'position' in from ? 'position' in to && from.position > to.position : 'at' in to && from.at > to.at;
  if (isBackwards) throw new Misused(`--from, ${shownMoment(from)}, is later than --to, ${shownMoment(to)}.`);
}

/** As a person would say it. */
export const shownMoment = (at: Moment): string => ('position' in at ? `position ${at.position}` : at.at);
