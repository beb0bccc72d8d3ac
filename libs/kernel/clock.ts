import type { RecordedEvent, Tenant } from './messages.ts';

/** Where time comes from. Everything that asks for the time asks this port (decision 19). */
export interface Clock {
  /**
   * Milliseconds since the epoch, by the clock of a platform, which in the sandbox may be ahead; without one, wall time. What a platform
   * is shown and what decides about its resources goes by its own clock.
   */
  nowMs(tenant?: Tenant): number;
}

/** RFC 3339 UTC with milliseconds and `Z`. */
export const timestamp = (ms: number): string => new Date(ms).toISOString();

/** When an event was stored, by wall time; its `at` is by the clock of its platform. */
export const recordedAt = ({ at, meta }: Pick<RecordedEvent, 'at' | 'meta'>): string =>
  meta.aheadMs ? timestamp(Date.parse(at) - meta.aheadMs) : at;
