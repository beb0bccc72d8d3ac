import { identifierChecks } from '../../../../libs/domain/external-accounts/identifier-checks.ts';
import type { CryptoNetwork } from '../../../../libs/kernel/rails.ts';

/** Segwit addresses of the main and test networks, and the older base58 forms. */
const BITCOIN = /^(?:(?:bc|tb|bcrt)1[02-9ac-hj-np-z]{11,87}|[13mn2][1-9A-HJ-NP-Za-km-z]{25,39})$/;

const evm = (address: string) => identifierChecks.evmAddress.passes(address, {});

const checks: Readonly<Record<CryptoNetwork, (address: string) => boolean>> = {
  BITCOIN: (address) => BITCOIN.test(address),
  ETHEREUM: evm,
  BASE: evm,
  POLYGON: evm,
  PLASMA: evm,
  SOLANA: (address) => identifierChecks.solanaAddress.passes(address, {}),
  TRON: (address) => identifierChecks.tronAddress.passes(address, {}),
  SPARK: (address) => identifierChecks.sparkAddress.passes(address, {}),
  LIGHTNING: (address) =>
    identifierChecks.bolt11.passes(address, {}) || identifierChecks.lightningAddress.passes(address, {}),
};

/** Whether money can be sent to an address on a network, as far as the address itself tells. */
export const isAddressOn = (network: CryptoNetwork, address: string): boolean => checks[network](address);
