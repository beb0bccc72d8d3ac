import type { Clock } from '../../libs/kernel/clock.ts';
import { reject } from '../../libs/kernel/errors.ts';
import type { UmaOf } from '../../libs/providers/uma.port.ts';
import { sandboxUma } from '../../libs/providers/uma.sandbox.ts';

/** The sandbox's world of UMA; for production a deployment supplies its own (decision 14). */
export function umaOf(clock: Clock, timeScale: number): UmaOf {
  const sandbox = sandboxUma(clock, timeScale);
  return (environment) =>
    environment === 'sandbox'
      ? sandbox
      : reject('NOT_IMPLEMENTED', { provider: 'uma' }, 'No provider of UMA is configured.');
}
