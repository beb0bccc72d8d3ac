import { describe, expect, test } from '@jest/globals';
import { AT, given, testEveryCell } from '../../../test/transition-cells.ts';
import { operation, operationTransitions, RecordReveal } from './operation.ts';

const reveal = new RecordReveal({ operationId: 'o', by: 'amina@desk', command: 'export', from: '1', upTo: 10 });
const revealed = { type: 'PersonalDataRevealed', data: reveal.data };

describe('an operation', () => {
  testEveryCell(operation, operationTransitions, {
    given: (status) => given(operation, ...(status === 'NONE' ? [] : [revealed])).state as { status: string },
    when: { RecordReveal: reveal },
  });

  test('says who did it and when', () => {
    expect(given(operation, revealed).state).toEqual({ status: 'RECORDED', by: 'amina@desk', recordedAt: AT });
  });
});
