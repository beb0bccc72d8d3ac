import type { BeneficiaryVerificationStatus } from '../kernel/beneficiary-verification.ts';

/** The account whose holder's name is asked for. */
export interface NameCheckRequest {
  readonly currency: string;
  readonly accountInfo: Readonly<Record<string, unknown>>;
  /** Last 3 characters of the primary identifier (of its user part). */
  readonly identifierSuffix: string;
  /** `fullName` or `legalName`; absent for a wallet without beneficiary. */
  readonly beneficiaryName?: string | undefined;
}

export interface NameCheckResult {
  readonly status: BeneficiaryVerificationStatus;
  /** The holder's name as the rail knows it, where the rail tells. */
  readonly verifiedFullName?: string;
}

/** Asks the rail who holds an account. Throws `INVALID_BANK_ACCOUNT` when the rail knows no such account. */
export interface NameCheck {
  check(request: NameCheckRequest): Promise<NameCheckResult>;
}
