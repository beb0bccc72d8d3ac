import { MAX_CLOCK_AHEAD_SECONDS } from '../../../../libs/domain/platforms/platform.ts';
import { Integer, Timestamp } from '../../../../libs/runtime/http/index.ts';

export class SandboxClockAdvanceBody {
  @Integer({
    optional: true,
    min: 1,
    max: MAX_CLOCK_AHEAD_SECONDS,
    description: 'By how much; either this or `to`.',
    example: 360,
  })
  seconds?: number;

  @Timestamp({ optional: true, description: 'To what time, not before the present sandbox time.' })
  to?: string;
}
