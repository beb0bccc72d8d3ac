import type { PaymentRail } from '../../kernel/rails.ts';
import {
  aedBeneficiary,
  anyBeneficiary,
  cadBeneficiary,
  copBeneficiary,
  eurBeneficiary,
  gtqBeneficiary,
  ilsBeneficiary,
  jmdBeneficiary,
} from './beneficiaries.ts';
import {
  type AccountTypeRow,
  type BeneficiaryChoice,
  type Fields,
  matching,
  oneOf,
  type RailRule,
  required,
  type TextRule,
  text,
} from './field-rules.ts';

const accountNumber = text(1, 34);
const bankName = text(1, 255);
const provider = text(1, 255);
const bankAccountType = oneOf('CHECKING', 'SAVINGS');
const branchCode = matching('^[0-9]{5}$', 5);
const phoneNumber = matching('^\\+[0-9]{6,14}$', 7, 15);
const routingNumber: TextRule = { ...matching('^[0-9]{9}$', 9), check: 'aba' };
const swiftCode: TextRule = { ...matching('^[A-Z]{4}[A-Z]{2}[A-Z0-9]{2}([A-Z0-9]{3})?$', 8, 11), check: 'bic' };
const anyIban: TextRule = { ...matching('^[A-Z]{2}[0-9]{2}[A-Za-z0-9]{11,30}$', 15, 34), check: 'iban' };

/** An IBAN of one country: its pattern and its one length. */
const iban = (pattern: string, length: number): TextRule => ({ ...matching(pattern, length), check: 'iban' });

/** A phone number of one country, `digits` being the pattern of what follows `+`. */
const phoneOf = (digits: string): TextRule => matching(`^\\+${digits}$`, 7, 15);

function fiat(
  currency: string,
  fields: Fields,
  rails: readonly (PaymentRail | RailRule)[],
  beneficiary: BeneficiaryChoice = anyBeneficiary,
): AccountTypeRow {
  return {
    currencies: [currency],
    fields,
    rails: rails.map((rail) => (typeof rail === 'string' ? { rail, needs: [] } : rail)),
    beneficiary,
  };
}

const bankTransfer = (...needs: string[]): RailRule => ({ rail: 'BANK_TRANSFER', needs });
const mobileMoney = (...needs: string[]): RailRule => ({ rail: 'MOBILE_MONEY', needs });

const bankOrMobile = [bankTransfer('accountNumber', 'bankName'), mobileMoney('bankName', 'phoneNumber')];
const bankOrMobileFields = { accountNumber, bankName: required(bankName), phoneNumber };

const bankBySwiftCode = {
  bankName: required(bankName),
  accountNumber: required(accountNumber),
  swiftCode: required(swiftCode),
};

const mobileOnly = (currency: string, phone: TextRule = phoneNumber): AccountTypeRow =>
  fiat(currency, { phoneNumber: required(phone), provider: required(provider) }, ['MOBILE_MONEY']);

const mobileByRegion = (currency: string, ...regions: string[]): AccountTypeRow =>
  fiat(
    currency,
    {
      phoneNumber: required(phoneNumber),
      provider: required(provider),
      region: required({ ...matching('^[A-Z]{2}$', 2), enum: regions }),
    },
    ['MOBILE_MONEY'],
  );

/** The fiat account types, row by row as in facts §5. */
export const fiatAccountTypes = {
  AED_ACCOUNT: fiat('AED', { iban: required(iban('^AE[0-9]{21}$', 23)), swiftCode }, ['BANK_TRANSFER'], aedBeneficiary),
  BDT_ACCOUNT: fiat('BDT', { ...bankOrMobileFields, branchCode, swiftCode }, bankOrMobile),
  BRL_ACCOUNT: fiat(
    'BRL',
    {
      pixKey: required({ ...text(1, 77), check: 'pixKey' }),
      pixKeyType: required(oneOf('CPF', 'CNPJ', 'EMAIL', 'PHONE', 'RANDOM')),
      taxId: required(matching('^[0-9]{11,14}$', 11, 14)),
    },
    ['PIX'],
  ),
  BWP_ACCOUNT: mobileOnly('BWP'),
  CAD_ACCOUNT: fiat(
    'CAD',
    {
      bankCode: required(matching('^[0-9]{3}$', 3)),
      branchCode: required(branchCode),
      accountNumber: required(matching('^[0-9]{7,12}$', 7, 12)),
    },
    ['BANK_TRANSFER'],
    cadBeneficiary,
  ),
  CNY_ACCOUNT: fiat('CNY', bankOrMobileFields, [
    { ...bankTransfer('accountNumber', 'bankName'), beneficiaryType: 'BUSINESS' },
    mobileMoney('bankName', 'phoneNumber'),
  ]),
  COP_ACCOUNT: fiat(
    'COP',
    { ...bankOrMobileFields, bankAccountType },
    [bankTransfer('accountNumber', 'bankAccountType', 'bankName'), mobileMoney('bankName', 'phoneNumber')],
    copBeneficiary,
  ),
  DKK_ACCOUNT: fiat('DKK', { iban: required(iban('^DK[0-9]{16}$', 18)), swiftCode }, ['SEPA', 'SEPA_INSTANT']),
  EGP_ACCOUNT: fiat('EGP', { iban: iban('^EG[0-9]{27}$', 29), bankName: required(bankName), phoneNumber }, [
    bankTransfer('bankName', 'iban'),
    mobileMoney('bankName', 'phoneNumber'),
  ]),
  EUR_ACCOUNT: fiat('EUR', { iban: required(anyIban), swiftCode }, ['SEPA', 'SEPA_INSTANT'], eurBeneficiary),
  GBP_ACCOUNT: fiat(
    'GBP',
    { sortCode: required(matching('^[0-9]{6}$', 6)), accountNumber: required(matching('^[0-9]{8}$', 8)) },
    ['FASTER_PAYMENTS'],
  ),
  GHS_ACCOUNT: fiat('GHS', bankOrMobileFields, bankOrMobile),
  GTQ_ACCOUNT: fiat(
    'GTQ',
    {
      accountNumber: required(accountNumber),
      bankAccountType: required(bankAccountType),
      bankName: required(bankName),
    },
    ['BANK_TRANSFER'],
    gtqBeneficiary,
  ),
  HKD_ACCOUNT: fiat('HKD', bankBySwiftCode, ['BANK_TRANSFER']),
  HTG_ACCOUNT: fiat('HTG', { phoneNumber: required(phoneNumber) }, ['MOBILE_MONEY']),
  IDR_ACCOUNT: fiat('IDR', { ...bankBySwiftCode, phoneNumber: required(phoneOf('62[0-9]{9,12}')) }, ['BANK_TRANSFER']),
  ILS_ACCOUNT: {
    ...fiat(
      'ILS',
      { iban: required(iban('^IL[0-9]{21}$', 23)), bankName: required(bankName) },
      ['BANK_TRANSFER'],
      ilsBeneficiary,
    ),
    knownBankName: true,
  },
  INR_ACCOUNT: fiat(
    'INR',
    {
      vpa: matching('^[a-zA-Z0-9.\\-_]+@[a-zA-Z0-9]+$', 3, 255),
      accountNumber: matching('^[0-9]{9,18}$', 9, 18),
      ifsc: matching('^[A-Z]{4}0[A-Z0-9]{6}$', 11),
      rail: text(1, 32),
      bankName,
    },
    [
      { rail: 'UPI', needs: ['vpa'] },
      { rail: 'NEFT', needs: ['accountNumber', 'ifsc', 'rail'] },
      { rail: 'RTGS', needs: ['accountNumber', 'ifsc', 'rail'] },
    ],
  ),
  JMD_ACCOUNT: fiat(
    'JMD',
    {
      accountNumber: required(accountNumber),
      branchCode: required(branchCode),
      bankAccountType: required(bankAccountType),
      bankName: required(bankName),
    },
    ['BANK_TRANSFER'],
    jmdBeneficiary,
  ),
  KES_ACCOUNT: mobileOnly('KES', phoneOf('254[0-9]{9}')),
  MWK_ACCOUNT: mobileOnly('MWK'),
  MXN_ACCOUNT: fiat('MXN', { clabeNumber: required({ ...matching('^[0-9]{18}$', 18), check: 'clabe' }) }, ['SPEI']),
  MYR_ACCOUNT: fiat('MYR', bankBySwiftCode, ['BANK_TRANSFER']),
  NGN_ACCOUNT: fiat('NGN', { accountNumber: required(matching('^[0-9]{10}$', 10)), bankName: required(bankName) }, [
    'BANK_TRANSFER',
  ]),
  PHP_ACCOUNT: fiat(
    'PHP',
    { bankName: required(bankName), accountNumber: required(matching('^[0-9]{8,16}$', 8, 16)) },
    ['BANK_TRANSFER'],
  ),
  PKR_ACCOUNT: fiat('PKR', { ...bankOrMobileFields, iban: iban('^PK[0-9]{2}[A-Z]{4}[0-9]{16}$', 24) }, bankOrMobile),
  RWF_ACCOUNT: mobileOnly('RWF', phoneOf('250[0-9]{9}')),
  SGD_ACCOUNT: fiat('SGD', { ...bankBySwiftCode, bankName }, ['PAYNOW', 'FAST', 'BANK_TRANSFER']),
  // El Salvador's accounts are held in US dollars.
  SLV_ACCOUNT: fiat('USD', { bankName, accountNumber, bankAccountType, phoneNumber }, [
    bankTransfer('bankAccountType', 'accountNumber'),
    mobileMoney('phoneNumber'),
  ]),
  SWIFT_ACCOUNT: {
    currencies: 'ANY_FIAT',
    fields: {
      country: required({ ...matching('^[A-Z]{2}$', 2), check: 'country' }),
      swiftCode: required(swiftCode),
      bankName: required(bankName),
      accountNumber,
      iban: anyIban,
    },
    rails: [
      { rail: 'SWIFT', needs: ['accountNumber'] },
      { rail: 'SWIFT', needs: ['iban'] },
    ],
    beneficiary: anyBeneficiary,
    neededFor: { field: 'iban', when: 'country', in: ['BR', 'GB'] },
  },
  THB_ACCOUNT: fiat('THB', bankBySwiftCode, ['BANK_TRANSFER']),
  TZS_ACCOUNT: mobileOnly('TZS', phoneOf('255[0-9]{9}')),
  UGX_ACCOUNT: mobileOnly('UGX'),
  USD_ACCOUNT: fiat(
    'USD',
    {
      accountNumber: required(accountNumber),
      routingNumber: required(routingNumber),
      bankName: text(1, 140),
      bankAccountType,
      intermediaryBankName: text(1, 140),
      intermediaryRoutingNumber: routingNumber,
      fiToFiInformation: { ...text(0, 210), multiline: true },
    },
    ['ACH', 'WIRE', 'RTP', 'FEDNOW'],
  ),
  VND_ACCOUNT: fiat('VND', bankBySwiftCode, ['BANK_TRANSFER']),
  XAF_ACCOUNT: mobileByRegion('XAF', 'CM', 'CG'),
  XOF_ACCOUNT: mobileByRegion('XOF', 'BJ', 'CI', 'SN', 'TG'),
  ZAR_ACCOUNT: fiat(
    'ZAR',
    { accountNumber: required(matching('^[0-9]{9,13}$', 9, 13)), bankName: required(bankName) },
    ['BANK_TRANSFER'],
  ),
  ZMW_ACCOUNT: mobileOnly('ZMW', phoneOf('260[0-9]{9}')),
} as const satisfies Record<string, AccountTypeRow>;
