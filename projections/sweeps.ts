import { sweepEventTypes } from '../libs/domain/sweeps/sweep.events.ts';
import { sweep } from '../libs/domain/sweeps/sweep.ts';
import { stateProjection } from '../libs/kernel/projection.ts';

/** What arrived on rule-based accounts, and how its sweep stands: for the sweeps' timers and webhooks. */
export const sweeps = stateProjection(sweep, {
  table: 'sweeps',
  handles: sweepEventTypes,
  columns: { account: 'text', phase: 'text', reason: 'text' },
  filters: (state) => ({ account: state.accountId, phase: state.phase, reason: state.reason }),
  indexes: ['(account)'],
});
