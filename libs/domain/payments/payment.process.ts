import type { ErrorCode, Rejection } from '../../kernel/errors.ts';
import type { Command } from '../../kernel/messages.ts';
import type { Process, Refused, Step } from '../../kernel/process.ts';
import type { PaymentRail } from '../../kernel/rails.ts';
import { CreditAccount, DebitAccount, PendFunds, PostFunds, VoidFunds } from '../accounts/account.ts';
import type { RailAnswer, UmaRoute } from './payment.events.ts';
import {
  destinationLeg,
  platformFeeLeg,
  refundLeg,
  reservationLeg,
  returnLeg,
  sourceLeg,
  suspenseLeg,
} from './payment.legs.ts';
import {
  CompletePayment,
  ExpirePayment,
  FailDelivery,
  isBroughtIn,
  isPull,
  type PaymentState,
  payment,
  RecordCancelAnswer,
  RecordRailAnswer,
  RecordRefundAnswer,
  RefuseExecution,
  ReversePlatformFee,
  SetRefundAside,
  SettleRefund,
  StartPayment,
  WakePayment,
} from './payment.ts';

/** What a rail is asked: to carry out the order, or, when it was carried out, whether it came back. `reference` is its idempotency key. */
export interface RailRequest {
  reference: string;
  tenantId: string;
  direction: 'PAYOUT' | 'COLLECTION';
  externalAccountId: string;
  paymentRail?: PaymentRail | null;
  currency: string;
  amountMinor: bigint;
  /** When the order was given first. */
  orderedAt: string;
  /** The order was settled before; asked whether it has been returned since. */
  isSettled: boolean;
  /** Made by a deprecated transfer (decision 24). */
  isTransfer?: true;
  /** To a UMA address instead of an external account. */
  uma?: UmaRoute;
}

/** Whether an order can still be stopped, as of the time at which that was asked for. */
export interface CancelRequest extends RailRequest {
  requestedAt: string;
}

export interface RefundRequest {
  reference: string;
  tenantId: string;
  /** Where the payout went that is to come back. */
  externalAccountId?: string;
  isTransfer?: true;
  uma?: UmaRoute;
}

/** What is done next for a payment. Sends are repeated after a crash with the same ids, so each happens once. */
function next(state: PaymentState): Step | undefined {
  const { paymentId } = state;
  switch (state.phase) {
    case 'EXECUTING':
      return executing(state);
    case 'SUBMITTING':
    case 'CHECKING_RETURN':
      return {
        call: 'rail',
        request: railRequest(state),
        after: (answer: RailAnswer) => new RecordRailAnswer({ paymentId, answer }),
      };
    case 'CANCELLING':
      return {
        call: 'cancelRail',
        request: cancelRequest(state),
        after: (isAccepted: boolean) => new RecordCancelAnswer({ paymentId, isAccepted }),
      };
    case 'SETTLING':
      return settling(state);
    case 'REFUNDING':
      return {
        call: 'refund',
        request: refundRequest(state),
        after: (isAccepted: boolean) => new RecordRefundAnswer({ paymentId, isAccepted }),
      };
    case 'RETURNING_FEE':
      return {
        sends: [new DebitAccount(platformFeeLeg(state)!)],
        after: (refused?: Refused) => new ReversePlatformFee({ paymentId, isCovered: refused !== undefined }),
      };
    case 'RETURNING':
      return {
        sends: returning(state),
        after: (refused?: Refused) => (refused ? new SetRefundAside({ paymentId }) : new SettleRefund({ paymentId })),
      };
    case 'SETTING_ASIDE':
      return { sends: settingAside(state), after: unrefusable(new SettleRefund({ paymentId })) };
    default:
      return undefined;
  }
}

function executing(state: PaymentState): Step {
  const { paymentId, source, destination } = state;
  if (source.kind !== 'INTERNAL') return { sends: [], after: () => new StartPayment({ paymentId }) };
  if (destination.kind === 'INTERNAL') return delivering(state, [new DebitAccount(sourceLeg(state))]);
  return {
    sends: [new PendFunds(reservationLeg(state))],
    after: (refused?: Refused) => (refused ? refusal(paymentId, refused.rejection) : new StartPayment({ paymentId })),
  };
}

/** The rail has done its part. What is in transit goes to an internal account; what was only reserved is posted. */
function settling(state: PaymentState): Step {
  if (state.destination.kind === 'INTERNAL') return delivering(state, []);
  const posts = state.source.kind === 'INTERNAL' ? [new PostFunds(sourceLeg(state))] : [];
  return {
    sends: [...posts, ...creditsOfFee(state)],
    after: unrefusable(new CompletePayment({ paymentId: state.paymentId })),
  };
}

/** The money goes to an internal destination, after `before` has brought it into transit. */
function delivering(state: PaymentState, before: readonly Command[]): Step {
  const { paymentId } = state;
  const fee = creditsOfFee(state);
  return {
    sends: [...before, ...fee, new CreditAccount(destinationLeg(state))],
    after(refused?: Refused) {
      if (!refused) return new CompletePayment({ paymentId });
      if (refused.at < before.length) return refusal(paymentId, refused.rejection);
      return new FailDelivery({ paymentId, isFeeCredited: fee.length > 0 && refused.at > before.length });
    },
  };
}

function creditsOfFee(state: PaymentState): Command[] {
  const leg = platformFeeLeg(state);
  return leg ? [new CreditAccount(leg)] : [];
}

function returning(state: PaymentState): Command[] {
  if (state.source.kind !== 'INTERNAL') {
    const account = state.funding?.refundAccountId;
    return account === undefined ? [] : [new CreditAccount(returnLeg(state, account))];
  }
  return [state.isSettled ? new CreditAccount(refundLeg(state)) : new VoidFunds(reservationLeg(state))];
}

/** A reservation goes to suspense by the account's own event; what is in transit, or comes back into it, by the payment's. */
const settingAside = (state: PaymentState): Command[] =>
  state.source.kind === 'INTERNAL' && !state.isSettled ? [new PostFunds(suspenseLeg(state))] : [];

function refusal(paymentId: string, { code, details }: Rejection): Command {
  const reason = details?.reason;
  return new RefuseExecution({ paymentId, code: code as ErrorCode, ...(typeof reason === 'string' && { reason }) });
}

/** For sends that the ledger cannot refuse: a refusal is a fault that must stop the process and be seen. */
const unrefusable = (done: Command) => (refused?: Refused) => {
  if (refused) throw new Error(`a step that cannot be refused was refused: ${refused.rejection.code}`);
  return done;
};

/** The order that is under way: to collect first where the source is pulled from, then to pay out. */
function railRequest(state: PaymentState): RailRequest {
  const isCollection = isPull(state) && !isBroughtIn(state);
  const { terms, destination, source, paymentId } = state;
  return {
    // A payment that is collected and paid out gives two orders.
    reference: isPull(state) && !isCollection ? `${paymentId}/payout` : paymentId,
    tenantId: state.tenantId,
    direction: isCollection ? 'COLLECTION' : 'PAYOUT',
    externalAccountId: isCollection ? source.accountId : destination.accountId,
    ...(destination.paymentRail !== undefined && { paymentRail: destination.paymentRail }),
    currency: isCollection ? terms.sendingCurrency : terms.receivingCurrency,
    amountMinor: isCollection ? terms.sendingMinor : terms.receivingMinor,
    orderedAt: state.orderedAt ?? state.startedAt!,
    isSettled: state.phase === 'CHECKING_RETURN',
    ...(state.isTransfer && { isTransfer: true }),
    ...(!isCollection && destination.uma && { uma: destination.uma }),
  };
}

const cancelRequest = (state: PaymentState): CancelRequest => ({
  ...railRequest(state),
  requestedAt: state.cancelRequestedAt!,
});

/** A payout that was never ordered has no part in the refund. */
function refundRequest({ paymentId, tenantId, destination, startedAt, isTransfer }: PaymentState): RefundRequest {
  const isOrdered = destination.kind === 'EXTERNAL' && startedAt !== undefined;
  return {
    reference: paymentId,
    tenantId,
    ...(isOrdered && { externalAccountId: destination.accountId }),
    ...(isTransfer && { isTransfer }),
    ...(destination.uma && startedAt !== undefined && { uma: destination.uma }),
  };
}

/** Brings a payment to its end, whatever happens on the way. */
export const completePayment: Process<PaymentState> = {
  name: 'completePayment',
  decider: payment,
  startsOn: ['ExecutionRequested', 'PaymentStarted', 'PaymentWoken', 'FundingReceived', 'CancellationRequested'],
  next,
  dueAt(state) {
    if (state.phase === 'OPEN') return state.expiresAt;
    return state.phase === 'WAITING' || state.phase === 'WATCHING' ? state.waitUntil : undefined;
  },
  wake(state, now) {
    const { paymentId } = state;
    if (state.phase === 'OPEN') return new ExpirePayment({ paymentId, now });
    return state.phase === 'WAITING' || state.phase === 'WATCHING' ? new WakePayment({ paymentId, now }) : undefined;
  },
};
