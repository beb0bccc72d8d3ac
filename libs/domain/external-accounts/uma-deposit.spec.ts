import { describe, expect, test } from '@jest/globals';
import { testEveryCell } from '../../../test/transition-cells.ts';
import { ChooseUmaDepositAccount, ClearUmaDepositAccount, umaDeposit, umaDepositTransitions } from './uma-deposit.ts';

const customerId = 'customer';
const [EARLIER, LATER] = ['2025-10-13T12:00:00.000Z', '2025-10-13T12:00:00.001Z'];
const choose = (externalAccountId: string, addedAt = LATER) =>
  new ChooseUmaDepositAccount({ customerId, tenantId: 'tenant', externalAccountId, addedAt });
const clear = (externalAccountId: string) => new ClearUmaDepositAccount({ customerId, externalAccountId });

describe('the default UMA deposit account', () => {
  testEveryCell(umaDeposit, umaDepositTransitions, {
    given: (status) => (status === 'NONE' ? umaDeposit.initial : { status, externalAccountId: 'a' }),
    when: { ChooseUmaDepositAccount: choose('b'), ClearUmaDepositAccount: clear('a') },
  });

  const chosen = { status: 'CHOSEN', externalAccountId: 'a', addedAt: EARLIER } as const;

  test('one event moves it to another account', () => {
    expect(umaDeposit.decide(chosen, choose('b'))).toEqual([
      {
        type: 'UmaDepositAccountChosen',
        data: { customerId, tenantId: 'tenant', externalAccountId: 'b', addedAt: LATER, replacedAccountId: 'a' },
      },
    ]);
  });

  test('a request that is finished late does not take it from an account that was added later', () => {
    const newer = { ...chosen, addedAt: LATER };
    expect(umaDeposit.decide(newer, choose('b', EARLIER))).toEqual([]);
    expect(umaDeposit.decide(newer, choose('b', LATER))).toMatchObject([{ type: 'UmaDepositAccountChosen' }]);
  });

  test('choosing it again and clearing another one change nothing', () => {
    expect(umaDeposit.decide(chosen, choose('a'))).toEqual([]);
    expect(umaDeposit.decide(chosen, clear('b'))).toEqual([]);
  });
});
