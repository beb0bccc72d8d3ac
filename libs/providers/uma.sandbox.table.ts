import type { ErrorCode } from '../kernel/errors.ts';
import type { PayerField, UmaCollectFailure, UmaPayoutFailure, UmaProviderEntry, VaspEntry } from './uma.port.ts';

/** The domain of everybody in the sandbox who is no customer of this deployment. */
export const SANDBOX_UMA_DOMAIN = 'sandbox.uma.money';

/** A receiver in the sandbox: what it takes, and what comes of a payment to it. */
export interface SandboxReceiver {
  currency: string;
  pendingMs?: number;
  fails?: UmaPayoutFailure;
  isRefundRefused?: true;
  requiredPayerFields?: readonly PayerField[];
}

/** Local parts at the sandbox's domain that can be paid (spec, Sandbox behavior; the last three are ours). */
export const receivers: Readonly<Record<string, SandboxReceiver>> = {
  '$success.usd': { currency: 'USD' },
  '$success.eur': { currency: 'EUR' },
  '$success.mxn': { currency: 'MXN' },
  '$pending.long.usd': { currency: 'USD', pendingMs: 360_000 },
  '$fail.compliance.usd': { currency: 'USD', fails: 'COMPLIANCE_REJECTED' },
  '$fail.delivery.usd': { currency: 'USD', fails: 'COUNTERPARTY_POST_TX_FAILED' },
  '$fail.refund.usd': { currency: 'USD', fails: 'COUNTERPARTY_POST_TX_FAILED', isRefundRefused: true },
  '$fields.usd': {
    currency: 'USD',
    requiredPayerFields: [
      { name: 'FULL_NAME', mandatory: true },
      { name: 'BIRTH_DATE', mandatory: true },
      { name: 'NATIONALITY', mandatory: false },
    ],
  },
};

/** Where a receiver's refusal shows: when it is looked up, or when a quote asks it to agree. */
type Stage = 'LOOKUP' | 'AGREEMENT';

/**
 * Local parts that lead to an error of UMA, each its code in lower case after `$error.`. Those that refuse at the agreement can be looked
 * up, and take USD.
 */
export const errors = {
  '$error.uma_not_found': ['UMA_NOT_FOUND', 'LOOKUP'],
  '$error.lnurlp_request_failed': ['LNURLP_REQUEST_FAILED', 'LOOKUP'],
  '$error.parse_lnurlp_response_error': ['PARSE_LNURLP_RESPONSE_ERROR', 'LOOKUP'],
  '$error.lookup_request_failed': ['LOOKUP_REQUEST_FAILED', 'LOOKUP'],
  '$error.unsupported_uma_version': ['UNSUPPORTED_UMA_VERSION', 'LOOKUP'],
  '$error.no_compatible_uma_version': ['NO_COMPATIBLE_UMA_VERSION', 'LOOKUP'],
  '$error.counterparty_pubkey_fetch_error': ['COUNTERPARTY_PUBKEY_FETCH_ERROR', 'LOOKUP'],
  '$error.invalid_pubkey_format': ['INVALID_PUBKEY_FORMAT', 'LOOKUP'],
  '$error.cert_chain_invalid': ['CERT_CHAIN_INVALID', 'LOOKUP'],
  '$error.cert_chain_expired': ['CERT_CHAIN_EXPIRED', 'LOOKUP'],
  '$error.invalid_signature': ['INVALID_SIGNATURE', 'LOOKUP'],
  '$error.invalid_timestamp': ['INVALID_TIMESTAMP', 'LOOKUP'],
  '$error.invalid_nonce': ['INVALID_NONCE', 'LOOKUP'],
  '$error.invalid_receiver': ['INVALID_RECEIVER', 'LOOKUP'],
  '$error.missing_required_uma_parameters': ['MISSING_REQUIRED_UMA_PARAMETERS', 'LOOKUP'],
  '$error.invalid_request_format': ['INVALID_REQUEST_FORMAT', 'LOOKUP'],
  '$error.service_switch_error': ['SERVICE_SWITCH_ERROR', 'LOOKUP'],
  '$error.payreq_request_failed': ['PAYREQ_REQUEST_FAILED', 'AGREEMENT'],
  '$error.invalid_payreq_response': ['INVALID_PAYREQ_RESPONSE', 'AGREEMENT'],
  '$error.parse_payreq_response_error': ['PARSE_PAYREQ_RESPONSE_ERROR', 'AGREEMENT'],
  '$error.unrecognized_mandatory_payee_data_key': ['UNRECOGNIZED_MANDATORY_PAYEE_DATA_KEY', 'AGREEMENT'],
  '$error.sender_not_accepted': ['SENDER_NOT_ACCEPTED', 'AGREEMENT'],
  '$error.counterparty_not_allowed': ['COUNTERPARTY_NOT_ALLOWED', 'AGREEMENT'],
  '$error.velocity_limit_exceeded': ['VELOCITY_LIMIT_EXCEEDED', 'AGREEMENT'],
  '$error.quote_request_failed': ['QUOTE_REQUEST_FAILED', 'AGREEMENT'],
  '$error.invalid_currency': ['INVALID_CURRENCY', 'AGREEMENT'],
  '$error.invalid_amount': ['INVALID_AMOUNT', 'AGREEMENT'],
  '$error.missing_mandatory_user_info': ['MISSING_MANDATORY_USER_INFO', 'AGREEMENT'],
} as const satisfies Readonly<Record<string, readonly [ErrorCode, Stage]>>;

/** What comes of a payment from a local part at the sandbox's domain; anybody else pays (`POST /sandbox/uma/receive`). */
export const senders: Readonly<
  Record<string, { fails?: UmaCollectFailure; pendingMs?: number; isRefundRefused?: true }>
> = {
  '$pending.long.usd': { pendingMs: 360_000 },
  '$fail.compliance.usd': { fails: 'COMPLIANCE_REJECTED' },
  '$fail.lnurlp': { fails: 'LNURLP_FAILED' },
  '$fail.payreq': { fails: 'PAY_REQUEST_FAILED' },
  '$fail.collection': { fails: 'COLLECTION_FAILED' },
  '$fail.expired': { fails: 'QUOTE_EXPIRED' },
  '$fail.execution': { fails: 'QUOTE_EXECUTION_FAILED' },
  '$fail.refund': { isRefundRefused: true },
};

const logo = (domain: string) => `https://${domain}/logo.svg`;

/** Providers as the sandbox knows them, in the order of their names. */
export const providers: readonly UmaProviderEntry[] = [
  {
    name: 'Blocked Pay',
    domain: 'blocked.uma.money',
    supportedRegions: ['KP'],
    supportedCurrencies: ['USD'],
    logoUrl: logo('blocked.uma.money'),
    lei: '5493000000000000BL00',
    isAllowed: false,
  },
  {
    name: 'Euro Wallet',
    domain: 'eu.uma.money',
    supportedRegions: ['DE', 'ES', 'FR', 'IE', 'IT', 'NL'],
    supportedCurrencies: ['EUR'],
    logoUrl: logo('eu.uma.money'),
    lei: '5493000000000000EU00',
    isAllowed: true,
  },
  {
    name: 'Peso Directo',
    domain: 'mx.uma.money',
    supportedRegions: ['MX'],
    supportedCurrencies: ['MXN', 'USD'],
    logoUrl: logo('mx.uma.money'),
    lei: '5493000000000000MX00',
    isAllowed: true,
  },
  {
    name: 'Sandbox',
    domain: SANDBOX_UMA_DOMAIN,
    supportedRegions: ['DE', 'MX', 'US'],
    supportedCurrencies: ['EUR', 'MXN', 'USD'],
    logoUrl: logo(SANDBOX_UMA_DOMAIN),
    lei: '5493000000000000SB00',
    isAllowed: true,
  },
];

/** Custodians of wallets, in the order of their names. */
export const vasps: readonly VaspEntry[] = [
  { name: 'Binance', url: 'https://www.binance.com' },
  { name: 'Bitstamp', url: 'https://www.bitstamp.net' },
  { name: 'Coinbase', url: 'https://www.coinbase.com' },
  { name: 'Gemini', url: 'https://www.gemini.com' },
  { name: 'Kraken', url: 'https://www.kraken.com' },
];
