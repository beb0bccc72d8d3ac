import type { Process, Refused, Step } from '../../kernel/process.ts';
import { CreditAccount } from '../accounts/account.ts';
import type { RailAnswer } from '../payments/payment.events.ts';
import type { RailRequest } from '../payments/payment.process.ts';
import {
  type ApprovalAnswer,
  type CollectionAnswer,
  CompleteDeposit,
  FailDeposit,
  RecordApproval,
  RecordCollection,
  RecordDeposit,
  RecordGivingBack,
  WakeIncoming,
} from './incoming-payment.commands.ts';
import { depositLeg } from './incoming-payment.legs.ts';
import type { IncomingPaymentState, IncomingPhase } from './incoming-payment.state.ts';
import { incomingPayment } from './incoming-payment.ts';

/** The platform is asked by its webhook whether it takes the payment. */
export interface ApprovalRequest {
  paymentId: string;
  tenantId: string;
}

/** The provider of UMA is asked for the sender's money, or to send it back. */
export interface CollectionRequest {
  reference: string;
  tenantId: string;
  agreement: string;
  currency: string;
  amountMinor: bigint;
  orderedAt: string;
}

function next(state: IncomingPaymentState): Step | undefined {
  const { paymentId, tenantId, origin } = state;
  const collection = origin.kind === 'UMA' ? collectionRequest(state, origin.agreement) : undefined;
  switch (state.phase) {
    case 'ASKING':
      return {
        call: 'approval',
        request: { paymentId, tenantId } satisfies ApprovalRequest,
        after: (answer: ApprovalAnswer) => new RecordApproval({ paymentId, answer }),
      };
    case 'COLLECTING': {
      const after = (answer: CollectionAnswer) => new RecordCollection({ paymentId, answer });
      // Another platform of this deployment has reserved it for this payment, and pays when it is told that it arrived.
      return collection ? { call: 'collect', request: collection, after } : { sends: [], after: () => after(SETTLED) };
    }
    case 'DEPOSITING':
      return depositing(state);
    case 'CHECKING_DEPOSIT':
      return payout(state);
    case 'GIVING_BACK': {
      const after = (isAccepted: boolean) => new RecordGivingBack({ paymentId, isAccepted });
      return collection ? { call: 'giveBack', request: collection, after } : { sends: [], after: () => after(true) };
    }
    default:
      return undefined;
  }
}

const SETTLED: CollectionAnswer = { outcome: 'SETTLED' };

function depositing(state: IncomingPaymentState): Step {
  const { paymentId, destination } = state;
  if (destination.kind === 'EXTERNAL') return payout(state);
  return {
    sends: [new CreditAccount(depositLeg(state))],
    after: (refused?: Refused) => (refused ? new FailDeposit({ paymentId }) : new CompleteDeposit({ paymentId })),
  };
}

function payout(state: IncomingPaymentState): Step {
  const { paymentId, tenantId, destination, terms } = state;
  const request: RailRequest = {
    reference: paymentId,
    tenantId,
    direction: 'PAYOUT',
    externalAccountId: destination.accountId,
    ...(destination.paymentRail !== undefined && { paymentRail: destination.paymentRail }),
    currency: terms.receivingCurrency,
    amountMinor: terms.receivingMinor,
    orderedAt: state.approvedAt!,
    isSettled: state.phase === 'CHECKING_DEPOSIT',
  };
  return { call: 'rail', request, after: (answer: RailAnswer) => new RecordDeposit({ paymentId, answer }) };
}

function collectionRequest(state: IncomingPaymentState, agreement: string): CollectionRequest {
  const { paymentId: reference, tenantId, terms, approvedAt } = state;
  const { receivingCurrency: currency, receivingMinor: amountMinor } = terms;
  return { reference, tenantId, agreement, currency, amountMinor, orderedAt: approvedAt! };
}

const waiting: readonly IncomingPhase[] = ['DECIDING', 'AWAITING_MONEY', 'AWAITING_DEPOSIT', 'DEPOSITED'];

/** Brings an incoming payment to its end, whatever happens on the way. */
export const receiveUmaPayment: Process<IncomingPaymentState> = {
  name: 'receiveUmaPayment',
  decider: incomingPayment,
  startsOn: ['IncomingPaymentAnnounced', 'IncomingPaymentApproved', 'IncomingPaymentWoken'],
  next,
  dueAt: ({ phase, waitUntil }) => (waiting.includes(phase) ? waitUntil : undefined),
  wake: ({ phase, paymentId }, now) => (waiting.includes(phase) ? new WakeIncoming({ paymentId, now }) : undefined),
};
