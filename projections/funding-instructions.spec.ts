import { describe, expect, test } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { account } from '../libs/domain/accounts/account.ts';
import { identifierChecks } from '../libs/domain/external-accounts/identifier-checks.ts';
import { currencyCodes, internalAccountType } from '../libs/kernel/money.ts';
import { fundingInstructions } from './funding-instructions.ts';
import { PaymentInstructions } from './payment-instructions.view.ts';

const accountOf = (currency: string, accountId = '0199dd29-5d53-7000-8000-0242ac120002') => ({
  ...account.initial,
  accountId: `${accountId}${currency}`,
  tenantId: 'p.sandbox',
  currency,
  type: internalAccountType(currency),
  status: 'ACTIVE' as const,
});
const infosOf = (currency: string) => fundingInstructions(accountOf(currency)).map((one) => one.accountOrWalletInfo);
const ajv = new Ajv2020({ strict: false });
formats.default(ajv);
const isDocumented = ajv.compile(PaymentInstructions);

describe('funding instructions', () => {
  test.each(currencyCodes())('of a %s account are as documented', (currency) => {
    const instructions = fundingInstructions(accountOf(currency));
    expect(instructions).toHaveLength({ USDC: 4, USDT: 4, BTC: 2, ETH: 0, SOL: 0 }[currency] ?? 1);
    for (const one of instructions) {
      isDocumented(one);
      expect(isDocumented.errors ?? []).toEqual([]);
    }
  });

  test('lead to accounts and addresses that are well formed', () => {
    const [usd] = infosOf('USD');
    expect(identifierChecks.aba.passes(String(usd!.routingNumber), {})).toBe(true);
    expect(identifierChecks.iban.passes(String(infosOf('EUR')[0]!.iban), {})).toBe(true);
    expect(identifierChecks.bic.passes(String(infosOf('EUR')[0]!.swiftCode), {})).toBe(true);
    expect(identifierChecks.clabe.passes(String(infosOf('MXN')[0]!.clabeNumber), {})).toBe(true);
    const [solana, ethereum] = infosOf('USDC');
    expect(identifierChecks.solanaAddress.passes(String(solana!.address), {})).toBe(true);
    expect(identifierChecks.evmAddress.passes(String(ethereum!.address), {})).toBe(true);
    expect(identifierChecks.tronAddress.passes(String(infosOf('USDT')[0]!.address), {})).toBe(true);
    expect(identifierChecks.sparkAddress.passes(String(infosOf('USDB')[0]!.address), {})).toBe(true);
    expect(String(infosOf('BTC')[0]!.address)).toMatch(/^tb1q[02-9ac-hj-np-z]{38}$/);
  });

  test('are the same again for an account, and another account has others', () => {
    expect(fundingInstructions(accountOf('USD'))).toEqual(fundingInstructions(accountOf('USD')));
    const [other] = fundingInstructions(accountOf('USD', '0199dd29-5d53-7000-8000-0242ac120003'));
    expect(other!.accountOrWalletInfo.accountNumber).not.toBe(infosOf('USD')[0]!.accountNumber);
    expect(other!.accountOrWalletInfo.reference).not.toBe(infosOf('USD')[0]!.reference);
  });

  test('say whose account it is, and to send the reference along', () => {
    expect(fundingInstructions(accountOf('EUR'))[0]).toMatchObject({
      isPlatformAccount: true,
      instructionsNotes: expect.stringContaining('reference'),
      accountOrWalletInfo: { reference: expect.stringMatching(/^FUND-[0-9A-F]{8}$/) },
    });
    const [customers] = fundingInstructions({ ...accountOf('BTC', 'c'), customerId: 'c' });
    expect(customers).toMatchObject({ isPlatformAccount: false });
    expect(customers).not.toHaveProperty('instructionsNotes');
  });

  test('end with the account, and are not invented in production', () => {
    expect(fundingInstructions({ ...accountOf('USD'), status: 'CLOSED' })).toEqual([]);
    expect(fundingInstructions({ ...accountOf('USD'), tenantId: 'p.production' })).toEqual([]);
  });
});
