import { describe, expect, test } from '@jest/globals';
import { AT, given, testEveryCell } from '../../../test/transition-cells.ts';
import { reject } from '../../kernel/errors.ts';
import type { Step } from '../../kernel/process.ts';
import { opened, received, requested, rule, ruleSet } from '../accounts/account.examples.ts';
import { account } from '../accounts/account.ts';
import { facts, started, sweepHistories, sweepId, sweepQuote } from './sweep.examples.ts';
import { completeSweep, startSweeps, sweepIdOf } from './sweep.process.ts';
import {
  RecordSweepPayment,
  RecordSweepQuote,
  RecordSweepSent,
  StartSweep,
  type SweepPaymentAnswer,
  type SweepState,
  sweep,
  sweepTransitions,
  WakeSweep,
} from './sweep.ts';

type Sending = Extract<Step, { sends: unknown }>;

const LATER = '2026-01-01T00:00:30.000Z';
const answered = (answer: SweepPaymentAnswer) => new RecordSweepPayment({ sweepId, answer });
const { quoted, sent, pending, woken, failed, returned } = facts;
const falling = [facts.started, failed('QUOTE_FAILED')];

describe('the life of a sweep', () => {
  testEveryCell(sweep, sweepTransitions, {
    given: (phase) => given(sweep, ...sweepHistories[phase]!).state as SweepState,
    statusOf: ({ phase }) => phase,
    when: {
      StartSweep: new StartSweep(started),
      RecordSweepQuote: new RecordSweepQuote({ sweepId, answer: { outcome: 'QUOTED', quote: sweepQuote } }),
      RecordSweepSent: new RecordSweepSent({ sweepId, paymentId: 'S1' }),
      RecordSweepPayment: answered({ outcome: 'SETTLED' }),
      WakeSweep: new WakeSweep({ sweepId, now: LATER }),
    },
  });

  test('what cannot be quoted goes to the canonical account, with the reason', () => {
    given(sweep, facts.started)
      .when(new RecordSweepQuote({ sweepId, answer: { outcome: 'REFUSED', reason: 'BELOW_MINIMUM' } }))
      .leadsTo(failed('BELOW_MINIMUM'));
  });

  test('a payment that is under way is looked at again; one that came back goes to the canonical account', () => {
    const following = given(sweep, facts.started, quoted, sent());
    following.when(answered({ outcome: 'PENDING', checkAt: LATER })).leadsTo(pending);
    following.when(answered({ outcome: 'RETURNED', checkAt: LATER })).leadsTo(failed());
    following.when(answered({ outcome: 'LOST' })).leadsTo(facts.lost);
  });

  test('a payment that was refused is none: what is told of the failure names no transaction', () => {
    const refused = { ...failed(), data: { ...failed().data, isRefused: true as const } };
    given(sweep, facts.started, quoted, sent())
      .when(answered({ outcome: 'RETURNED', checkAt: LATER, isRefused: true }))
      .leadsTo(refused);
    expect(given(sweep, facts.started, quoted, sent('S1'), refused).state).not.toHaveProperty('sendPaymentId');
  });

  test('the canonical account is tried until it takes the money', () => {
    const fallback = given(sweep, ...falling, sent('F0'));
    fallback.when(answered({ outcome: 'SETTLED' })).leadsTo(facts.fellBack);
    fallback.when(answered({ outcome: 'RETURNED', checkAt: LATER })).leadsTo(returned);
    expect(given(sweep, ...falling, sent('F0'), returned, woken).state).toMatchObject({
      phase: 'SENDING',
      fallbacks: 1,
    });
  });

  test('it is not woken before its time', () => {
    given(sweep, ...sweepHistories.WAITING!)
      .when(new WakeSweep({ sweepId, now: AT }))
      .leadsTo();
  });

  test('it remembers the payment to the destination, and no text once that is sent', () => {
    const { state } = given(sweep, facts.started, quoted, sent('S1'), failed(), sent('F0'), facts.fellBack);
    expect(state).toMatchObject({ phase: 'DONE', reason: 'EXECUTION_FAILED', sendPaymentId: 'S1', paymentId: 'F0' });
    expect(state).not.toHaveProperty('description');
    expect(state).not.toHaveProperty('quote');
  });
});

describe('the process', () => {
  const stepOf = (...events: Parameters<typeof given>[1][]) =>
    completeSweep.next(given(sweep, ...events).state as SweepState) as Sending;

  test('begins one sweep for each arrival, and knows those that began before a crash', () => {
    const { state } = given(account, opened, ruleSet, received(5n), requested(5n), requested(7n, 'P1'));
    const step = startSweeps.next(state) as Sending;
    const ids = step.sends.map(({ data }) => (data as { sweepId: string }).sweepId);
    expect(ids).toEqual([sweepIdOf(state.accountId, 'D1'), sweepIdOf(state.accountId, 'P1')]);
    expect(step.sends[0]!.data).toMatchObject({ amountMinor: 5n, canonicalAccountId: rule.canonicalAccountId });
    expect(step.after().data).toMatchObject({ paymentIds: ['D1', 'P1'] });
    const known = { at: 0, rejection: reject('CONFLICT', { reason: 'SWEEP_EXISTS' }) };
    expect(step.after(known).data).toMatchObject({ paymentIds: ['D1'] });
    expect(() => step.after({ at: 0, rejection: reject('CONFLICT') })).toThrow('cannot be refused');
  });

  test('sends what was quoted, once under one id', () => {
    const step = stepOf(facts.started, quoted);
    expect(step.sends.map(({ data }) => data)).toEqual([{ ...sweepQuote, description: 'Rent' }]);
    expect(step.after().data).toEqual({ sweepId, paymentId: 'S1' });
    expect(() => step.after({ at: 0, rejection: reject('CONFLICT') })).toThrow('cannot be refused');
  });

  test('sends the whole amount to the canonical account, under another id each time', () => {
    const first = stepOf(...falling);
    const { paymentId } = first.sends[0]!.data as { paymentId: string };
    expect(first.sends[0]!.data).toMatchObject({
      source: { kind: 'INTERNAL', accountId: 'rule' },
      destination: { kind: 'INTERNAL', accountId: 'canonical' },
      terms: { sendingMinor: 10_000n, receivingMinor: 10_000n, serviceFeeMinor: 0n },
      immediatelyExecute: true,
    });
    const second = stepOf(...falling, sent(paymentId), returned, woken);
    expect((second.sends[0]!.data as { paymentId: string }).paymentId).not.toBe(paymentId);
  });

  test('waits for nothing but its time', () => {
    const waiting = given(sweep, ...sweepHistories.WAITING!).state as SweepState;
    expect([completeSweep.next(waiting), completeSweep.dueAt(waiting)]).toEqual([undefined, LATER]);
    expect(completeSweep.wake(waiting, LATER)).toEqual(new WakeSweep({ sweepId, now: LATER }));
    const done = given(sweep, ...sweepHistories.DONE!).state as SweepState;
    expect([completeSweep.next(done), completeSweep.dueAt(done), completeSweep.wake(done, LATER)]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });
});
