import type { FundingInstructions } from '../kernel/funding.ts';
import type { CurrencyCode } from '../kernel/money.ts';
import type { CryptoNetwork } from '../kernel/rails.ts';

/** What is to be sent, and for what. */
export interface FundingRequest {
  /** Leads the money to its payment. */
  reference: string;
  currency: CurrencyCode;
  /** Smallest units of `currency`. */
  amountMinor: bigint;
  /** One of `networks(currency)`; all ways when absent. */
  cryptoNetwork?: CryptoNetwork;
  /** The payment is the platform's own and no customer's. */
  isPlatform: boolean;
}

/** Where money is sent that a payment waits for. */
export interface FundingProvider {
  /** The networks that a crypto currency can be sent on; none for fiat. */
  networks(currency: CurrencyCode): readonly CryptoNetwork[];
  /** One for each way; none where the currency cannot be received. */
  instructions(request: FundingRequest): Promise<FundingInstructions[]>;
}
