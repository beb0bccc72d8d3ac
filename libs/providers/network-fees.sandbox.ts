import type { CryptoNetwork } from '../kernel/rails.ts';
import type { NetworkFees } from './network-fees.port.ts';

type Row = readonly [asset: string, fee: bigint];

/**
 * Fees by currency and network. They are taken from the withdrawal, so the sandbox counts them in the withdrawn asset; on Solana it names
 * them in lamports and takes one smallest unit for each (facts §12: 5000 lamports of 1000000 leave 995000). It charges nothing of its own.
 */
const table: Readonly<Record<string, Partial<Readonly<Record<CryptoNetwork, Row>>>>> = {
  BTC: { BITCOIN: ['BTC', 1_500n], SPARK: ['BTC', 0n], LIGHTNING: ['BTC', 10n] },
  USDB: { SPARK: ['USDB', 0n] },
  USDC: {
    SOLANA: ['SOL', 5_000n],
    ETHEREUM: ['USDC', 1_200_000n],
    BASE: ['USDC', 10_000n],
    POLYGON: ['USDC', 20_000n],
    SPARK: ['USDC', 0n],
  },
  USDT: {
    SOLANA: ['SOL', 5_000n],
    ETHEREUM: ['USDT', 1_200_000n],
    TRON: ['USDT', 2_000_000n],
    PLASMA: ['USDT', 0n],
  },
};

export const sandboxNetworkFees: NetworkFees = {
  networks: (currency) => Object.keys(table[currency] ?? {}) as CryptoNetwork[],
  async estimate({ currency, network }) {
    const row = table[currency]?.[network];
    if (!row) throw new Error(`${currency} is not withdrawn on ${network}`);
    const [networkFeeAsset, networkFee] = row;
    return { networkFee, networkFeeAsset, applicationFee: 0n, totalFee: networkFee };
  },
};
