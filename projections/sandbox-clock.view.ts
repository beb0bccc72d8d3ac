import { type Static, Type } from 'typebox';
import type { PlatformState } from '../libs/domain/platforms/platform.ts';
import { timestamp } from '../libs/kernel/clock.ts';

export const SandboxClock = Type.Object(
  {
    now: Type.String({ format: 'date-time', description: "The platform's present time in the sandbox." }),
    aheadSeconds: Type.Number({ minimum: 0, description: 'How far that is ahead of real time.' }),
  },
  { $id: 'SandboxClock' },
);

/** A platform's sandbox clock at a moment of wall time, in milliseconds since the epoch. */
export function sandboxClockView(
  { clockAheadMs = 0 }: Pick<PlatformState, 'clockAheadMs'>,
  wallMs: number,
): Static<typeof SandboxClock> {
  return { now: timestamp(wallMs + clockAheadMs), aheadSeconds: clockAheadMs / 1_000 };
}
