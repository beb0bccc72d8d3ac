/** Result of comparing a beneficiary's name with the account holder's (spec, chapter External account). */
export const beneficiaryVerificationStatuses = [
  'MATCHED',
  'PARTIAL_MATCH',
  'NOT_MATCHED',
  'UNSUPPORTED',
  'CHECKED_BY_RECEIVING_FI',
  'PENDING',
] as const;

export type BeneficiaryVerificationStatus = (typeof beneficiaryVerificationStatuses)[number];
