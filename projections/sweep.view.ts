import { type Static, Type } from 'typebox';
import { sweepFailureReasons } from '../libs/domain/sweeps/sweep.events.ts';
import type { SweepState } from '../libs/domain/sweeps/sweep.ts';
import { publicId } from '../libs/kernel/ids.ts';
import { currencyAmount } from '../libs/kernel/money.ts';
import { CurrencyAmount } from './currency.view.ts';

export const SweepFailure = Type.Object(
  {
    sourceAccountId: Type.String({ description: 'The rule-based account.' }),
    destinationAccountId: Type.String({ description: 'Where its rule sends the money.' }),
    amount: CurrencyAmount,
    incomingTransactionId: Type.String({ description: 'The transaction that brought the money.' }),
    sendTransactionId: Type.Union([Type.String(), Type.Null()], {
      description: 'The transaction that was to bring it to the destination; null when there was none.',
    }),
    reason: Type.Enum([...sweepFailureReasons], { $id: 'SweepFailureReason', type: 'string' }),
    canonicalAccountId: Type.String({ description: "The holder's ordinary account, which has the money now." }),
  },
  { $id: 'SweepFailure' },
);

/** What a webhook says of a sweep that failed, once the money is on the canonical account (facts §4). */
export const sweepFailureView = (state: SweepState): Static<typeof SweepFailure> => ({
  sourceAccountId: publicId('InternalAccount', state.accountId),
  destinationAccountId: publicId(
    state.destination.kind === 'INTERNAL' ? 'InternalAccount' : 'ExternalAccount',
    state.destination.accountId,
  ),
  amount: currencyAmount(state.amountMinor, state.currency),
  incomingTransactionId: publicId('Transaction', state.incomingPaymentId),
  sendTransactionId: state.sendPaymentId === undefined ? null : publicId('Transaction', state.sendPaymentId),
  reason: state.reason!,
  canonicalAccountId: publicId('InternalAccount', state.canonicalAccountId),
});
