import type { Decider } from '../../kernel/decider.ts';
import { type Rejection, reject } from '../../kernel/errors.ts';
import type { Stamped } from '../../kernel/messages.ts';
import { transitions } from '../../kernel/transitions.ts';
import { noTerms, type RailAnswer, type Refund } from '../payments/payment.events.ts';
import {
  type ApprovalAnswer,
  ApprovePayment,
  CompleteDeposit,
  EraseSender,
  FailDeposit,
  type IncomingPaymentCommand,
  ReceivePayment,
  RecordApproval,
  RecordCollection,
  RecordDeposit,
  RecordGivingBack,
  RejectPayment,
  WakeIncoming,
} from './incoming-payment.commands.ts';
import type { IncomingFailureReason, IncomingPaymentEvent, PersonInfo } from './incoming-payment.events.ts';
import { collected, givenBack, paidOut, returned, setAside } from './incoming-payment.legs.ts';
import type { IncomingPaymentState, IncomingPhase } from './incoming-payment.state.ts';

const notPending = reject('TRANSACTION_NOT_PENDING_PLATFORM_APPROVAL');
const decided = [
  'COLLECTING',
  'AWAITING_MONEY',
  'DEPOSITING',
  'AWAITING_DEPOSIT',
  'DEPOSITED',
  'CHECKING_DEPOSIT',
  'GIVING_BACK',
  'DONE',
] as const;

/**
 * The life of a payment to a UMA address: announced, approved by the platform, collected, deposited; or given back. Of several rows for
 * one cell the first holds unless what the comment of a later one says is the case.
 */
export const incomingPaymentTransitions = transitions<IncomingPhase, IncomingPaymentCommand['type']>(
  [
    ['NONE', 'ReceivePayment', 'ASKING', 'IncomingPaymentAnnounced'],
    // From a customer of the same platform.
    ['NONE', 'ReceivePayment', 'ASKING', 'IncomingPaymentAnnounced, SenderTold'],
    ...(['ASKING', 'DECIDING', ...decided] as const).map(
      (phase) => [phase, 'ReceivePayment', phase, 'nothing'] as const,
    ),
    ['ASKING', 'RecordApproval', 'COLLECTING', 'IncomingPaymentApproved'],
    // It only acknowledged; it refused; there was no answer, or none that could be used.
    ['ASKING', 'RecordApproval', 'DECIDING', 'ApprovalAwaited'],
    ['ASKING', 'RecordApproval', 'DONE', 'IncomingPaymentRejected'],
    ['ASKING', 'RecordApproval', 'DONE', 'IncomingPaymentFailed'],
    ...(['DECIDING', ...decided] as const).map((phase) => [phase, 'RecordApproval', phase, 'nothing'] as const),
    [['ASKING', 'DECIDING'], 'ApprovePayment', 'COLLECTING', 'IncomingPaymentApproved'],
    [['ASKING', 'DECIDING'], 'RejectPayment', 'DONE', 'IncomingPaymentRejected'],
    [decided, 'ApprovePayment', notPending],
    [decided, 'RejectPayment', notPending],
    // In time it said nothing more.
    ['DECIDING', 'WakeIncoming', 'DONE', 'IncomingPaymentFailed'],
    ['COLLECTING', 'RecordCollection', 'DEPOSITING', 'IncomingPaymentCollected'],
    // It is under way; it does not come.
    ['COLLECTING', 'RecordCollection', 'AWAITING_MONEY', 'CollectionPending'],
    ['COLLECTING', 'RecordCollection', 'DONE', 'IncomingPaymentFailed'],
    ['AWAITING_MONEY', 'WakeIncoming', 'COLLECTING', 'IncomingPaymentWoken'],
    ['DEPOSITING', 'CompleteDeposit', 'DONE', 'IncomingPaymentCompleted'],
    ['DEPOSITING', 'FailDeposit', 'GIVING_BACK', 'IncomingPaymentFailed'],
    ['DEPOSITING', 'RecordDeposit', 'DONE', 'DepositPaidOut, IncomingPaymentCompleted'],
    // A return may still come; the rail has not decided yet; it refused.
    ['DEPOSITING', 'RecordDeposit', 'DEPOSITED', 'DepositPaidOut, IncomingPaymentCompleted'],
    ['DEPOSITING', 'RecordDeposit', 'AWAITING_DEPOSIT', 'DepositPending'],
    ['DEPOSITING', 'RecordDeposit', 'GIVING_BACK', 'IncomingPaymentFailed'],
    ['AWAITING_DEPOSIT', 'WakeIncoming', 'DEPOSITING', 'IncomingPaymentWoken'],
    ['DEPOSITED', 'WakeIncoming', 'CHECKING_DEPOSIT', 'IncomingPaymentWoken'],
    ['CHECKING_DEPOSIT', 'RecordDeposit', 'DONE', 'DepositReturnExcluded'],
    // It came back; nobody can say yet.
    ['CHECKING_DEPOSIT', 'RecordDeposit', 'GIVING_BACK', 'IncomingPaymentFailed'],
    ['CHECKING_DEPOSIT', 'RecordDeposit', 'DEPOSITED', 'DepositPending'],
    ['GIVING_BACK', 'RecordGivingBack', 'DONE', 'IncomingRefundAccepted, IncomingRefundCompleted'],
    // The sender cannot be reached.
    ['GIVING_BACK', 'RecordGivingBack', 'DONE', 'IncomingRefundFailed'],
    ...(['ASKING', 'DECIDING', ...decided] as const).map(
      (phase) => [phase, 'EraseSender', phase, 'SenderErased'] as const,
    ),
    [['NONE'], 'ApprovePayment', reject('TRANSACTION_NOT_FOUND')],
    [['NONE'], 'RejectPayment', reject('TRANSACTION_NOT_FOUND')],
  ],
  reject('CONFLICT', { reason: 'PAYMENT_MOVED_ON' }),
);

function decide(
  state: IncomingPaymentState,
  { type, data }: IncomingPaymentCommand,
): IncomingPaymentEvent[] | Rejection {
  const refusal = incomingPaymentTransitions.guard(state.phase, type);
  if (refusal) return refusal;
  const { paymentId } = data;
  switch (type) {
    case 'ReceivePayment': {
      if (state.phase !== 'NONE') return [];
      return announced(data);
    }
    case 'RecordApproval':
      return state.phase === 'ASKING' ? answered(state, data.answer) : [];
    case 'ApprovePayment': {
      const missing = missingFields(state, data.receiverCustomerInfo);
      if (missing.length > 0) return reject('MISSING_MANDATORY_USER_INFO', { fields: missing });
      return [approved(state, data.receiverCustomerInfo)];
    }
    case 'RejectPayment':
      return [rejected(state, data.reason)];
    case 'RecordCollection':
      return moneyAnswered(state, data.answer);
    case 'CompleteDeposit':
      return [{ type: 'IncomingPaymentCompleted', data: { paymentId } }];
    case 'FailDeposit':
      return [failed(paymentId, 'OFFRAMP_FAILED', true)];
    case 'RecordDeposit':
      return depositAnswered(state, data.answer);
    case 'RecordGivingBack':
      return data.isAccepted
        ? [
            { type: 'IncomingRefundAccepted', data: { paymentId } },
            { type: 'IncomingRefundCompleted', data: { paymentId, entries: givenBack(state) } },
          ]
        : [{ type: 'IncomingRefundFailed', data: { paymentId, entries: setAside(state) } }];
    case 'EraseSender':
      return state.isSenderErased ? [] : [{ type: 'SenderErased', data }];
    case 'WakeIncoming':
      if (data.now < state.waitUntil!) return [];
      return state.phase === 'DECIDING'
        ? [failed(paymentId, 'PAYMENT_APPROVAL_TIMED_OUT', false)]
        : [{ type: 'IncomingPaymentWoken', data: { paymentId } }];
  }
}

/** What is known of a sender with a key of its own is said under that. */
function announced(data: ReceivePayment['data']): IncomingPaymentEvent[] {
  const { paymentId, senderCustomerId: subject } = data;
  const first = { ...data, type: 'INCOMING' as const, subject: data.customerId };
  if (subject === undefined) return [{ type: 'IncomingPaymentAnnounced', data: first }];
  const { senderUmaAddress, senderCustomerInfo, ...others } = first;
  const known = {
    ...(senderUmaAddress !== undefined && { senderUmaAddress }),
    ...(senderCustomerInfo && { senderCustomerInfo }),
  };
  return [
    { type: 'IncomingPaymentAnnounced', data: others },
    { type: 'SenderTold', data: { paymentId, subject, ...known } },
  ];
}

/** Mandatory facts that the sender's side asked for and that are not told. */
export const missingFields = (
  { requestedFields }: Pick<IncomingPaymentState, 'requestedFields'>,
  info: PersonInfo = {},
): string[] =>
  requestedFields.filter(({ name, mandatory }) => mandatory && (info[name] ?? '') === '').map(({ name }) => name);

const approved = (
  { paymentId, subject }: IncomingPaymentState,
  receiverCustomerInfo?: PersonInfo,
): IncomingPaymentEvent => ({
  type: 'IncomingPaymentApproved',
  data: { paymentId, subject, ...(receiverCustomerInfo && { receiverCustomerInfo }) },
});

const rejected = ({ paymentId, subject }: IncomingPaymentState, reason?: string): IncomingPaymentEvent => ({
  type: 'IncomingPaymentRejected',
  data: { paymentId, subject, ...(reason !== undefined && { reason }) },
});

const failed = (
  paymentId: string,
  failureReason: IncomingFailureReason,
  isRefunded: boolean,
): Extract<IncomingPaymentEvent, { type: 'IncomingPaymentFailed' }> => ({
  type: 'IncomingPaymentFailed',
  data: { paymentId, failureReason, isRefunded },
});

function answered(state: IncomingPaymentState, answer: ApprovalAnswer): IncomingPaymentEvent[] {
  const { paymentId } = state;
  switch (answer.outcome) {
    case 'APPROVED': {
      if (missingFields(state, answer.receiverCustomerInfo).length === 0)
        return [approved(state, answer.receiverCustomerInfo)];
      return [failed(paymentId, 'MISSING_MANDATORY_PAYEE_DATA', false)];
    }
    case 'ACKNOWLEDGED':
      return [{ type: 'ApprovalAwaited', data: { paymentId, until: answer.until } }];
    case 'REJECTED':
      return [rejected(state, answer.reason)];
    case 'INSUFFICIENT': {
      const { type, data } = failed(paymentId, 'MISSING_MANDATORY_PAYEE_DATA', false);
      return [{ type, data: { ...data, requiredFields: answer.requiredFields } }];
    }
    case 'TIMED_OUT':
      return [failed(paymentId, 'PAYMENT_APPROVAL_TIMED_OUT', false)];
    case 'ERROR':
      return [failed(paymentId, 'PAYMENT_APPROVAL_WEBHOOK_ERROR', false)];
  }
}

function moneyAnswered(
  state: IncomingPaymentState,
  answer: RecordCollection['data']['answer'],
): IncomingPaymentEvent[] {
  const { paymentId } = state;
  switch (answer.outcome) {
    case 'PENDING':
      return [{ type: 'CollectionPending', data: { paymentId, checkAt: answer.checkAt } }];
    case 'SETTLED':
      return [{ type: 'IncomingPaymentCollected', data: { paymentId, entries: collected(state) } }];
    case 'REJECTED':
      return [failed(paymentId, answer.failureReason, false)];
  }
}

function depositAnswered(state: IncomingPaymentState, answer: RailAnswer): IncomingPaymentEvent[] {
  const { paymentId } = state;
  const isPaidOut = state.phase === 'CHECKING_DEPOSIT';
  switch (answer.outcome) {
    case 'PENDING':
      return [depositPending(paymentId, answer.checkAt)];
    case 'SETTLED': {
      const { watchUntil } = answer;
      if (isPaidOut && watchUntil !== undefined) return [depositPending(paymentId, watchUntil)];
      if (isPaidOut) return [{ type: 'DepositReturnExcluded', data: { paymentId } }];
      const watch = watchUntil !== undefined && { watchUntil };
      return [
        { type: 'DepositPaidOut', data: { paymentId, entries: paidOut(state), ...watch } },
        { type: 'IncomingPaymentCompleted', data: { paymentId } },
      ];
    }
    default: {
      const { type, data } = failed(paymentId, 'OFFRAMP_FAILED', true);
      return [{ type, data: { ...data, ...(isPaidOut && { entries: returned(state) }) } }];
    }
  }
}

const depositPending = (paymentId: string, checkAt: string): IncomingPaymentEvent => ({
  type: 'DepositPending',
  data: { paymentId, checkAt },
});

function evolve(state: IncomingPaymentState, event: IncomingPaymentEvent & Stamped): IncomingPaymentState {
  const { at } = event;
  const next = { ...state, updatedAt: at };
  switch (event.type) {
    case 'IncomingPaymentAnnounced':
      return { ...next, ...event.data, phase: 'ASKING', createdAt: at };
    case 'SenderTold': {
      const { subject: _, ...facts } = event.data;
      return { ...next, ...facts };
    }
    case 'SenderErased': {
      const { senderUmaAddress: _, senderCustomerInfo: __, ...rest } = state;
      return { ...rest, isSenderErased: true };
    }
    case 'ApprovalAwaited':
      return { ...next, phase: 'DECIDING', waitUntil: event.data.until };
    case 'IncomingPaymentApproved': {
      const { receiverCustomerInfo } = event.data;
      const told = receiverCustomerInfo && { receiverCustomerInfo };
      return { ...woken(next), ...told, phase: 'COLLECTING', status: 'PROCESSING', approvedAt: at };
    }
    case 'IncomingPaymentRejected': {
      const { reason } = event.data;
      const rejectionReason = reason !== undefined && { rejectionReason: reason };
      return { ...woken(next), ...rejectionReason, phase: 'DONE', status: 'REJECTED' };
    }
    case 'CollectionPending':
      return { ...next, phase: 'AWAITING_MONEY', waitUntil: event.data.checkAt };
    case 'IncomingPaymentCollected':
      return { ...next, phase: 'DEPOSITING' };
    case 'DepositPending':
      return { ...next, phase: pendingPhase(state), waitUntil: event.data.checkAt };
    case 'DepositPaidOut':
      return event.data.watchUntil === undefined ? next : { ...next, waitUntil: event.data.watchUntil };
    case 'IncomingPaymentWoken':
      return { ...woken(next), phase: wokenPhase[state.phase] ?? state.phase };
    case 'IncomingPaymentCompleted':
      return { ...next, phase: state.waitUntil ? 'DEPOSITED' : 'DONE', status: 'COMPLETED', settledAt: at };
    case 'DepositReturnExcluded':
      return { ...next, phase: 'DONE' };
    case 'IncomingPaymentFailed': {
      const { failureReason, isRefunded } = event.data;
      const failure = { ...woken(next), status: 'FAILED' as const, failureReason };
      return isRefunded
        ? { ...failure, phase: 'GIVING_BACK', refund: refundOf(state, at) }
        : { ...failure, phase: 'DONE' };
    }
    case 'IncomingRefundAccepted':
      return next;
    case 'IncomingRefundCompleted':
      return { ...next, phase: 'DONE', refund: { ...state.refund!, status: 'COMPLETED', settledAt: at } };
    case 'IncomingRefundFailed':
      return { ...next, phase: 'DONE', refund: { ...state.refund!, status: 'FAILED', settledAt: at } };
  }
}

const pendingPhase = ({ phase }: IncomingPaymentState): IncomingPhase =>
  phase === 'CHECKING_DEPOSIT' ? 'DEPOSITED' : 'AWAITING_DEPOSIT';

const wokenPhase: Partial<Record<IncomingPhase, IncomingPhase>> = {
  AWAITING_MONEY: 'COLLECTING',
  AWAITING_DEPOSIT: 'DEPOSITING',
  DEPOSITED: 'CHECKING_DEPOSIT',
};

const refundOf = ({ reference }: IncomingPaymentState, at: string): Refund => ({
  reference: `${reference}-REFUND`,
  initiatedAt: at,
  status: 'PENDING',
  reason: 'TRANSACTION_FAILED',
});

function woken(state: IncomingPaymentState): IncomingPaymentState {
  const { waitUntil: _, ...rest } = state;
  return rest;
}

/** A payment to a customer's UMA address: transaction and process in one stream (architecture §9). */
export const incomingPayment: Decider<IncomingPaymentState, IncomingPaymentCommand, IncomingPaymentEvent> = {
  name: 'incomingPayment',
  id: 'paymentId',
  commands: [
    ReceivePayment,
    RecordApproval,
    ApprovePayment,
    RejectPayment,
    RecordCollection,
    RecordDeposit,
    CompleteDeposit,
    FailDeposit,
    RecordGivingBack,
    WakeIncoming,
    EraseSender,
  ],
  initial: {
    phase: 'NONE',
    status: 'PENDING',
    paymentId: '',
    tenantId: '',
    type: 'INCOMING',
    customerId: '',
    platformCustomerId: '',
    source: { kind: 'UMA', accountId: '', currency: '' },
    destination: { kind: 'INTERNAL', accountId: '', currency: '' },
    terms: noTerms,
    reference: '',
    requestedFields: [],
    origin: { kind: 'UMA', agreement: '' },
    subject: '',
    createdAt: '',
    updatedAt: '',
  },
  decide,
  evolve,
  version: 2,
  asides: ['SenderErased'],
  personal: {
    IncomingPaymentAnnounced: {
      subject: 'subject',
      fields: ['senderUmaAddress', 'receiverUmaAddress', 'senderCustomerInfo'],
    },
    SenderTold: { subject: 'subject', fields: ['senderUmaAddress', 'senderCustomerInfo'] },
    IncomingPaymentApproved: { subject: 'subject', fields: ['receiverCustomerInfo'] },
    IncomingPaymentRejected: { subject: 'subject', fields: ['reason'] },
  },
};
