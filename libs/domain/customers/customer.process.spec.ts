import { describe, expect, test } from '@jest/globals';
import { given } from '../../../test/transition-cells.ts';
import { type ErrorCode, reject } from '../../kernel/errors.ts';
import type { Step } from '../../kernel/process.ts';
import {
  createdExample,
  customerHistories,
  customerId,
  platformClaim,
  ruleAccountExample,
  tenantId,
  umaClaim,
} from './customer.examples.ts';
import { customerAccountId, serveCustomer } from './customer.process.ts';
import { customer } from './customer.ts';

type Sending = Extract<Step, { sends: unknown }>;
const stepOf = (...events: Parameters<typeof given>[1][]) =>
  serveCustomer.next(given(customer, ...events).state) as Sending;
const inStatus = (status: string) => stepOf(...customerHistories[status]!);
const plain = (step: Sending) => step.sends.map(({ type, data }) => ({ ...data, command: type }));
const refused = (at: number, reason: string, code: ErrorCode = 'CONFLICT') => ({
  at,
  rejection: reject(code, { reason }),
});
const usd = customerAccountId(customerId, 'USD');
const eur = customerAccountId(customerId, 'EUR');

describe('a new customer', () => {
  const step = stepOf(createdExample);

  test('gets an account per currency, with the same id whoever opens it', () => {
    const account = { tenantId, customerId, platformCustomerId: 'amina-1', type: 'INTERNAL_FIAT' };
    expect(plain(step)).toEqual([
      { command: 'OpenAccount', accountId: usd, currency: 'USD', ...account },
      { command: 'OpenAccount', accountId: eur, currency: 'EUR', ...account },
    ]);
    expect(step.after().data).toEqual({ customerId, currencies: ['USD', 'EUR'] });
  });

  test('an account that is there already counts as opened, and the next step goes on behind it', () => {
    const after = step.after(refused(0, 'ACCOUNT_EXISTS'));
    expect(after.data).toEqual({ customerId, currencies: ['USD'] });
    const rest = stepOf(createdExample, { type: 'CustomerAccountsOpened', data: after.data });
    expect(plain(rest).map((sent) => (sent as { currency?: string }).currency)).toEqual(['EUR']);
  });

  test('any other refusal is a fault', () => {
    expect(() => step.after(refused(1, 'OTHER'))).toThrow('CONFLICT OTHER');
  });

  test('nothing is left to do once they are open', () => {
    expect(inStatus('ACTIVE')).toBeUndefined();
  });
});

describe('a customer being deleted', () => {
  const step = inStatus('DELETING');

  test('has each account closed, and is deleted then', () => {
    expect(plain(step)).toEqual([
      { command: 'CloseAccount', accountId: usd },
      { command: 'CloseAccount', accountId: eur },
    ]);
    expect(step.after()).toMatchObject({ type: 'DeleteCustomer', data: { customerId } });
  });

  test('stays when an account holds money, and gets back those that were closed', () => {
    const after = step.after(refused(1, 'ACCOUNT_NOT_EMPTY'));
    expect(after).toMatchObject({ type: 'RefuseDeletion', data: { customerId, closed: ['USD'] } });
    const reopening = inStatus('RESTORING');
    expect(plain(reopening)).toEqual([{ command: 'ReopenAccount', accountId: usd }]);
    expect(reopening.after()).toMatchObject({ type: 'RestoreCustomer', data: { customerId } });
    expect(() => reopening.after(refused(0, 'OTHER'))).toThrow('OTHER');
  });

  test('an account closed before does not stop it', () => {
    const after = step.after(refused(0, 'ACCOUNT_CLOSED'));
    expect(after).toMatchObject({ type: 'ConfirmAccountsClosed', data: { customerId, currencies: ['USD'] } });
  });

  test.each(['DELETED', 'ERASED'])('gives back what it had alone once it is %s', (status) => {
    const releasing = inStatus(status);
    expect(plain(releasing)).toEqual([
      { command: 'ReleaseValue', ...platformClaim, owner: customerId },
      { command: 'ReleaseValue', ...umaClaim, owner: customerId },
    ]);
    expect(releasing.after().data).toEqual({ customerId, claims: [platformClaim, umaClaim] });
  });
});

test('a customer that does not exist has nothing to do', () => {
  expect(inStatus('NONE')).toBeUndefined();
  expect(inStatus('ABANDONED')).toBeUndefined();
});

describe('a rule-based account', () => {
  const requested = { type: 'RuleAccountRequested', data: { customerId, ...ruleAccountExample } };
  const history = [...customerHistories.ACTIVE!, requested];
  const opened = { type: 'RuleAccountsOpened', data: { customerId, accountIds: [ruleAccountExample.accountId] } };

  test('is opened with its rule, once', () => {
    const step = stepOf(...history);
    expect(plain(step)).toEqual([
      {
        command: 'OpenAccount',
        tenantId,
        customerId,
        platformCustomerId: 'amina-1',
        type: 'RULE_BASED',
        ...ruleAccountExample,
      },
    ]);
    expect(step.after(refused(0, 'ACCOUNT_EXISTS')).data).toEqual(opened.data);
  });

  test('is closed and opened again by its id', () => {
    const deleting = [...history, opened, { type: 'CustomerDeletionStarted', data: { customerId } }];
    expect(stepOf(...deleting).sends.map(({ data }) => (data as { accountId: string }).accountId)).toEqual([
      ruleAccountExample.accountId,
      usd,
      eur,
    ]);
    const refusal = { type: 'CustomerDeletionRefused', data: { customerId, closed: [ruleAccountExample.accountId] } };
    expect(plain(stepOf(...deleting, refusal))).toEqual([
      { command: 'ReopenAccount', accountId: ruleAccountExample.accountId },
    ]);
  });
});
