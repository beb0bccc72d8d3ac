import { describe, expect, test } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { PaymentInstructions } from '../../projections/payment-instructions.view.ts';
import { accountTypeNames, accountTypes } from '../domain/external-accounts/account-types.ts';
import { identifierChecks } from '../domain/external-accounts/identifier-checks.ts';
import { currencyCodes } from '../kernel/money.ts';
import { sandboxFunding } from './funding.sandbox.ts';
import { cryptoWays, fiatWays } from './funding.table.ts';

const ajv = new Ajv2020({ strict: false });
formats.default(ajv);
const isDocumented = ajv.compile(PaymentInstructions);

const ask = (currency: string, more: object = {}) =>
  sandboxFunding.instructions({ reference: 'PAY-17', currency, amountMinor: 123_456n, isPlatform: false, ...more });
const infos = async (currency: string, more?: object) =>
  (await ask(currency, more)).map(({ accountOrWalletInfo }) => accountOrWalletInfo);

describe('the sandbox funding instructions', () => {
  test.each(currencyCodes())('for %s are as documented', async (currency) => {
    const instructions = await ask(currency);
    expect(instructions.length).toBeGreaterThan(['ETH', 'SOL'].includes(currency) ? -1 : 0);
    for (const one of instructions) {
      isDocumented(one);
      expect(isDocumented.errors ?? []).toEqual([]);
    }
  });

  test('cover every account type that payment instructions have and every rail of the currencies', () => {
    const given = new Set(Object.values(fiatWays).flatMap((ways) => ways.map(({ accountType }) => accountType)));
    const fiat = accountTypeNames.filter((type) => accountTypes[type].rails.length > 0);
    expect(fiat.filter((type) => !given.has(type))).toEqual(['SLV_ACCOUNT', 'SWIFT_ACCOUNT']);
    expect(given.has('ARS_ACCOUNT')).toBe(true);
    for (const ways of Object.values(fiatWays)) {
      for (const { accountType, paymentRails } of ways) {
        if (!['ARS_ACCOUNT', 'BRL_ACCOUNT', 'COP_ACCOUNT'].includes(accountType)) {
          expect([accountType, paymentRails]).toEqual([accountType, expect.arrayContaining([expect.any(String)])]);
        }
      }
    }
  });

  test('carry the reference: in its field, in a code or in a link', async () => {
    expect(await infos('USD')).toEqual([
      expect.objectContaining({ accountType: 'USD_ACCOUNT', reference: 'PAY-17', bankAddress: expect.any(String) }),
    ]);
    expect(await infos('BRL')).toEqual([{ accountType: 'BRL_ACCOUNT', qrCode: 'pix-sandbox:PAY-17' }]);
    expect(await infos('COP')).toEqual([
      { accountType: 'COP_ACCOUNT', paymentUrl: 'https://ledgerline.example/pay/PAY-17' },
    ]);
    expect((await infos('INR')).map(({ reference }) => reference)).toEqual([undefined, undefined]);
    expect((await infos('JPY'))[0]).toMatchObject({ accountType: 'SWIFT_ACCOUNT', reference: 'PAY-17' });
  });

  test('say how much to send', async () => {
    expect((await ask('USD'))[0]!.instructionsNotes).toBe(
      'Send exactly 1234.56 USD in one payment, with the reference.',
    );
    expect((await ask('JPY'))[0]!.instructionsNotes).toBe(
      'Send exactly 123456 JPY in one payment, with the reference.',
    );
    expect((await ask('USDC'))[0]!.instructionsNotes).toBe('Send exactly 0.123456 USDC in one payment.');
  });

  test('are for one network when it is named, and for all otherwise', async () => {
    expect(sandboxFunding.networks('USDT')).toEqual(['SOLANA', 'ETHEREUM', 'TRON', 'PLASMA']);
    expect(sandboxFunding.networks('USD')).toEqual([]);
    expect((await infos('USDT', { cryptoNetwork: 'TRON' })).map(({ accountType }) => accountType)).toEqual([
      'TRON_WALLET',
    ]);
    expect((await infos('BTC')).map(({ accountType }) => accountType)).toEqual([
      'BITCOIN_L1',
      'SPARK_WALLET',
      'LIGHTNING',
    ]);
    expect(await infos('BTC', { cryptoNetwork: 'TRON' })).toEqual([]);
  });

  test('lead to accounts and addresses that are well formed', async () => {
    const [usd] = await infos('USD');
    const passes = (check: keyof typeof identifierChecks, value: unknown) =>
      identifierChecks[check].passes(String(value), {});
    expect(passes('aba', usd!.routingNumber)).toBe(true);
    for (const currency of Object.keys(fiatWays)) {
      for (const info of await infos(currency)) {
        if (info.iban) expect([info.iban, passes('iban', info.iban)]).toEqual([info.iban, true]);
        if (info.swiftCode) expect(passes('bic', info.swiftCode)).toBe(true);
        if (info.clabeNumber) expect(passes('clabe', info.clabeNumber)).toBe(true);
      }
    }
    const checks = {
      SOLANA: 'solanaAddress',
      ETHEREUM: 'evmAddress',
      BASE: 'evmAddress',
      POLYGON: 'evmAddress',
      PLASMA: 'evmAddress',
      TRON: 'tronAddress',
      SPARK: 'sparkAddress',
    } as const;
    for (const ways of Object.values(cryptoWays)) {
      for (const [network, { address, invoice }] of Object.entries(ways)) {
        const check = checks[network as keyof typeof checks];
        if (check) expect([network, passes(check, address)]).toEqual([network, true]);
        if (invoice) expect(passes('bolt11', invoice)).toBe(true);
      }
    }
  });
});
