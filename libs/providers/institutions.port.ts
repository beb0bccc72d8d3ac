/** A bank or mobile-money operator that payments reach (spec, `GET /discoveries`). */
export interface Institution {
  /** The value for `accountInfo.bankName`, or for `provider` of a mobile-money account. */
  readonly bankName: string;
  /** The name to show to people. */
  readonly displayName: string;
  /** ISO 3166-1 alpha-2. */
  readonly country: string;
  /** ISO 4217. */
  readonly currency: string;
}

export interface InstitutionFilter {
  readonly country?: string | undefined;
  readonly currency?: string | undefined;
}

/** The institutions known to the payment network, grouped by currency and country. */
export interface Institutions {
  /** Those that match every given member of the filter; all without filter; none is an empty list. */
  list(filter?: InstitutionFilter): Promise<readonly Institution[]>;
}
