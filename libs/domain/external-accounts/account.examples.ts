import { composeIBAN } from 'ibantools';
import { type AccountInfo, type AccountType, identifierField, primaryIdentifier } from './account-types.ts';
import { clabeCheckDigit } from './identifier-checks.ts';

const person = { beneficiaryType: 'INDIVIDUAL', fullName: 'Amina Diallo', countryOfResidence: 'US' };
const business = { beneficiaryType: 'BUSINESS', legalName: 'Harbour Lights Trading Ltd' };
const address = { line1: '12 Marina Walk', city: 'Dubai', postalCode: '00000', country: 'AE' };
const evm = '0x52908400098527886e0f7030069857d2e4169ee7';

const mobile = (accountType: AccountType, phoneNumber: string, provider: string, more = {}): AccountInfo => ({
  accountType,
  phoneNumber,
  provider,
  ...more,
  beneficiary: person,
});

const bySwiftCode = (accountType: AccountType, bankName: string, swiftCode: string, more = {}): AccountInfo => ({
  accountType,
  bankName,
  accountNumber: '1234567890',
  swiftCode,
  ...more,
  beneficiary: business,
});

const byBankName = (accountType: AccountType, bankName: string, accountNumber: string, more = {}): AccountInfo => ({
  accountType,
  bankName,
  accountNumber,
  ...more,
  beneficiary: person,
});

/** One valid `accountInfo` of each type, for tests and for the OpenAPI document. */
export const accountExamples: Readonly<Record<AccountType, AccountInfo>> = {
  AED_ACCOUNT: {
    accountType: 'AED_ACCOUNT',
    iban: 'AE070331234567890123456',
    swiftCode: 'EBILAEAD',
    beneficiary: { ...person, address },
  },
  BDT_ACCOUNT: byBankName('BDT_ACCOUNT', 'BRAC Bank', '1501204567890', { branchCode: '26543' }),
  BRL_ACCOUNT: {
    accountType: 'BRL_ACCOUNT',
    pixKey: 'amina.diallo@example.com',
    pixKeyType: 'EMAIL',
    taxId: '52998224725',
    beneficiary: person,
  },
  BWP_ACCOUNT: mobile('BWP_ACCOUNT', '+26771234567', 'Orange Money'),
  CAD_ACCOUNT: {
    accountType: 'CAD_ACCOUNT',
    bankCode: '003',
    branchCode: '00012',
    accountNumber: '1234567',
    beneficiary: person,
  },
  CNY_ACCOUNT: { ...byBankName('CNY_ACCOUNT', 'Bank of China', '6216610100012345678'), beneficiary: business },
  COP_ACCOUNT: byBankName('COP_ACCOUNT', 'Bancolombia', '12345678901', {
    bankAccountType: 'SAVINGS',
    beneficiary: { ...person, documentType: 'CC', documentNumber: '1020304050' },
  }),
  DKK_ACCOUNT: { accountType: 'DKK_ACCOUNT', iban: 'DK5000400440116243', beneficiary: person },
  EGP_ACCOUNT: {
    accountType: 'EGP_ACCOUNT',
    iban: 'EG380019000500000000263180002',
    bankName: 'Banque Misr',
    beneficiary: person,
  },
  EUR_ACCOUNT: { accountType: 'EUR_ACCOUNT', iban: 'DE89370400440532013000', beneficiary: person },
  GBP_ACCOUNT: { accountType: 'GBP_ACCOUNT', sortCode: '200000', accountNumber: '55779911', beneficiary: person },
  GHS_ACCOUNT: byBankName('GHS_ACCOUNT', 'GCB Bank', '1020304050607'),
  GTQ_ACCOUNT: {
    ...byBankName('GTQ_ACCOUNT', 'Banco Industrial', '0200012345678', { bankAccountType: 'CHECKING' }),
    beneficiary: { ...person, phoneNumber: '+50255512345' },
  },
  HKD_ACCOUNT: bySwiftCode('HKD_ACCOUNT', 'HSBC', 'HSBCHKHH'),
  HTG_ACCOUNT: { accountType: 'HTG_ACCOUNT', phoneNumber: '+50934123456', beneficiary: person },
  IDR_ACCOUNT: bySwiftCode('IDR_ACCOUNT', 'Bank Central Asia', 'CENAIDJA', { phoneNumber: '+6281234567890' }),
  ILS_ACCOUNT: {
    accountType: 'ILS_ACCOUNT',
    iban: 'IL620108000000099999999',
    bankName: 'Bank Leumi',
    beneficiary: person,
  },
  INR_ACCOUNT: { accountType: 'INR_ACCOUNT', vpa: 'amina.diallo@okbank', beneficiary: person },
  JMD_ACCOUNT: {
    ...byBankName('JMD_ACCOUNT', 'National Commercial Bank Jamaica', '351234567', {
      branchCode: '00012',
      bankAccountType: 'SAVINGS',
    }),
    beneficiary: { ...person, phoneNumber: '+18765551234', address: { ...address, city: 'Kingston', country: 'JM' } },
  },
  KES_ACCOUNT: mobile('KES_ACCOUNT', '+254712345678', 'M-PESA'),
  MWK_ACCOUNT: mobile('MWK_ACCOUNT', '+265991234567', 'Airtel Money'),
  MXN_ACCOUNT: { accountType: 'MXN_ACCOUNT', clabeNumber: '032180000118359719', beneficiary: person },
  MYR_ACCOUNT: bySwiftCode('MYR_ACCOUNT', 'Maybank', 'MBBEMYKL'),
  NGN_ACCOUNT: byBankName('NGN_ACCOUNT', 'Guaranty Trust Bank', '0123456789'),
  PHP_ACCOUNT: byBankName('PHP_ACCOUNT', 'BDO Unibank', '001234567890'),
  PKR_ACCOUNT: byBankName('PKR_ACCOUNT', 'Habib Bank', '12345678901234'),
  RWF_ACCOUNT: mobile('RWF_ACCOUNT', '+250788123456', 'MTN MoMo'),
  SGD_ACCOUNT: bySwiftCode('SGD_ACCOUNT', 'DBS Bank', 'DBSSSGSG'),
  SLV_ACCOUNT: byBankName('SLV_ACCOUNT', 'Banco Agrícola', '003500123456', { bankAccountType: 'SAVINGS' }),
  SWIFT_ACCOUNT: bySwiftCode('SWIFT_ACCOUNT', 'Mizuho Bank', 'MHCBJPJT', { country: 'JP' }),
  THB_ACCOUNT: bySwiftCode('THB_ACCOUNT', 'Bangkok Bank', 'BKKBTHBK'),
  TZS_ACCOUNT: mobile('TZS_ACCOUNT', '+255754123456', 'M-Pesa'),
  UGX_ACCOUNT: mobile('UGX_ACCOUNT', '+256772123456', 'MTN MoMo'),
  USD_ACCOUNT: {
    accountType: 'USD_ACCOUNT',
    accountNumber: '123456789',
    routingNumber: '021000021',
    bankAccountType: 'CHECKING',
    bankName: 'JPMorgan Chase',
    beneficiary: person,
  },
  VND_ACCOUNT: bySwiftCode('VND_ACCOUNT', 'Vietcombank', 'BFTVVNVX'),
  XAF_ACCOUNT: mobile('XAF_ACCOUNT', '+237671234567', 'MTN MoMo', { region: 'CM' }),
  XOF_ACCOUNT: mobile('XOF_ACCOUNT', '+221771234567', 'Orange Money', { region: 'SN' }),
  ZAR_ACCOUNT: byBankName('ZAR_ACCOUNT', 'Capitec Bank', '1234567890'),
  ZMW_ACCOUNT: mobile('ZMW_ACCOUNT', '+260971234567', 'MTN MoMo'),
  BASE_WALLET: { accountType: 'BASE_WALLET', address: evm },
  ETHEREUM_WALLET: { accountType: 'ETHEREUM_WALLET', address: evm },
  LIGHTNING: { accountType: 'LIGHTNING', lightningAddress: 'amina@example.com' },
  POLYGON_WALLET: { accountType: 'POLYGON_WALLET', address: evm },
  PLASMA_WALLET: { accountType: 'PLASMA_WALLET', address: evm },
  SOLANA_WALLET: { accountType: 'SOLANA_WALLET', address: '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU' },
  SPARK_WALLET: {
    accountType: 'SPARK_WALLET',
    address: 'sp1pgssyele0qrcjdheeq2a0zmpwdwvj3r4f4stkuju0fp36g6grapv2w7ltce4pm',
  },
  TRON_WALLET: { accountType: 'TRON_WALLET', address: 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8' },
};

/** The currency that goes with each example, where the type leaves a choice. */
export const exampleCurrencies: Partial<Record<AccountType, string>> = { SWIFT_ACCOUNT: 'JPY' };

/**
 * The example of a type with another suffix (3 digits) on its primary identifier. Check digits are made to fit:
 * an IBAN's are computed, for a CLABE an earlier digit is found. An EVM address is in lower case, which carries no
 * checksum. For Solana, TRON and Spark no address can end so (base58 has no 0, bech32 has no 1): those end in the
 * suffix all the same and are what the sandbox accepts, `checkAccountInfo(..., { sandbox: true })`.
 */
export function withSuffix(accountType: AccountType, suffix: string): AccountInfo {
  const info = accountExamples[accountType];
  const [user, ...domain] = primaryIdentifier(info).split('@') as [string, ...string[]];
  const changed = [user.slice(0, -3) + suffix, ...domain].join('@');
  const field = identifierField(info)!;
  return { ...info, [field]: withCheckDigits(field, changed) };
}

function withCheckDigits(field: string, identifier: string): string {
  if (field === 'iban')
    return composeIBAN({ countryCode: identifier.slice(0, 2), bban: identifier.slice(4) }) ?? identifier;
  if (field !== 'clabeNumber') return identifier;
  const candidates = Array.from({ length: 10 }, (_, digit) => identifier.slice(0, 14) + digit + identifier.slice(15));
  return candidates.find((clabe) => clabe.endsWith(clabeCheckDigit(clabe))) ?? identifier;
}
