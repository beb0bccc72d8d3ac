import type { Clock } from '../../libs/kernel/clock.ts';
import { reject } from '../../libs/kernel/errors.ts';
import type { RailsOf } from '../../libs/providers/rails.port.ts';
import { sandboxRails } from '../../libs/providers/rails.sandbox.ts';

/** The sandbox's rails; for production a deployment supplies its own (decision 14). */
export function railsOf(clock: Clock, timeScale: number): RailsOf {
  const sandbox = sandboxRails(clock, timeScale);
  return (environment) =>
    environment === 'sandbox'
      ? sandbox
      : reject('NOT_IMPLEMENTED', { provider: 'rails' }, 'No provider of payment rails is configured.');
}
