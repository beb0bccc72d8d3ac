import { type PlatformState, platform, tenantIdOf, tenantOf } from '../../libs/domain/platforms/platform.ts';
import type { Clock } from '../../libs/kernel/clock.ts';
import { categoryOf, streamIdOf } from '../../libs/kernel/messages.ts';
import type { WritePath } from '../../libs/runtime/execute.ts';
import { PlatformClock } from '../../libs/runtime/platform-clock.ts';

/** The clocks of all platforms, as the platforms' streams tell them. */
export function platformClocks(wall: Clock, writePath: () => WritePath): PlatformClock {
  return new PlatformClock(wall, async (tenant) => {
    const { state } = await writePath().state<PlatformState>(platform, tenantIdOf(tenant));
    return state.clockAheadMs ?? 0;
  });
}

/** Takes note of a clock that may have been moved, here or by another process. */
export async function noteClock(clock: PlatformClock, stream: string): Promise<void> {
  if (categoryOf(stream) !== platform.name) return;
  const tenant = tenantOf(streamIdOf(stream));
  if (clock.isKnown(tenant)) await clock.refresh(tenant);
}
