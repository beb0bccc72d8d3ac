import { describe, expect, test } from '@jest/globals';
import { accountExamples } from './account.examples.ts';
import {
  type AccountInfo,
  accountKey,
  accountTypeNames,
  accountTypes,
  beneficiaryName,
  formerAccountKey,
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

  const bdt = { accountType: 'BDT_ACCOUNT', accountNumber: '777', bankName: 'Sonali' };
  const cad = { accountType: 'CAD_ACCOUNT', accountNumber: '1234567', bankCode: '001', branchCode: '00011' };
  const eur = { accountType: 'EUR_ACCOUNT', iban: 'DE89370400440532013000' };
  const hkd = { accountType: 'HKD_ACCOUNT', accountNumber: '7', bankName: 'HSBC', swiftCode: 'HSBCHKHH' };
  const inr = { accountType: 'INR_ACCOUNT', accountNumber: '123456789', ifsc: 'HDFC0000001', rail: 'NEFT' };
  const jmd = { accountType: 'JMD_ACCOUNT', accountNumber: '7', bankName: 'NCB', branchCode: '00011' };
  const ngn = { accountType: 'NGN_ACCOUNT', accountNumber: '0123456789', bankName: 'GTBank' };
  const slv = { accountType: 'SLV_ACCOUNT', phoneNumber: '+50370001234' };
  const usd = { accountType: 'USD_ACCOUNT', accountNumber: '1', routingNumber: '021000021' };
  const swift = { accountType: 'SWIFT_ACCOUNT', country: 'DE', swiftCode: 'COBADEFF', bankName: 'Commerzbank' };

  test.each([
    ['a bank is spelled otherwise', ngn, { ...ngn, bankName: 'GT Bank' }],
    ['a name is added', usd, { ...usd, bankName: 'Chase', beneficiary: {} }],
    ['an optional code is added', bdt, { ...bdt, branchCode: '12345', swiftCode: 'BSONBDDH' }],
    ['a BIC tells the branch', hkd, { ...hkd, swiftCode: 'HSBCHKHHXXX', bankName: 'Hongkong Bank' }],
    ['an IBAN has a BIC', eur, { ...eur, swiftCode: 'COBADEFF' }],
    ['an IBAN is in lower case', eur, { ...eur, iban: eur.iban.toLowerCase() }],
    ['an IBAN is paid by SWIFT', eur, { ...swift, iban: eur.iban }],
    ['an account number is paid by SWIFT', hkd, { ...swift, swiftCode: hkd.swiftCode, accountNumber: '7' }],
    ['a phone has a bank', slv, { ...slv, bankName: 'Banco Agrícola' }],
  ])('%s: the same account', (_, one, other) => {
    expect(key(other)).toBe(key(one));
  });

  test.each([
    ['routing number', usd, { ...usd, routingNumber: '011401533' }],
    ['institution number', cad, { ...cad, bankCode: '002' }],
    ['transit number', cad, { ...cad, branchCode: '00012' }],
    ['branch where it is required', jmd, { ...jmd, branchCode: '00012' }],
    ['IFSC', inr, { ...inr, ifsc: 'SBIN0000001' }],
    ['BIC where it is required', hkd, { ...hkd, swiftCode: 'CITIHKHX' }],
    ['number', ngn, { ...ngn, accountNumber: '0123456780' }],
    ['network', { accountType: 'BASE_WALLET', address: '0x1' }, { accountType: 'POLYGON_WALLET', address: '0x1' }],
  ])('another %s: another account', (_, one, other) => {
    expect(key(other)).not.toBe(key(one));
  });

  test('the key that accounts have from before is still what it was', () => {
    expect(
      [ngn, bdt, { ...bdt, branchCode: '12345' }, hkd, eur, usd].map((fields) => formerAccountKey(info(fields))),
    ).toEqual([
      'NGN_ACCOUNT|0123456789||gtbank',
      'BDT_ACCOUNT|777||sonali',
      'BDT_ACCOUNT|777|12345',
      'HKD_ACCOUNT|7|hsbchkhh|hsbc',
      'EUR_ACCOUNT|de89370400440532013000',
      'USD_ACCOUNT|1|021000021',
    ]);
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
