import { describe, expect, test } from '@jest/globals';
import { AT, given, testEveryCell } from '../../../test/transition-cells.ts';
import { CreditAccount } from '../accounts/account.ts';
import {
  ApprovePayment,
  CompleteDeposit,
  EraseSender,
  FailDeposit,
  ReceivePayment,
  RecordApproval,
  RecordCollection,
  RecordDeposit,
  RecordGivingBack,
  RejectPayment,
  WakeIncoming,
} from './incoming-payment.commands.ts';
import { fromElsewhere, fromHere, toBank } from './incoming-payment.examples.ts';
import { receiveUmaPayment } from './incoming-payment.process.ts';
import type { IncomingPaymentState, IncomingPhase } from './incoming-payment.state.ts';
import { incomingPayment, incomingPaymentTransitions } from './incoming-payment.ts';

const { paymentId } = fromElsewhere;
const LATER = '2025-10-13T12:00:05.000Z';
const fact = (type: string, more: object = {}) => ({ type, data: { paymentId, ...more } });
const announced = (data: object = fromElsewhere) => fact('IncomingPaymentAnnounced', { ...data, subject: 'bob' });
const approved = fact('IncomingPaymentApproved', { subject: 'bob' });
const inTransit = [{ from: 'rail:USD', to: 'transit:USD', currency: 'USD', amountMinor: 10_000n }];
const collected = fact('IncomingPaymentCollected', { entries: inTransit });
const stateOf = (data: object, ...events: { type: string; data: object }[]) =>
  given(incomingPayment, announced(data), ...events).state as IncomingPaymentState;

const asked = stateOf(fromElsewhere);
const refund = { reference: 'UMA-1-REFUND', initiatedAt: AT, status: 'PENDING', reason: 'TRANSACTION_FAILED' } as const;
const at = (phase: IncomingPhase, more: Partial<IncomingPaymentState> = {}) => ({ ...asked, phase, ...more });

const states: Record<IncomingPhase, IncomingPaymentState> = {
  NONE: incomingPayment.initial,
  ASKING: asked,
  DECIDING: at('DECIDING', { waitUntil: AT }),
  COLLECTING: at('COLLECTING'),
  AWAITING_MONEY: at('AWAITING_MONEY', { waitUntil: AT }),
  DEPOSITING: at('DEPOSITING'),
  AWAITING_DEPOSIT: at('AWAITING_DEPOSIT', { waitUntil: AT }),
  DEPOSITED: at('DEPOSITED', { waitUntil: AT }),
  CHECKING_DEPOSIT: at('CHECKING_DEPOSIT'),
  GIVING_BACK: at('GIVING_BACK', { refund }),
  DONE: at('DONE'),
};

describe('every cell of the transition table', () => {
  testEveryCell(incomingPayment, incomingPaymentTransitions, {
    given: (phase) => states[phase as IncomingPhase],
    when: {
      ReceivePayment: new ReceivePayment(fromElsewhere),
      RecordApproval: new RecordApproval({ paymentId, answer: { outcome: 'APPROVED' } }),
      ApprovePayment: new ApprovePayment({ paymentId }),
      RejectPayment: new RejectPayment({ paymentId }),
      RecordCollection: new RecordCollection({ paymentId, answer: { outcome: 'SETTLED' } }),
      RecordDeposit: new RecordDeposit({ paymentId, answer: { outcome: 'SETTLED' } }),
      CompleteDeposit: new CompleteDeposit({ paymentId }),
      FailDeposit: new FailDeposit({ paymentId }),
      RecordGivingBack: new RecordGivingBack({ paymentId, isAccepted: true }),
      WakeIncoming: new WakeIncoming({ paymentId, now: LATER }),
      EraseSender: new EraseSender({ paymentId }),
    },
    statusOf: ({ phase }) => phase,
  });
});

describe("the platform's answer", () => {
  const answers = (answer: RecordApproval['data']['answer'], requestedFields = fromElsewhere.requestedFields) =>
    given(incomingPayment, announced({ ...fromElsewhere, requestedFields })).when(
      new RecordApproval({ paymentId, answer }),
    );
  const failed = (failureReason: string) => fact('IncomingPaymentFailed', { failureReason, isRefunded: false });

  test('approves, with or without facts about the customer', () => {
    answers({ outcome: 'APPROVED' }).leadsTo(approved);
    const receiverCustomerInfo = { FULL_NAME: 'Bob' };
    answers({ outcome: 'APPROVED', receiverCustomerInfo }, [{ name: 'FULL_NAME', mandatory: true }]).leadsTo(
      fact('IncomingPaymentApproved', { subject: 'bob', receiverCustomerInfo }),
    );
  });

  test('without a mandatory fact is no approval', () => {
    const requested = [
      { name: 'FULL_NAME', mandatory: true },
      { name: 'EMAIL', mandatory: false },
    ];
    answers({ outcome: 'APPROVED' }, requested).leadsTo(failed('MISSING_MANDATORY_PAYEE_DATA'));
    given(incomingPayment, announced({ ...fromElsewhere, requestedFields: requested }))
      .when(new ApprovePayment({ paymentId, receiverCustomerInfo: { FULL_NAME: '' } }))
      .rejects('MISSING_MANDATORY_USER_INFO');
  });

  test('refuses, wants to know more, is late, cannot be used', () => {
    answers({ outcome: 'REJECTED', reason: 'no' }).leadsTo(
      fact('IncomingPaymentRejected', { subject: 'bob', reason: 'no' }),
    );
    answers({ outcome: 'INSUFFICIENT', requiredFields: ['BIRTH_DATE'] }).leadsTo(
      fact('IncomingPaymentFailed', {
        failureReason: 'MISSING_MANDATORY_PAYEE_DATA',
        isRefunded: false,
        requiredFields: ['BIRTH_DATE'],
      }),
    );
    answers({ outcome: 'TIMED_OUT' }).leadsTo(failed('PAYMENT_APPROVAL_TIMED_OUT'));
    answers({ outcome: 'ERROR' }).leadsTo(failed('PAYMENT_APPROVAL_WEBHOOK_ERROR'));
  });

  test('that only acknowledges leaves time to decide, and no more', () => {
    const waiting = [announced(), fact('ApprovalAwaited', { until: LATER })];
    expect(receiveUmaPayment.dueAt(stateOf(fromElsewhere, waiting[1]!))).toBe(LATER);
    given(incomingPayment, ...waiting)
      .when(new WakeIncoming({ paymentId, now: AT }))
      .leadsTo();
    given(incomingPayment, ...waiting)
      .when(new WakeIncoming({ paymentId, now: LATER }))
      .leadsTo(failed('PAYMENT_APPROVAL_TIMED_OUT'));
  });

  test('that comes a second time changes nothing', () => {
    given(incomingPayment, announced(), approved)
      .when(new RecordApproval({ paymentId, answer: { outcome: 'REJECTED' } }))
      .leadsTo();
  });
});

describe('the process', () => {
  const sends = (state: IncomingPaymentState) => {
    const step = receiveUmaPayment.next(state);
    if (!step || !('sends' in step)) throw new Error('this step sends nothing');
    return step;
  };

  test('asks the platform, then for the money, which is in transit before it is deposited', () => {
    expect(receiveUmaPayment.next(asked)).toMatchObject({ call: 'approval', request: { paymentId } });
    expect(receiveUmaPayment.next(stateOf(fromElsewhere, approved))).toMatchObject({ call: 'collect' });
    given(incomingPayment, announced(), approved)
      .when(new RecordCollection({ paymentId, answer: { outcome: 'SETTLED' } }))
      .leadsTo(collected);
    expect(sends(stateOf(fromElsewhere, approved, collected)).sends).toEqual([
      new CreditAccount({
        accountId: 'deposit',
        currency: 'USD',
        amountMinor: 10_000n,
        counterpart: 'transit:USD',
        paymentId,
      }),
    ]);
  });

  test("takes what another platform has reserved out of this platform's clearing account", () => {
    const step = sends(stateOf(fromHere, approved));
    expect(step.sends).toEqual([]);
    given(incomingPayment, announced(fromHere), approved)
      .when(step.after())
      .leadsTo(
        fact('IncomingPaymentCollected', {
          entries: [{ from: 'clearing:USD', to: 'transit:USD', currency: 'USD', amountMinor: 10_000n }],
        }),
      );
  });

  test('pays out to an external account, and sends back what its bank returns', () => {
    const paying = stateOf(toBank, approved, collected);
    expect(receiveUmaPayment.next(paying)).toMatchObject({
      call: 'rail',
      request: { externalAccountId: 'iban', isSettled: false, orderedAt: AT },
    });
    const out = { from: 'transit:USD', to: 'rail:USD', currency: 'USD', amountMinor: 10_000n };
    const paidOut = fact('DepositPaidOut', { entries: [out], watchUntil: AT });
    const completed = fact('IncomingPaymentCompleted');
    given(incomingPayment, announced(toBank), approved, collected)
      .when(new RecordDeposit({ paymentId, answer: { outcome: 'SETTLED', watchUntil: AT } }))
      .leadsTo(paidOut, completed);
    const watched = [announced(toBank), approved, collected, paidOut, completed];
    expect(given(incomingPayment, ...watched).state).toMatchObject({ phase: 'DEPOSITED', status: 'COMPLETED' });
    const returned = given(incomingPayment, ...watched, fact('IncomingPaymentWoken'))
      .when(new RecordDeposit({ paymentId, answer: { outcome: 'RETURNED' } }))
      .state() as IncomingPaymentState;
    expect(returned).toMatchObject({ phase: 'GIVING_BACK', status: 'FAILED', refund });
    const back = incomingPayment.decide(returned, new RecordGivingBack({ paymentId, isAccepted: true }));
    expect(back).toMatchObject([
      { type: 'IncomingRefundAccepted' },
      { type: 'IncomingRefundCompleted', data: { entries: [{ from: 'transit:USD', to: 'rail:USD' }] } },
    ]);
  });

  test.each([
    ['asks for more time', { outcome: 'PENDING', checkAt: AT } as const],
    ['says that it still may', { outcome: 'SETTLED', watchUntil: AT } as const],
  ])('a bank that is asked whether a deposit came back and %s is asked that again, and pays once', (_, answer) => {
    const paidOut = fact('DepositPaidOut', { entries: [], watchUntil: AT });
    const paid = [announced(toBank), approved, collected, paidOut, fact('IncomingPaymentCompleted')];
    const checking = [...paid, fact('IncomingPaymentWoken')];
    const pending = fact('DepositPending', { checkAt: AT });
    given(incomingPayment, ...checking)
      .when(new RecordDeposit({ paymentId, answer }))
      .leadsTo(pending);
    const { state } = given(incomingPayment, ...checking, pending, fact('IncomingPaymentWoken'));
    expect(state).toMatchObject({ phase: 'CHECKING_DEPOSIT', status: 'COMPLETED' });
  });

  test('a deposit that came back before anybody knew that it was paid out leaves no movement of the payout', () => {
    given(incomingPayment, announced(toBank), approved, collected)
      .when(new RecordDeposit({ paymentId, answer: { outcome: 'RETURNED' } }))
      .leadsTo(fact('IncomingPaymentFailed', { failureReason: 'OFFRAMP_FAILED', isRefunded: true }));
  });

  test('a deposit that is refused goes back, or is set aside where it cannot', () => {
    const refused = sends(stateOf(fromElsewhere, approved, collected)).after({
      at: 0,
      rejection: new Error() as never,
    });
    expect(refused).toEqual(new FailDeposit({ paymentId }));
    const failed = fact('IncomingPaymentFailed', { failureReason: 'OFFRAMP_FAILED', isRefunded: true });
    given(incomingPayment, announced(), approved, collected).when(refused).leadsTo(failed);
    given(incomingPayment, announced(), approved, collected, failed)
      .when(new RecordGivingBack({ paymentId, isAccepted: false }))
      .leadsTo(
        fact('IncomingRefundFailed', {
          entries: [{ from: 'transit:USD', to: 'suspense:USD', currency: 'USD', amountMinor: 10_000n }],
        }),
      );
  });
});

describe('a sender who is a customer of the same platform', () => {
  const facts = { senderUmaAddress: '$ada@pay.example', senderCustomerInfo: { FULL_NAME: 'Ada' } };
  const others = { ...fromHere, senderUmaAddress: undefined, senderCustomerId: 'ada' };
  const told = [
    fact('IncomingPaymentAnnounced', { ...others, type: 'INCOMING', subject: 'bob' }),
    fact('SenderTold', { subject: 'ada', ...facts }),
  ];

  test('is told of under its own key', () => {
    given(incomingPayment)
      .when(new ReceivePayment({ ...others, ...facts }))
      .leadsTo(...told);
    expect(given(incomingPayment, ...told).state).toMatchObject(facts);
  });

  test('is erased from the payment, once', () => {
    const erased = given(incomingPayment, ...told, fact('SenderErased')).state as IncomingPaymentState;
    const {
      senderUmaAddress: _,
      senderCustomerInfo: __,
      ...rest
    } = given(incomingPayment, ...told).state as IncomingPaymentState;
    expect(erased).toEqual({ ...rest, isSenderErased: true });
    given(incomingPayment, ...told, fact('SenderErased'))
      .when(new EraseSender({ paymentId }))
      .leadsTo();
  });
});
