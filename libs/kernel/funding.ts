import type { CryptoNetwork, PaymentRail } from './rails.ts';

/** Where money is to be sent, by the kind of account; the API's `PaymentInstructions` (facts §4). */
export interface FundingInstructions {
  instructionsNotes?: string;
  isPlatformAccount?: boolean;
  accountOrWalletInfo: { accountType: string; [field: string]: unknown };
}

/** Who sent money and how, as far as its rail says (facts §3, Source variants). */
export interface FundingSender {
  accountHolderName?: string;
  accountIdentifier?: string;
  bankName?: string;
  bankIdentifier?: string;
  paymentRail?: PaymentRail;
  remittanceInformation?: string;
  endToEndId?: string;
  traceNumber?: string;
  onChainTransaction?: { transactionHash: string; network: CryptoNetwork };
}
