/** A name, or [the name requests use, the name people know]. */
type Name = string | readonly [bankName: string, displayName: string];

/**
 * Well-known banks and mobile-money operators by currency and country (ISO 4217, ISO 3166-1 alpha-2). The list is not
 * complete and says nothing of any institution's part in this platform.
 */
export const institutionTable: Readonly<Record<string, Readonly<Record<string, readonly Name[]>>>> = {
  AED: {
    AE: [
      'Abu Dhabi Commercial Bank',
      'Dubai Islamic Bank',
      'Emirates NBD',
      ['First Abu Dhabi Bank', 'First Abu Dhabi Bank (FAB)'],
      'Mashreq Bank',
    ],
  },
  BDT: {
    BD: [
      'BRAC Bank',
      ['bKash', 'bKash (mobile money)'],
      'Dutch-Bangla Bank',
      'Islami Bank Bangladesh',
      ['Nagad', 'Nagad (mobile money)'],
      'Sonali Bank',
    ],
  },
  BRL: {
    BR: [
      'Banco Bradesco',
      'Banco do Brasil',
      'Caixa Econômica Federal',
      ['Itaú Unibanco', 'Itaú'],
      ['Nu Pagamentos', 'Nubank'],
      'Santander Brasil',
    ],
  },
  BWP: {
    BW: [
      ['Mascom MyZaka', 'MyZaka (Mascom)'],
      ['Orange Money', 'Orange Money Botswana'],
      ['BTC Smega', 'Smega (BTC)'],
    ],
  },
  CAD: {
    CA: [
      'Bank of Montreal',
      ['Canadian Imperial Bank of Commerce', 'CIBC'],
      'National Bank of Canada',
      'Royal Bank of Canada',
      ['Bank of Nova Scotia', 'Scotiabank'],
      ['Toronto-Dominion Bank', 'TD Canada Trust'],
    ],
  },
  CNY: {
    CN: [
      'Agricultural Bank of China',
      ['Alipay', 'Alipay (mobile wallet)'],
      'Bank of China',
      'China Construction Bank',
      'China Merchants Bank',
      ['Industrial and Commercial Bank of China', 'ICBC'],
      ['WeChat Pay', 'WeChat Pay (mobile wallet)'],
    ],
  },
  COP: {
    CO: [
      'Banco Davivienda',
      'Banco de Bogotá',
      'Bancolombia',
      'BBVA Colombia',
      ['DaviPlata', 'DaviPlata (mobile money)'],
      ['Nequi', 'Nequi (mobile money)'],
    ],
  },
  DKK: { DK: ['Danske Bank', 'Jyske Bank', 'Nordea Danmark', 'Nykredit Bank', 'Sydbank'] },
  EGP: {
    EG: [
      'Banque Misr',
      ['Commercial International Bank', 'CIB Egypt'],
      'National Bank of Egypt',
      'QNB Egypt',
      ['Vodafone Cash', 'Vodafone Cash (mobile money)'],
    ],
  },
  EUR: {
    AT: ['Erste Bank', 'Raiffeisen Bank International'],
    BE: ['Belfius Bank', 'KBC Bank'],
    DE: ['Commerzbank', 'Deutsche Bank', ['DZ Bank', 'DZ BANK'], 'N26'],
    ES: ['Banco Santander', 'BBVA', 'CaixaBank'],
    FI: ['Nordea Bank', 'OP Financial Group'],
    FR: ['BNP Paribas', 'Crédit Agricole', 'Société Générale'],
    IE: ['Allied Irish Banks', 'Bank of Ireland'],
    IT: ['Intesa Sanpaolo', 'UniCredit'],
    LT: ['Revolut Bank'],
    NL: ['ABN AMRO', 'ING Bank', 'Rabobank'],
    PT: ['Caixa Geral de Depósitos', 'Millennium BCP'],
  },
  GBP: { GB: ['Barclays', 'HSBC UK', 'Lloyds Bank', 'Monzo Bank', 'NatWest', 'Santander UK', 'Starling Bank'] },
  GHS: {
    GH: [
      ['AirtelTigo Money', 'AirtelTigo Money (mobile money)'],
      'Absa Bank Ghana',
      'Ecobank Ghana',
      'GCB Bank',
      ['MTN MoMo', 'MTN Mobile Money'],
      ['Telecel Cash', 'Telecel Cash (mobile money)'],
    ],
  },
  GTQ: {
    GT: [
      'BAC Credomatic',
      'Banco Agromercantil',
      'Banco de Desarrollo Rural',
      'Banco G&T Continental',
      'Banco Industrial',
    ],
  },
  HKD: {
    HK: [
      'Bank of China (Hong Kong)',
      'Bank of East Asia',
      'Hang Seng Bank',
      ['HSBC', 'HSBC Hong Kong'],
      'Standard Chartered Hong Kong',
    ],
  },
  HTG: {
    HT: [
      ['MonCash', 'MonCash (Digicel)'],
      ['NatCash', 'NatCash (Natcom)'],
    ],
  },
  IDR: {
    ID: [
      ['Bank Central Asia', 'BCA'],
      'Bank Mandiri',
      ['Bank Negara Indonesia', 'BNI'],
      ['Bank Rakyat Indonesia', 'BRI'],
      'CIMB Niaga',
    ],
  },
  ILS: {
    IL: [
      'Bank Hapoalim',
      'Bank Leumi',
      ['First International Bank of Israel', 'First International Bank'],
      ['Israel Discount Bank', 'Discount Bank'],
      ['Mizrahi Tefahot Bank', 'Mizrahi Tefahot'],
      ['One Zero Digital Bank', 'ONE ZERO'],
    ],
  },
  INR: {
    IN: ['Axis Bank', 'HDFC Bank', 'ICICI Bank', 'Kotak Mahindra Bank', 'Punjab National Bank', 'State Bank of India'],
  },
  JMD: {
    JM: ['JN Bank', ['National Commercial Bank Jamaica', 'NCB Jamaica'], 'Sagicor Bank Jamaica', 'Scotiabank Jamaica'],
  },
  KES: {
    KE: [
      ['Airtel Money', 'Airtel Money Kenya'],
      ['M-PESA', 'M-PESA (Safaricom)'],
      ['T-Kash', 'T-Kash (Telkom)'],
    ],
  },
  MWK: {
    MW: [
      ['Airtel Money', 'Airtel Money Malawi'],
      ['TNM Mpamba', 'Mpamba (TNM)'],
    ],
  },
  MXN: {
    MX: [
      'Banorte',
      ['BBVA México', 'BBVA'],
      ['Citibanamex', 'Banamex'],
      'HSBC México',
      'Nu México',
      'Santander México',
      ['STP', 'Sistema de Transferencias y Pagos (STP)'],
    ],
  },
  MYR: { MY: ['CIMB Bank', 'Hong Leong Bank', 'Maybank', 'Public Bank', 'RHB Bank'] },
  NGN: {
    NG: [
      'Access Bank',
      'First Bank of Nigeria',
      ['Guaranty Trust Bank', 'GTBank'],
      'Moniepoint',
      'OPay',
      ['United Bank for Africa', 'UBA'],
      'Zenith Bank',
    ],
  },
  PHP: {
    PH: [
      'BDO Unibank',
      ['BPI', 'Bank of the Philippine Islands'],
      ['GCash', 'GCash (e-wallet)'],
      'Land Bank of the Philippines',
      ['Maya Bank', 'Maya'],
      ['Metrobank', 'Metropolitan Bank and Trust Company'],
      'Security Bank',
    ],
  },
  PKR: {
    PK: [
      'Bank Alfalah',
      ['Easypaisa', 'Easypaisa (mobile money)'],
      ['Habib Bank', 'HBL'],
      ['JazzCash', 'JazzCash (mobile money)'],
      'MCB Bank',
      'Meezan Bank',
      ['United Bank', 'UBL'],
    ],
  },
  RWF: {
    RW: [
      ['Airtel Money', 'Airtel Money Rwanda'],
      ['MTN MoMo', 'MTN Mobile Money Rwanda'],
    ],
  },
  SGD: {
    SG: [
      'DBS Bank',
      ['Oversea-Chinese Banking Corporation', 'OCBC'],
      'Standard Chartered Singapore',
      ['United Overseas Bank', 'UOB'],
    ],
  },
  THB: {
    TH: [
      'Bangkok Bank',
      ['Kasikornbank', 'KBank'],
      ['Krungthai Bank', 'KTB'],
      ['Siam Commercial Bank', 'SCB'],
      'TMBThanachart Bank',
    ],
  },
  TZS: {
    TZ: [
      ['Airtel Money', 'Airtel Money Tanzania'],
      ['HaloPesa', 'HaloPesa (Halotel)'],
      ['M-Pesa', 'M-Pesa (Vodacom)'],
      ['Mixx by Yas', 'Mixx by Yas (formerly Tigo Pesa)'],
    ],
  },
  UGX: {
    UG: [
      ['Airtel Money', 'Airtel Money Uganda'],
      ['MTN MoMo', 'MTN Mobile Money Uganda'],
    ],
  },
  USD: {
    SV: [
      ['Banco Agrícola', 'Bancoagrícola'],
      'Banco Cuscatlán',
      'Banco Davivienda Salvadoreño',
      ['Tigo Money', 'Tigo Money El Salvador'],
    ],
    US: [
      'Bank of America',
      'Capital One',
      'Citibank',
      ['JPMorgan Chase', 'Chase'],
      'PNC Bank',
      'U.S. Bank',
      'Wells Fargo',
    ],
  },
  VND: {
    VN: [
      'Agribank',
      ['BIDV', 'Bank for Investment and Development of Vietnam'],
      'Techcombank',
      'Vietcombank',
      'VietinBank',
    ],
  },
  XAF: {
    CG: [
      ['Airtel Money', 'Airtel Money Congo'],
      ['MTN MoMo', 'MTN Mobile Money Congo'],
    ],
    CM: [
      ['MTN MoMo', 'MTN Mobile Money Cameroon'],
      ['Orange Money', 'Orange Money Cameroon'],
    ],
  },
  XOF: {
    BJ: [
      ['Moov Money', 'Moov Money Benin'],
      ['MTN MoMo', 'MTN Mobile Money Benin'],
    ],
    CI: [
      ['Moov Money', "Moov Money Côte d'Ivoire"],
      ['MTN MoMo', "MTN Mobile Money Côte d'Ivoire"],
      ['Orange Money', "Orange Money Côte d'Ivoire"],
      ['Wave', "Wave Côte d'Ivoire"],
    ],
    SN: [
      ['Free Money', 'Free Money Senegal'],
      ['Orange Money', 'Orange Money Senegal'],
      ['Wave', 'Wave Senegal'],
    ],
    TG: [
      ['Mixx by Yas', 'Mixx by Yas Togo (formerly T-Money)'],
      ['Moov Money', 'Moov Money Togo'],
    ],
  },
  ZAR: { ZA: ['Absa Bank', 'Capitec Bank', ['First National Bank', 'FNB'], 'Nedbank', 'Standard Bank'] },
  ZMW: {
    ZM: [
      ['Airtel Money', 'Airtel Money Zambia'],
      ['MTN MoMo', 'MTN Mobile Money Zambia'],
      ['Zamtel Money', 'Zamtel Money (mobile money)'],
    ],
  },
};
