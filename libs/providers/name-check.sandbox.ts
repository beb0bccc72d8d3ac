import type { BeneficiaryVerificationStatus } from '../kernel/beneficiary-verification.ts';
import { reject } from '../kernel/errors.ts';
import type { NameCheck } from './name-check.port.ts';

/** Outcome by the last 3 digits of the account identifier (spec, Sandbox behavior, beneficiary name verification). */
export const nameCheckSuffixes: Readonly<Record<string, BeneficiaryVerificationStatus | 'INVALID_BANK_ACCOUNT'>> = {
  '102': 'NOT_MATCHED',
  '103': 'PARTIAL_MATCH',
  '104': 'PENDING',
  '105': 'INVALID_BANK_ACCOUNT',
  '106': 'UNSUPPORTED',
  '107': 'CHECKED_BY_RECEIVING_FI',
};

/** Any other suffix: MATCHED, or UNSUPPORTED where there is no beneficiary whose name could match. */
export const sandboxNameCheck: NameCheck = {
  async check({ identifierSuffix, beneficiaryName }) {
    const outcome = Object.hasOwn(nameCheckSuffixes, identifierSuffix)
      ? nameCheckSuffixes[identifierSuffix]
      : undefined;
    if (outcome === 'INVALID_BANK_ACCOUNT') throw reject('INVALID_BANK_ACCOUNT');
    const status = outcome ?? (beneficiaryName === undefined ? 'UNSUPPORTED' : 'MATCHED');
    if (beneficiaryName === undefined) return { status };
    if (status === 'MATCHED') return { status, verifiedFullName: beneficiaryName };
    return status === 'PARTIAL_MATCH' ? { status, verifiedFullName: abbreviated(beneficiaryName) } : { status };
  },
};

/** `Amina Diallo` → `A. Diallo`: a name that a rail would call a close match. */
function abbreviated(name: string): string {
  const [first, ...rest] = name.trim().split(/\s+/);
  return rest.length === 0 ? name : [`${[...first!][0]}.`, ...rest].join(' ');
}
