import type { CryptoNetwork } from '../kernel/rails.ts';

/** One way to send money; `{reference}` stands for the payment's reference. */
type Way = Readonly<{ accountType: string; [field: string]: unknown }>;

/**
 * Where the sandbox has money sent that a quote waits for, one way per kind of account and rail (facts §4). No bank knows these accounts.
 * Currencies without an account type of their own go over SWIFT.
 */
export const fiatWays: Readonly<Record<string, readonly Way[]>> = {
  AED: [
    {
      accountType: 'AED_ACCOUNT',
      iban: 'AE070331234567890123456',
      swiftCode: 'EBILAEAD',
      paymentRails: ['BANK_TRANSFER'],
    },
  ],
  ARS: [{ accountType: 'ARS_ACCOUNT', accountNumber: '9990000000000000000017' }],
  BDT: [
    {
      accountType: 'BDT_ACCOUNT',
      bankName: 'BRAC Bank',
      accountNumber: '1501204567890',
      branchCode: '26543',
      paymentRails: ['BANK_TRANSFER'],
    },
    { accountType: 'BDT_ACCOUNT', bankName: 'bKash', phoneNumber: '+8801712345678', paymentRails: ['MOBILE_MONEY'] },
  ],
  BRL: [{ accountType: 'BRL_ACCOUNT', qrCode: 'pix-sandbox:{reference}' }],
  BWP: [
    {
      accountType: 'BWP_ACCOUNT',
      phoneNumber: '+26771234567',
      provider: 'Orange Money',
      paymentRails: ['MOBILE_MONEY'],
    },
  ],
  CAD: [
    {
      accountType: 'CAD_ACCOUNT',
      bankCode: '003',
      branchCode: '00012',
      accountNumber: '1234567',
      paymentRails: ['BANK_TRANSFER'],
    },
  ],
  CNY: [
    {
      accountType: 'CNY_ACCOUNT',
      bankName: 'Bank of China',
      accountNumber: '6216610100012345678',
      paymentRails: ['BANK_TRANSFER'],
    },
    { accountType: 'CNY_ACCOUNT', bankName: 'Alipay', phoneNumber: '+8613812345678', paymentRails: ['MOBILE_MONEY'] },
  ],
  COP: [{ accountType: 'COP_ACCOUNT', paymentUrl: 'https://ledgerline.example/pay/{reference}' }],
  DKK: [{ accountType: 'DKK_ACCOUNT', iban: 'DK5000400440116243', paymentRails: ['SEPA', 'SEPA_INSTANT'] }],
  EGP: [
    {
      accountType: 'EGP_ACCOUNT',
      iban: 'EG380019000500000000263180002',
      bankName: 'Banque Misr',
      paymentRails: ['BANK_TRANSFER'],
    },
    {
      accountType: 'EGP_ACCOUNT',
      bankName: 'Vodafone Cash',
      phoneNumber: '+201012345678',
      paymentRails: ['MOBILE_MONEY'],
    },
  ],
  EUR: [
    {
      accountType: 'EUR_ACCOUNT',
      iban: 'DE49999999990000000017',
      swiftCode: 'LEDGDEFF',
      paymentRails: ['SEPA', 'SEPA_INSTANT'],
    },
  ],
  GBP: [
    { accountType: 'GBP_ACCOUNT', sortCode: '999999', accountNumber: '00000017', paymentRails: ['FASTER_PAYMENTS'] },
  ],
  GHS: [
    {
      accountType: 'GHS_ACCOUNT',
      bankName: 'GCB Bank',
      accountNumber: '1020304050607',
      paymentRails: ['BANK_TRANSFER'],
    },
    { accountType: 'GHS_ACCOUNT', bankName: 'MTN MoMo', phoneNumber: '+233241234567', paymentRails: ['MOBILE_MONEY'] },
  ],
  GTQ: [
    {
      accountType: 'GTQ_ACCOUNT',
      bankName: 'Banco Industrial',
      accountNumber: '0200012345678',
      bankAccountType: 'CHECKING',
      paymentRails: ['BANK_TRANSFER'],
    },
  ],
  HKD: [
    {
      accountType: 'HKD_ACCOUNT',
      bankName: 'HSBC',
      accountNumber: '1234567890',
      swiftCode: 'HSBCHKHH',
      paymentRails: ['BANK_TRANSFER'],
    },
  ],
  HTG: [{ accountType: 'HTG_ACCOUNT', phoneNumber: '+50934123456', paymentRails: ['MOBILE_MONEY'] }],
  IDR: [
    {
      accountType: 'IDR_ACCOUNT',
      bankName: 'Bank Central Asia',
      accountNumber: '1234567890',
      swiftCode: 'CENAIDJA',
      phoneNumber: '+6281234567890',
      paymentRails: ['BANK_TRANSFER'],
    },
  ],
  ILS: [
    {
      accountType: 'ILS_ACCOUNT',
      iban: 'IL620108000000099999999',
      bankName: 'Bank Leumi',
      paymentRails: ['BANK_TRANSFER'],
    },
  ],
  INR: [
    { accountType: 'INR_ACCOUNT', vpa: '{reference}@ledgerline', paymentRails: ['UPI'] },
    {
      accountType: 'INR_ACCOUNT',
      accountNumber: '999900000001',
      ifsc: 'LEDG0000001',
      rail: 'NEFT',
      bankName: 'Ledgerline Sandbox Bank',
      paymentRails: ['NEFT', 'RTGS'],
    },
  ],
  JMD: [
    {
      accountType: 'JMD_ACCOUNT',
      bankName: 'National Commercial Bank Jamaica',
      accountNumber: '351234567',
      branchCode: '00012',
      bankAccountType: 'SAVINGS',
      paymentRails: ['BANK_TRANSFER'],
    },
  ],
  KES: [
    { accountType: 'KES_ACCOUNT', phoneNumber: '+254712345678', provider: 'M-PESA', paymentRails: ['MOBILE_MONEY'] },
  ],
  MWK: [
    {
      accountType: 'MWK_ACCOUNT',
      phoneNumber: '+265991234567',
      provider: 'Airtel Money',
      paymentRails: ['MOBILE_MONEY'],
    },
  ],
  MXN: [{ accountType: 'MXN_ACCOUNT', clabeNumber: '032180000118359719', paymentRails: ['SPEI'] }],
  MYR: [
    {
      accountType: 'MYR_ACCOUNT',
      bankName: 'Maybank',
      accountNumber: '1234567890',
      swiftCode: 'MBBEMYKL',
      paymentRails: ['BANK_TRANSFER'],
    },
  ],
  NGN: [
    {
      accountType: 'NGN_ACCOUNT',
      bankName: 'Guaranty Trust Bank',
      accountNumber: '0123456789',
      paymentRails: ['BANK_TRANSFER'],
    },
  ],
  PHP: [
    {
      accountType: 'PHP_ACCOUNT',
      bankName: 'BDO Unibank',
      accountNumber: '001234567890',
      paymentRails: ['BANK_TRANSFER'],
    },
  ],
  PKR: [
    {
      accountType: 'PKR_ACCOUNT',
      bankName: 'Habib Bank',
      accountNumber: '12345678901234',
      paymentRails: ['BANK_TRANSFER'],
    },
    { accountType: 'PKR_ACCOUNT', bankName: 'Easypaisa', phoneNumber: '+923001234567', paymentRails: ['MOBILE_MONEY'] },
  ],
  RWF: [
    { accountType: 'RWF_ACCOUNT', phoneNumber: '+250788123456', provider: 'MTN MoMo', paymentRails: ['MOBILE_MONEY'] },
  ],
  SGD: [
    {
      accountType: 'SGD_ACCOUNT',
      bankName: 'DBS Bank',
      accountNumber: '1234567890',
      swiftCode: 'DBSSSGSG',
      paymentRails: ['PAYNOW', 'FAST', 'BANK_TRANSFER'],
    },
  ],
  THB: [
    {
      accountType: 'THB_ACCOUNT',
      bankName: 'Bangkok Bank',
      accountNumber: '1234567890',
      swiftCode: 'BKKBTHBK',
      paymentRails: ['BANK_TRANSFER'],
    },
  ],
  TZS: [
    { accountType: 'TZS_ACCOUNT', phoneNumber: '+255754123456', provider: 'M-Pesa', paymentRails: ['MOBILE_MONEY'] },
  ],
  UGX: [
    { accountType: 'UGX_ACCOUNT', phoneNumber: '+256772123456', provider: 'MTN MoMo', paymentRails: ['MOBILE_MONEY'] },
  ],
  USD: [
    {
      accountType: 'USD_ACCOUNT',
      accountNumber: '990000000017',
      routingNumber: '011999993',
      bankAccountType: 'CHECKING',
      bankName: 'Ledgerline Sandbox Bank',
      bankAddress: '1 Sandbox Street, New York, NY 10001',
      paymentRails: ['ACH', 'WIRE', 'RTP', 'FEDNOW'],
    },
  ],
  VND: [
    {
      accountType: 'VND_ACCOUNT',
      bankName: 'Vietcombank',
      accountNumber: '1234567890',
      swiftCode: 'BFTVVNVX',
      paymentRails: ['BANK_TRANSFER'],
    },
  ],
  XAF: [
    {
      accountType: 'XAF_ACCOUNT',
      phoneNumber: '+237671234567',
      provider: 'MTN MoMo',
      region: 'CM',
      paymentRails: ['MOBILE_MONEY'],
    },
  ],
  XOF: [
    {
      accountType: 'XOF_ACCOUNT',
      phoneNumber: '+221771234567',
      provider: 'Orange Money',
      region: 'SN',
      paymentRails: ['MOBILE_MONEY'],
    },
  ],
  ZAR: [
    {
      accountType: 'ZAR_ACCOUNT',
      bankName: 'Capitec Bank',
      accountNumber: '1234567890',
      paymentRails: ['BANK_TRANSFER'],
    },
  ],
  ZMW: [
    { accountType: 'ZMW_ACCOUNT', phoneNumber: '+260971234567', provider: 'MTN MoMo', paymentRails: ['MOBILE_MONEY'] },
  ],
};

/** For every currency that is not in the table. */
export const swiftWay: Way = {
  accountType: 'SWIFT_ACCOUNT',
  country: 'DE',
  swiftCode: 'LEDGDEFF',
  bankName: 'Ledgerline Sandbox Bank',
  accountNumber: '990000000017',
  accountHolderName: 'Ledgerline Sandbox',
  paymentRails: ['SWIFT'],
};

/** Kinds of account that carry no reference: a code, a link or an alias leads the money there. */
export const withoutReference: readonly string[] = ['ARS_ACCOUNT', 'BRL_ACCOUNT', 'COP_ACCOUNT', 'INR_ACCOUNT'];

const evm = '0x52908400098527886e0f7030069857d2e4169ee7';
const solana = '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU';
const spark = 'sparkrt1pgss95u8fn3q6wpcdmk9uxzj35vrwk3mne73d8887llj2csarrslr2w0p3g8fu';
/** The example of BOLT 11 for any amount. */
const invoice =
  'lnbc1pvjluezsp5zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zygspp5qqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqypqdpl2pkx2ctnv5sxxmmwwd5kgetjypeh2ursdae8g6twvus8g6rfwvs8qun0dfjkxaq9qrsgq357wnc5r2ueh7ck6q93dj32dlqnls087fxdwk8qakdyafkq3yap9us6v52vjjsrvywa6rt52cm9r9zqt8r2t7mlcwspyetp5h2tztugp9lfyql';

/** Where crypto is to be sent, by asset and network. */
export const cryptoWays: Readonly<Record<string, Partial<Readonly<Record<CryptoNetwork, Way>>>>> = {
  BTC: {
    BITCOIN: { accountType: 'BITCOIN_L1', address: 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx', network: 'BITCOIN' },
    SPARK: { accountType: 'SPARK_WALLET', address: spark, assetType: 'BTC', invoice },
    LIGHTNING: { accountType: 'LIGHTNING', invoice },
  },
  USDB: { SPARK: { accountType: 'SPARK_WALLET', address: spark, assetType: 'USDB' } },
  USDC: {
    SOLANA: { accountType: 'SOLANA_WALLET', address: solana, assetType: 'USDC' },
    ETHEREUM: { accountType: 'ETHEREUM_WALLET', address: evm, assetType: 'USDC' },
    BASE: { accountType: 'BASE_WALLET', address: evm, assetType: 'USDC' },
    POLYGON: { accountType: 'POLYGON_WALLET', address: evm, assetType: 'USDC' },
    SPARK: { accountType: 'SPARK_WALLET', address: spark, assetType: 'USDC' },
  },
  USDT: {
    SOLANA: { accountType: 'SOLANA_WALLET', address: solana, assetType: 'USDT' },
    ETHEREUM: { accountType: 'ETHEREUM_WALLET', address: evm, assetType: 'USDT' },
    TRON: { accountType: 'TRON_WALLET', address: 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8', assetType: 'USDT' },
    PLASMA: { accountType: 'PLASMA_WALLET', address: evm, assetType: 'USDT' },
  },
};
