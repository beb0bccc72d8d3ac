/** Where money is to be sent, by the kind of account; the API's `PaymentInstructions` (facts §4). */
export interface FundingInstructions {
  instructionsNotes?: string;
  isPlatformAccount?: boolean;
  accountOrWalletInfo: { accountType: string; [field: string]: unknown };
}
