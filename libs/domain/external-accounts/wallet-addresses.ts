import { sha256 } from '@noble/hashes/sha2.js';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { base58, bech32, bech32m, createBase58check } from '@scure/base';

const base58check = createBase58check(sha256);

/** True for an EVM address. Mixed case is an EIP-55 checksum and must be right, one case alone carries none. */
export function isEvmAddress(address: string): boolean {
  if (!/^0x[0-9a-fA-F]{40}$/.test(address)) return false;
  const hex = address.slice(2);
  if (hex === hex.toLowerCase() || hex === hex.toUpperCase()) return true;
  const hash = keccak_256(new TextEncoder().encode(hex.toLowerCase()));
  return [...hex].every((character, index) => {
    const nibble = index % 2 === 0 ? hash[index >> 1]! >> 4 : hash[index >> 1]! & 15;
    return character === (nibble >= 8 ? character.toUpperCase() : character.toLowerCase());
  });
}

/** The Ed25519 public key that a Solana address is in base58; undefined unless 32 bytes. */
export function solanaKey(address: string): Uint8Array | undefined {
  if (address.length > 44) return undefined;
  try {
    const bytes = base58.decode(address);
    return bytes.length === 32 ? bytes : undefined;
  } catch {
    return undefined;
  }
}

/** The 20 bytes of a TRON address (base58check, version 0x41); undefined for anything else. */
export function tronAccount(address: string): Uint8Array | undefined {
  if (address.length !== 34) return undefined;
  try {
    const bytes = base58check.decode(address);
    return bytes.length === 21 && bytes[0] === 0x41 ? bytes.slice(1) : undefined;
  } catch {
    return undefined;
  }
}

const SPARK_PREFIX = /^(?:spark|sp)(?:rt|t|s|l)?$/;

/**
 * The compressed identity public key (33 bytes) of a Spark address: bech32m over one protobuf field (tag 0x0a,
 * length 33), the prefix being `spark`, or `sp` in older addresses, with the network's letters. Undefined for
 * anything else.
 */
export function sparkIdentityKey(address: string): Uint8Array | undefined {
  const decoded = bech32m.decodeUnsafe(address, 128);
  if (!decoded || !SPARK_PREFIX.test(decoded.prefix)) return undefined;
  const payload = bech32m.fromWordsUnsafe(decoded.words);
  const isKey = payload?.length === 35 && payload[0] === 0x0a && payload[1] === 33;
  return isKey && (payload[2] === 2 || payload[2] === 3) ? payload.slice(2) : undefined;
}

/** True for what can be a BOLT 11 invoice: network and amount, a timestamp (7 words), a signature (104), the checksum. */
export function isBolt11(invoice: string): boolean {
  const decoded = bech32.decodeUnsafe(invoice, false);
  if (!decoded || decoded.words.length < 111) return false;
  return /^ln(?:bcrt|bc|tbs|tb|sb)(?:[1-9][0-9]*[munp]?)?$/.test(decoded.prefix);
}

/** True for what can be a BOLT 12 offer: bech32's alphabet without a checksum, perhaps in parts joined by `+`. */
export const isBolt12 = (offer: string): boolean => /^lno1[02-9ac-hj-np-z]{16,}$/i.test(offer.replace(/\+\s*/g, ''));
