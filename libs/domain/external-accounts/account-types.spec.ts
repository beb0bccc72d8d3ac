import { describe, expect, test } from '@jest/globals';
import { accountExamples } from './account.examples.ts';
import {
  type AccountInfo,
  accountKey,
  accountTypeNames,
  accountTypes,
  beneficiaryName,
  isSelfCustodyWallet,
  personalFields,
  primaryIdentifier,
  railsOf,
  suffixOf,
} from './account-types.ts';

const info = (fields: object): AccountInfo => fields as AccountInfo;

describe('the table', () => {
  test('holds the 39 fiat types and 8 wallets of the spec', () => {
    const wallets = accountTypeNames.filter((type) => accountTypes[type].rails.length === 0);
    expect(wallets).toEqual([
      'BASE_WALLET',
      'ETHEREUM_WALLET',
      'LIGHTNING',
      'POLYGON_WALLET',
      'PLASMA_WALLET',
      'SOLANA_WALLET',
      'SPARK_WALLET',
      'TRON_WALLET',
    ]);
    expect(accountTypeNames).toHaveLength(39 + 8);
  });

  test.each(accountTypeNames)('%s: rails and conditions speak of fields that exist', (type) => {
    const { fields, rails, exactlyOneOf = [], neededFor } = accountTypes[type];
    const named = [...rails.flatMap((rule) => rule.needs), ...exactlyOneOf];
    if (neededFor) named.push(neededFor.field, neededFor.when);
    for (const name of named) expect(Object.keys(fields)).toContain(name);
  });
});

describe('rails', () => {
  const person = { beneficiaryType: 'INDIVIDUAL' };
  const business = { beneficiaryType: 'BUSINESS' };
  test.each([
    [{ accountType: 'USD_ACCOUNT' }, ['ACH', 'WIRE', 'RTP', 'FEDNOW']],
    [{ accountType: 'SGD_ACCOUNT' }, ['PAYNOW', 'FAST', 'BANK_TRANSFER']],
    [{ accountType: 'GHS_ACCOUNT', bankName: 'B', accountNumber: '1' }, ['BANK_TRANSFER']],
    [{ accountType: 'GHS_ACCOUNT', bankName: 'B', phoneNumber: '+1' }, ['MOBILE_MONEY']],
    [
      { accountType: 'GHS_ACCOUNT', bankName: 'B', accountNumber: '1', phoneNumber: '+1' },
      ['BANK_TRANSFER', 'MOBILE_MONEY'],
    ],
    [{ accountType: 'COP_ACCOUNT', bankName: 'B', accountNumber: '1' }, []],
    [{ accountType: 'CNY_ACCOUNT', bankName: 'B', accountNumber: '1', beneficiary: person }, []],
    [{ accountType: 'CNY_ACCOUNT', bankName: 'B', accountNumber: '1', beneficiary: business }, ['BANK_TRANSFER']],
    [{ accountType: 'INR_ACCOUNT', vpa: 'a@b' }, ['UPI']],
    [{ accountType: 'INR_ACCOUNT', accountNumber: '1', ifsc: 'x', rail: 'NEFT' }, ['NEFT', 'RTGS']],
    [{ accountType: 'SWIFT_ACCOUNT', accountNumber: '1', iban: 'x' }, ['SWIFT']],
    [{ accountType: 'BASE_WALLET', address: '0x' }, []],
  ])('%j: %j', (fields, rails) => {
    expect(railsOf(info(fields))).toEqual(rails);
  });

  test('every example of a fiat account can be paid', () => {
    for (const type of accountTypeNames)
      expect(railsOf(accountExamples[type]).length > 0).toBe(accountTypes[type].rails.length > 0);
  });
});

describe('the primary identifier', () => {
  test.each([
    [{ iban: 'DE123', accountNumber: '9' }, 'DE123', '123'],
    [{ accountNumber: '55779911', phoneNumber: '+1' }, '55779911', '911'],
    [{ clabeNumber: '032180000118359719' }, '032180000118359719', '719'],
    [{ pixKey: 'maria002@example.com' }, 'maria002@example.com', '002'],
    [{ vpa: 'maria003@okbank' }, 'maria003@okbank', '003'],
    [{ phoneNumber: '+254712345105' }, '+254712345105', '105'],
    [{ address: '0xabc004' }, '0xabc004', '004'],
    [{ lightningAddress: 'bob005@example.com' }, 'bob005@example.com', '005'],
    [{ invoice: 'lnbc1xyz' }, 'lnbc1xyz', 'xyz'],
    [{ accountNumber: '7' }, '7', '7'],
    [{}, '', ''],
  ])('%j: %s ends in %s', (fields, identifier, suffix) => {
    expect(primaryIdentifier(fields)).toBe(identifier);
    expect(suffixOf(fields)).toBe(suffix);
  });

  test('every identifier and the beneficiary are personal, the bank is not', () => {
    for (const type of accountTypeNames) {
      const { beneficiary, bankName, ...rest } = accountExamples[type];
      const hidden = Object.fromEntries(Object.entries(rest).filter(([field]) => !personalFields.includes(field)));
      expect(JSON.stringify(hidden)).not.toContain(primaryIdentifier(accountExamples[type]));
    }
    expect(personalFields).toContain('beneficiary');
    expect(personalFields).not.toContain('bankName');
  });
});

describe('one account twice', () => {
  const key = (fields: object): string => accountKey(info(fields));

  test('case does not make another account, save where base58 does', () => {
    const evm = { accountType: 'BASE_WALLET', address: '0xABc' };
    expect(key(evm)).toBe(key({ ...evm, address: '0xabC' }));
    const tron = { accountType: 'TRON_WALLET', address: 'TAb' };
    expect(key(tron)).not.toBe(key({ ...tron, address: 'TaB' }));
  });

  test('an account number counts together with its bank, by code rather than by name', () => {
    const usd = { accountType: 'USD_ACCOUNT', accountNumber: '1', routingNumber: '021000021' };
    expect(key(usd)).toBe(key({ ...usd, bankName: 'Chase', beneficiary: {} }));
    expect(key(usd)).not.toBe(key({ ...usd, routingNumber: '011401533' }));
    const ghs = { accountType: 'GHS_ACCOUNT', accountNumber: '1', bankName: 'GCB Bank' };
    expect(key(ghs)).toBe(key({ ...ghs, bankName: 'gcb bank' }));
    expect(key(ghs)).not.toBe(key({ ...ghs, bankName: 'Ecobank Ghana' }));
  });

  test('an IBAN stands for itself', () => {
    const eur = { accountType: 'EUR_ACCOUNT', iban: 'DE89370400440532013000' };
    expect(key(eur)).toBe(key({ ...eur, swiftCode: 'COBADEFF' }));
  });
});

test('self-custody is a wallet without custodian; neither a bank account nor Lightning', () => {
  expect(isSelfCustodyWallet(accountExamples.BASE_WALLET)).toBe(true);
  expect(isSelfCustodyWallet({ ...accountExamples.BASE_WALLET, vaspName: 'Kraken' })).toBe(false);
  expect(isSelfCustodyWallet(accountExamples.LIGHTNING)).toBe(false);
  expect(isSelfCustodyWallet(accountExamples.USD_ACCOUNT)).toBe(false);
});

test("the beneficiary's name is a person's or a business's", () => {
  expect(beneficiaryName(accountExamples.USD_ACCOUNT)).toBe('Amina Diallo');
  expect(beneficiaryName(accountExamples.HKD_ACCOUNT)).toBe('Harbour Lights Trading Ltd');
  expect(beneficiaryName(accountExamples.BASE_WALLET)).toBeUndefined();
});
