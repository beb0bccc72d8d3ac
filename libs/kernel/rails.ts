/** The payment rails of the API (`PaymentRail`). */
export const paymentRails = [
  'ACH',
  'ACH_COLOMBIA',
  'BANK_TRANSFER',
  'BRE_B',
  'CIPS',
  'FAST',
  'FASTER_PAYMENTS',
  'FEDNOW',
  'INSTAPAY',
  'MOBILE_MONEY',
  'NEFT',
  'PAYNOW',
  'PESONET',
  'PIX',
  'RTGS',
  'RTP',
  'SEPA',
  'SEPA_INSTANT',
  'SPEI',
  'SWIFT',
  'UNIONPAY',
  'UPI',
  'WIRE',
] as const;

/** The networks that crypto currencies travel on (`CryptoNetwork`, with LIGHTNING as quotes know it). */
export const cryptoNetworks = [
  'BITCOIN',
  'ETHEREUM',
  'SOLANA',
  'BASE',
  'POLYGON',
  'TRON',
  'PLASMA',
  'SPARK',
  'LIGHTNING',
] as const;

export type PaymentRail = (typeof paymentRails)[number];
export type CryptoNetwork = (typeof cryptoNetworks)[number];

/** How money reaches an account: a rail for fiat, a network for crypto. */
export type Rail = PaymentRail | CryptoNetwork;
