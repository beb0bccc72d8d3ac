import type { ErrorCode, Rejection } from '../../kernel/errors.ts';
import type { Command } from '../../kernel/messages.ts';
import type { Process, Refused, Step } from '../../kernel/process.ts';
import type { PaymentRail } from '../../kernel/rails.ts';
import { CreditAccount, DebitAccount, PendFunds, PostFunds, VoidFunds } from '../accounts/account.ts';
import type { RailAnswer } from './payment.events.ts';
import { destinationLeg, platformFeeLeg, refundLeg, reservationLeg, sourceLeg, suspenseLeg } from './payment.legs.ts';
import {
  CompletePayment,
  ExpirePayment,
  FailDelivery,
  type PaymentState,
  payment,
  RecordRailAnswer,
  RecordRefundAnswer,
  RefuseExecution,
  ReversePlatformFee,
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
}

export interface RefundRequest {
  reference: string;
  tenantId: string;
  externalAccountId?: string;
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
    case 'SETTLING':
      return state.source.kind === 'EXTERNAL'
        ? delivering(state, [])
        : {
            sends: [new PostFunds(sourceLeg(state)), ...creditsOfFee(state)],
            after: unrefusable(new CompletePayment({ paymentId })),
          };
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
      return { sends: returning(state), after: unrefusable(new SettleRefund({ paymentId })) };
    case 'SETTING_ASIDE':
      return { sends: settingAside(state), after: unrefusable(new SettleRefund({ paymentId })) };
    default:
      return undefined;
  }
}

function executing(state: PaymentState): Step {
  const { paymentId, source, destination } = state;
  if (source.kind === 'EXTERNAL') return { sends: [], after: () => new StartPayment({ paymentId }) };
  if (destination.kind === 'INTERNAL') return delivering(state, [new DebitAccount(sourceLeg(state))]);
  return {
    sends: [new PendFunds(reservationLeg(state))],
    after: (refused?: Refused) => (refused ? refusal(paymentId, refused.rejection) : new StartPayment({ paymentId })),
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
  if (state.source.kind === 'EXTERNAL') return [];
  return [state.isSettled ? new CreditAccount(refundLeg(state)) : new VoidFunds(reservationLeg(state))];
}

/** A reservation goes to suspense; settled money that cannot return is where its rail left it. */
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

function railRequest(state: PaymentState): RailRequest {
  const isPull = state.source.kind === 'EXTERNAL';
  const { terms, destination, source } = state;
  return {
    reference: state.paymentId,
    tenantId: state.tenantId,
    direction: isPull ? 'COLLECTION' : 'PAYOUT',
    externalAccountId: isPull ? source.accountId : destination.accountId,
    ...(destination.paymentRail !== undefined && { paymentRail: destination.paymentRail }),
    currency: isPull ? terms.sendingCurrency : terms.receivingCurrency,
    amountMinor: isPull ? terms.sendingMinor : terms.receivingMinor,
    orderedAt: state.startedAt!,
    isSettled: state.phase === 'CHECKING_RETURN',
  };
}

function refundRequest({ paymentId, tenantId, destination }: PaymentState): RefundRequest {
  return {
    reference: paymentId,
    tenantId,
    ...(destination.kind === 'EXTERNAL' && { externalAccountId: destination.accountId }),
  };
}

/** Brings a payment to its end, whatever happens on the way. */
export const completePayment: Process<PaymentState> = {
  name: 'completePayment',
  decider: payment,
  startsOn: ['ExecutionRequested', 'PaymentStarted', 'PaymentWoken'],
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
