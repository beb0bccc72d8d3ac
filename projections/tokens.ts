import { tokenEventTypes } from '../libs/domain/tokens/token.events.ts';
import { token } from '../libs/domain/tokens/token.ts';
import { stateProjection } from '../libs/kernel/projection.ts';

/** API tokens, for the list; authentication reads the stream itself. */
export const tokens = stateProjection(token, {
  table: 'tokens',
  handles: tokenEventTypes,
  version: 2,
  columns: { name: 'text', status: 'text' },
  filters: (state) => ({ name: state.name, status: state.status }),
  omit: ['secretHash'],
});
