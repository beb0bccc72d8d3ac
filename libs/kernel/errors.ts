/** The error chapter of the spec as one literal: code → HTTP status and default message. */
const catalogue = {
  INVALID_INPUT: [400, 'The request is invalid.'],
  END_USER_TERMS_VERSION_NOT_FOUND: [400, 'This version of the end-user terms does not exist.'],
  MISSING_MANDATORY_USER_INFO: [400, 'Mandatory information about the user is missing.'],
  INVITATION_ALREADY_CLAIMED: [400, 'The invitation has already been claimed.'],
  INVITATIONS_NOT_CONFIGURED: [400, 'Invitations are not configured for this platform.'],
  INVALID_UMA_ADDRESS: [400, 'The UMA address is invalid.'],
  INVITATION_CANCELLED: [400, 'The invitation has been cancelled.'],
  QUOTE_REQUEST_FAILED: [400, 'The quote could not be made. Try again.'],
  INVALID_PAYREQ_RESPONSE: [400, 'The counterparty answered the payment request with something invalid.'],
  INVALID_RECEIVER: [400, 'The receiver is invalid.'],
  PARSE_PAYREQ_RESPONSE_ERROR: [400, "The counterparty's answer to the payment request cannot be read."],
  CERT_CHAIN_INVALID: [400, "The counterparty's certificate chain is invalid."],
  CERT_CHAIN_EXPIRED: [400, "The counterparty's certificate chain has expired."],
  INVALID_PUBKEY_FORMAT: [400, 'The public key has an invalid format.'],
  MISSING_REQUIRED_UMA_PARAMETERS: [400, 'Required UMA parameters are missing.'],
  SENDER_NOT_ACCEPTED: [400, 'The receiver does not accept this sender.'],
  AMOUNT_OUT_OF_RANGE: [400, 'The amount is outside the allowed range.'],
  INVALID_CURRENCY: [400, 'The currency is invalid here.'],
  INVALID_TIMESTAMP: [400, 'The timestamp is invalid.'],
  INVALID_NONCE: [400, 'The nonce is invalid.'],
  INVALID_REQUEST_FORMAT: [400, 'The request has an invalid format.'],
  INVALID_BANK_ACCOUNT: [400, 'The bank account is invalid.'],
  SELF_PAYMENT: [400, 'Source and destination are the same.'],
  LOOKUP_REQUEST_FAILED: [400, 'The receiver could not be looked up.'],
  PARSE_LNURLP_RESPONSE_ERROR: [400, "The counterparty's lookup answer cannot be read."],
  INVALID_AMOUNT: [400, 'The amount is invalid.'],
  WEBHOOK_ENDPOINT_NOT_SET: [400, 'The platform has no webhook endpoint.'],
  WEBHOOK_DELIVERY_ERROR: [400, 'The webhook could not be delivered.'],
  LOW_QUALITY: [400, 'The quality of the document is too low.'],
  DATA_MISMATCH: [400, 'The data do not match the document.'],
  EXPIRED: [400, 'The document has expired.'],
  SUSPECTED_FRAUD: [400, 'The document is suspected to be fraudulent.'],
  UNSUITABLE_DOCUMENT: [400, 'The document is not suitable.'],
  INCOMPLETE: [400, 'The document is incomplete.'],
  EMAIL_OTP_CREDENTIAL_ALREADY_EXISTS: [400, 'The account already has an EMAIL_OTP credential.'],
  SMS_OTP_CREDENTIAL_ALREADY_EXISTS: [400, 'The account already has an SMS_OTP credential.'],
  PASSKEY_CREDENTIAL_ALREADY_EXISTS: [400, 'This passkey is already registered.'],
  STABLECOIN_PROVIDER_ACCOUNT_INVALID: [400, 'The stablecoin provider account is invalid.'],
  STABLECOIN_PROVIDER_ACCOUNT_REVOKED: [400, 'The stablecoin provider account has been revoked.'],
  STABLECOIN_PROVIDER_ACCOUNT_SELECTION_REQUIRED: [400, 'Name one of the stablecoin provider accounts.'],
  CARDHOLDER_KYC_NOT_APPROVED: [400, "The cardholder's KYC is not approved."],
  TRANSACTION_SIZE_LIMIT_EXCEEDED: [400, 'The amount exceeds the maximum for a single transaction.'],
  EXTERNAL_ACCOUNT_VERIFICATION_REQUIRED: [400, 'Ownership of the destination must be verified first.'],

  UNAUTHORIZED: [401, 'The credentials are missing or wrong.'],
  INVALID_SIGNATURE: [401, 'The signature is invalid.'],
  WALLET_SIGNATURE_MISSING: [401, 'The Service-Wallet-Signature header is required.'],
  WALLET_SIGNATURE_MALFORMED: [401, 'The Service-Wallet-Signature header cannot be read.'],
  WALLET_SIGNATURE_BODY_MISMATCH: [401, 'The signature was made over a different body.'],
  WALLET_SIGNATURE_INVALID: [401, 'The wallet signature is invalid.'],
  REQUEST_ID_MISSING: [401, 'The Request-Id header is required on the signed retry.'],

  FORBIDDEN: [403, 'This is not allowed.'],
  USER_NOT_READY: [403, 'The customer is not ready for this.'],
  COUNTERPARTY_NOT_ALLOWED: [403, 'The counterparty is not allowed.'],
  VELOCITY_LIMIT_EXCEEDED: [403, 'A velocity limit is exceeded.'],
  END_USER_TERMS_NOT_ACCEPTED: [403, 'The customer has not accepted the end-user terms.'],

  TRANSACTION_NOT_FOUND: [404, 'There is no such transaction.'],
  INVITATION_NOT_FOUND: [404, 'There is no such invitation.'],
  USER_NOT_FOUND: [404, 'There is no such customer.'],
  QUOTE_NOT_FOUND: [404, 'There is no such quote.'],
  LOOKUP_REQUEST_NOT_FOUND: [404, 'There is no such lookup.'],
  TOKEN_NOT_FOUND: [404, 'There is no such token.'],
  BULK_UPLOAD_JOB_NOT_FOUND: [404, 'There is no such bulk upload job.'],
  REFERENCE_NOT_FOUND: [404, 'There is no such resource.'],
  UMA_NOT_FOUND: [404, 'There is no such UMA address.'],
  STABLECOIN_PROVIDER_ACCOUNT_NOT_FOUND: [404, 'There is no such stablecoin provider account.'],

  METHOD_NOT_ALLOWED: [405, 'This method is not allowed here.'],

  TRANSACTION_NOT_PENDING_PLATFORM_APPROVAL: [409, 'The transaction is not waiting for approval by the platform.'],
  TRANSACTION_NOT_CANCELLABLE: [409, 'The transaction cannot be cancelled.'],
  UMA_ADDRESS_EXISTS: [409, 'The UMA address is taken.'],
  EMAIL_OTP_EMAIL_ALREADY_EXISTS: [409, 'The e-mail address is already used by another credential.'],
  EMAIL_OTP_CREDENTIAL_SET_CHANGED: [409, 'The tied credentials changed after the challenge was issued.'],
  PASSKEY_ALREADY_ENROLLED: [409, 'The customer already has a passkey.'],
  SCA_SESSION_REQUIRED: [409, 'The customer needs a valid SCA login session.'],
  BENEFICIARY_TRUSTED: [409, 'The account is a trusted beneficiary.'],
  INVALID_STATE_TRANSITION: [409, 'This state cannot be reached from the current one.'],
  CARD_ALREADY_CLOSED: [409, 'The card is already closed.'],
  CARD_NOT_MUTABLE: [409, 'A closed card cannot be changed.'],
  STABLECOIN_GRID_ENABLEMENT_NOT_REQUESTABLE: [409, 'Enablement cannot be requested in the current state.'],
  CONFLICT: [409, 'The request conflicts with the current state.'],

  CUSTOMER_DELETED: [410, 'The customer has been deleted.'],
  UNSUPPORTED_UMA_VERSION: [412, 'The UMA version is not supported.'],
  DOCUMENT_REJECTED: [422, 'The document was rejected.'],
  ACCOUNT_LOCKED: [423, 'The account is locked.'],

  PAYREQ_REQUEST_FAILED: [424, 'The payment request to the counterparty failed.'],
  COUNTERPARTY_PUBKEY_FETCH_ERROR: [424, "The counterparty's public key could not be fetched."],
  NO_COMPATIBLE_UMA_VERSION: [424, 'There is no UMA version that both sides support.'],
  LNURLP_REQUEST_FAILED: [424, 'The lookup at the counterparty failed.'],
  EMAIL_OTP_CREDENTIAL_SYNC_FAILED: [424, 'The credentials could not be updated.'],

  RATE_LIMITED: [429, 'Too many requests.'],
  DAILY_VOLUME_LIMIT_EXCEEDED: [429, 'The daily volume limit is exceeded.'],

  SERVICE_SWITCH_ERROR: [500, 'The service switch failed.'],
  INTERNAL_ERROR: [500, 'Something went wrong on our side.'],
  UNRECOGNIZED_MANDATORY_PAYEE_DATA_KEY: [501, 'The counterparty demands data that is not known here.'],
  NOT_IMPLEMENTED: [501, 'This is not available here.'],
  SERVICE_UNAVAILABLE: [503, 'The service is not available at the moment. Try again.'],
} as const satisfies Record<string, readonly [status: number, message: string]>;

/** Every error code of the API (spec, chapter Errors). */
export type ErrorCode = keyof typeof catalogue;

/** What a rejection says beyond its code: goes to `details` of the error body. */
export type ErrorDetails = Record<string, unknown>;

/** One invalid field of a request (spec, chapter Errors; decision 3). Further members carry the pattern, bounds or values. */
export interface FieldError {
  field: string;
  constraint:
    | 'REQUIRED'
    | 'TYPE'
    | 'FORMAT'
    | 'PATTERN'
    | 'ENUM'
    | 'MIN_LENGTH'
    | 'MAX_LENGTH'
    | 'MINIMUM'
    | 'MAXIMUM'
    | 'UNKNOWN_FIELD'
    | 'CONFLICT';
  message: string;
  [more: string]: unknown;
}

/** The body of every error answer. */
export interface ErrorBody {
  status: number;
  code: ErrorCode;
  message: string;
  details?: ErrorDetails;
}

/** A refusal with a code of the spec. Deciders return it, everything else throws it; one filter maps it to HTTP. */
export class Rejection extends Error {
  readonly code: ErrorCode;
  readonly details: ErrorDetails | undefined;

  constructor(code: ErrorCode, details?: ErrorDetails, message?: string) {
    super(message ?? catalogue[code][1]);
    this.name = 'Rejection';
    this.code = code;
    this.details = details;
  }

  /** The HTTP status of the code. */
  get status(): number {
    return catalogue[this.code][0];
  }
}

/**
 * Makes a refusal: `return reject('CARD_ALREADY_CLOSED')` in a decider, `throw reject('INVALID_INPUT', { errors })` elsewhere.
 * `message` replaces the default sentence of the catalogue.
 */
export function reject(code: ErrorCode, details?: ErrorDetails, message?: string): Rejection {
  return new Rejection(code, details, message);
}

/** Refuses a request whose fields are invalid: `400 INVALID_INPUT` with every one of them in `details.errors`. */
export function rejectFields(errors: FieldError[]): Rejection {
  return reject('INVALID_INPUT', { errors }, errors.length === 1 ? errors[0]!.message : 'Several fields are invalid.');
}

/**
 * One refusal in place of several that name fields, all of which it names: of one kind it keeps their code, of several it is
 * `400 INVALID_INPUT`.
 */
export function together(refusals: readonly [Rejection, ...Rejection[]]): Rejection {
  const [first, ...others] = refusals;
  if (others.length === 0) return first;
  const errors = refusals.flatMap(({ details }) => (details?.errors ?? []) as FieldError[]);
  const isOneKind = others.every(({ code }) => code === first.code);
  return isOneKind && first.code !== 'INVALID_INPUT' ? reject(first.code, { errors }) : rejectFields(errors);
}

/** All codes with status and default message, for the docs and the OpenAPI document. */
export function errorCatalogue(): { code: ErrorCode; status: number; message: string }[] {
  return Object.entries(catalogue).map(([code, [status, message]]) => ({ code: code as ErrorCode, status, message }));
}

/** What something that was thrown says. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
