import type { SweepState } from '../../libs/domain/sweeps/sweep.ts';
import { webhookEventType } from '../../libs/domain/webhooks/event-types.ts';
import { publicId } from '../../libs/kernel/ids.ts';
import { streamIdOf } from '../../libs/kernel/messages.ts';
import type { Announcer, StateRow } from '../../libs/kernel/projection.ts';
import { sweepFailureView } from '../sweep.view.ts';
import { sweeps } from '../sweeps.ts';

/** A sweep that failed, when the money is on the canonical account. Its transactions are announced like any others. */
export const sweepAnnouncer: Announcer = {
  handles: ['SweepFellBack'],
  announce(event, read) {
    const row = read(sweeps, streamIdOf(event.stream)) as StateRow<SweepState> | undefined;
    if (!row) return [];
    return [
      {
        type: webhookEventType('INTERNAL_ACCOUNT.SWEEP_FAILED').type,
        resource: publicId('Sweep', row.id),
        sequence: event.revision + 1,
        data: sweepFailureView(row.state),
      },
    ];
  },
};
