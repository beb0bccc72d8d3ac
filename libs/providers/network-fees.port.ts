import type { CurrencyCode } from '../kernel/money.ts';
import type { CryptoNetwork } from '../kernel/rails.ts';

/** What a withdrawal to a blockchain address costs. Integers; `totalFee` is what is taken from the amount. */
export interface NetworkFee {
  networkFee: bigint;
  /** What the network is paid in. */
  networkFeeAsset: string;
  /** The service's own. */
  applicationFee: bigint;
  /** `networkFee + applicationFee`, in the smallest unit of the withdrawn currency. */
  totalFee: bigint;
}

export interface NetworkFees {
  /** The networks on which the currency can be withdrawn. */
  networks(currency: CurrencyCode): readonly CryptoNetwork[];
  /** Only for one of `networks(currency)`. */
  estimate(withdrawal: { currency: CurrencyCode; network: CryptoNetwork; amountMinor: bigint }): Promise<NetworkFee>;
}
