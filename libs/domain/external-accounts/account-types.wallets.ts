import { walletBeneficiary } from './beneficiaries.ts';
import { type AccountTypeRow, required, text } from './field-rules.ts';
import type { CheckName } from './identifier-checks.ts';

function wallet(check: CheckName, ...currencies: string[]): AccountTypeRow {
  return {
    currencies,
    fields: { address: required({ ...text(1, 128), check }), vaspName: text(1, 255) },
    rails: [],
    beneficiary: walletBeneficiary,
    selfCustody: true,
  };
}

/** The crypto wallets (facts §5), with the assets that each network carries (facts §4). */
export const walletAccountTypes = {
  BASE_WALLET: wallet('evmAddress', 'USDC'),
  ETHEREUM_WALLET: wallet('evmAddress', 'USDC', 'USDT'),
  // Invoices and Lightning addresses have no key that could be challenged: no ownership verification, no beneficiary.
  LIGHTNING: {
    currencies: ['BTC'],
    fields: {
      invoice: { ...text(1, 4096), check: 'bolt11' },
      bolt12: { ...text(1, 4096), check: 'bolt12' },
      lightningAddress: { ...text(3, 320), check: 'lightningAddress' },
    },
    rails: [],
    exactlyOneOf: ['invoice', 'bolt12', 'lightningAddress'],
  },
  POLYGON_WALLET: wallet('evmAddress', 'USDC'),
  PLASMA_WALLET: wallet('evmAddress', 'USDT'),
  SOLANA_WALLET: { ...wallet('solanaAddress', 'USDC', 'USDT'), caseSensitive: true },
  SPARK_WALLET: wallet('sparkAddress', 'BTC', 'USDB'),
  TRON_WALLET: { ...wallet('tronAddress', 'USDT'), caseSensitive: true },
} as const satisfies Record<string, AccountTypeRow>;
