import { ed25519 } from '@noble/curves/ed25519.js';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { ripemd160 } from '@noble/hashes/legacy.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { concatBytes, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { base58, base64, bech32, createBase58check } from '@scure/base';
import type { AccountType } from './account-types.ts';
import { isEvmAddress, solanaKey, sparkIdentityKey, tronAccount } from './wallet-addresses.ts';

/** Wallets that sign in the same way. */
export type WalletKind = 'EVM' | 'BITCOIN' | 'SOLANA' | 'TRON' | 'SPARK';

/** How a Bitcoin signature's header byte is read (facts §5, Ownership challenge); other wallets have one scheme. */
export type SignatureScheme = 'bip137' | 'electrum';

export interface OwnershipProof {
  readonly address: string;
  /** `messageToSign` of the challenge, exactly as it was returned. */
  readonly message: string;
  readonly signature: string;
  /** Bitcoin only; `bip137` when absent. */
  readonly signatureScheme?: SignatureScheme;
}

/** Whether the owner of the address signed the message, and if not, what is wrong with the proof. */
export type OwnershipVerdict =
  | { valid: true }
  | { valid: false; reason: 'MALFORMED_SIGNATURE' | 'MALFORMED_ADDRESS' | 'WRONG_SIGNER' };

const walletKinds: Partial<Record<AccountType, WalletKind>> = {
  BASE_WALLET: 'EVM',
  ETHEREUM_WALLET: 'EVM',
  POLYGON_WALLET: 'EVM',
  PLASMA_WALLET: 'EVM',
  SOLANA_WALLET: 'SOLANA',
  SPARK_WALLET: 'SPARK',
  TRON_WALLET: 'TRON',
};

/** How wallets of this account type sign; undefined where WALLET_SIGNATURE is not supported (LIGHTNING, banks). */
export const walletKindOf = (accountType: AccountType): WalletKind | undefined => walletKinds[accountType];

/**
 * Verifies a wallet's signature over the challenge. Never throws. Encodings by kind:
 * - EVM: EIP-191 `personal_sign`, 65 bytes in hex with 0x, of a key (contract wallets cannot sign).
 * - BITCOIN: 65 bytes in base64, for P2PKH, P2SH-P2WPKH and P2WPKH addresses.
 * - SOLANA: Ed25519 over the message's UTF-8 bytes, 64 bytes in base58.
 * - TRON: `signMessageV2`, 65 bytes in hex, 0x optional.
 * - SPARK: ECDSA of the wallet's identity key over SHA-256 of the message, in hex, DER or compact (64 bytes): what
 *   Spark wallets make of `signMessageWithIdentityKey`. The address holds that key.
 */
export function verifyOwnership(kind: WalletKind, proof: OwnershipProof): OwnershipVerdict {
  const verify = verifiers[kind];
  // The longest encoding has 146 characters; more is not worth decoding.
  if (proof.signature.length > 200) return refused('MALFORMED_SIGNATURE');
  return verify(proof);
}

const verifiers: Record<WalletKind, (proof: OwnershipProof) => OwnershipVerdict> = {
  EVM: verifyEvm,
  BITCOIN: verifyBitcoin,
  SOLANA: verifySolana,
  TRON: verifyTron,
  SPARK: verifySpark,
};

type Refusal = Extract<OwnershipVerdict, { valid: false }>['reason'];
const refused = (reason: Refusal): OwnershipVerdict => ({ valid: false, reason });
const verdict = (valid: boolean): OwnershipVerdict => (valid ? { valid } : refused('WRONG_SIGNER'));

/** The bytes of an encoding; undefined when it is not one. The decoders throw on bad input. */
function decoded(decode: () => Uint8Array): Uint8Array | undefined {
  try {
    return decode();
  } catch {
    return undefined;
  }
}

/** False also where the curve throws, which it does on bytes that are no signature or no key. */
function holds(check: () => boolean): boolean {
  try {
    return check();
  } catch {
    return false;
  }
}

const sameBytes = (a: Uint8Array, b: Uint8Array): boolean =>
  a.length === b.length && a.every((byte, i) => byte === b[i]);

/** The public key that made `rs` (64 bytes) over the hash; undefined when there is none. */
const recoveredKey = (rs: Uint8Array, recovery: number, hash: Uint8Array, compressed: boolean) =>
  decoded(() => {
    const signature = secp256k1.Signature.fromBytes(rs).addRecoveryBit(recovery);
    return signature.recoverPublicKey(hash).toBytes(compressed);
  });

/** Hash of a message behind a wallet's prefix, as EIP-191 has it: the length in decimal digits of bytes. */
function prefixedHash(prefix: string, message: string): Uint8Array {
  const body = utf8ToBytes(message);
  return keccak_256(concatBytes(utf8ToBytes(`${prefix}${body.length}`), body));
}

/** The account (20 bytes) whose key made a 65-byte r, s, v signature; v is 0, 1, 27 or 28. */
function recoveredAccount(signature: string, hash: Uint8Array): Uint8Array | undefined {
  const bytes = decoded(() => hexToBytes(signature));
  const v = bytes?.[64];
  if (bytes?.length !== 65 || v === undefined || ![0, 1, 27, 28].includes(v)) return undefined;
  const key = recoveredKey(bytes.subarray(0, 64), v % 27, hash, false);
  return key && keccak_256(key.subarray(1)).subarray(12);
}

function verifyEvm({ address, message, signature }: OwnershipProof): OwnershipVerdict {
  if (!isEvmAddress(address)) return refused('MALFORMED_ADDRESS');
  if (!/^0x[0-9a-f]{130}$/i.test(signature)) return refused('MALFORMED_SIGNATURE');
  const signer = recoveredAccount(signature.slice(2), prefixedHash('\x19Ethereum Signed Message:\n', message));
  if (!signer) return refused('MALFORMED_SIGNATURE');
  return verdict(sameBytes(signer, hexToBytes(address.slice(2).toLowerCase())));
}

function verifyTron({ address, message, signature }: OwnershipProof): OwnershipVerdict {
  const account = tronAccount(address);
  if (!account) return refused('MALFORMED_ADDRESS');
  const hash = prefixedHash('\x19TRON Signed Message:\n', message);
  const signer = recoveredAccount(signature.replace(/^0x/i, ''), hash);
  return signer ? verdict(sameBytes(signer, account)) : refused('MALFORMED_SIGNATURE');
}

function verifySolana({ address, message, signature }: OwnershipProof): OwnershipVerdict {
  const key = solanaKey(address);
  if (!key) return refused('MALFORMED_ADDRESS');
  const bytes = decoded(() => base58.decode(signature));
  if (bytes?.length !== 64) return refused('MALFORMED_SIGNATURE');
  // Strict RFC 8032: otherwise a key of small order would accept signatures nobody made.
  return verdict(holds(() => ed25519.verify(bytes, utf8ToBytes(message), key, { zip215: false })));
}

function verifySpark({ address, message, signature }: OwnershipProof): OwnershipVerdict {
  const key = sparkIdentityKey(address);
  if (!key) return refused('MALFORMED_ADDRESS');
  const bytes = decoded(() => hexToBytes(signature.replace(/^0x/i, '')));
  if (!bytes) return refused('MALFORMED_SIGNATURE');
  const format = bytes.length === 64 ? 'compact' : 'der';
  if (!decoded(() => secp256k1.Signature.fromBytes(bytes, format).toBytes())) return refused('MALFORMED_SIGNATURE');
  return verdict(holds(() => secp256k1.verify(bytes, utf8ToBytes(message), key, { format, lowS: false })));
}

type BitcoinAddress = { kind: 'P2PKH' | 'P2SH' | 'P2WPKH'; hash: Uint8Array };

const hash160 = (bytes: Uint8Array): Uint8Array => ripemd160(sha256(bytes));
const base58check = createBase58check(sha256);
const base58Versions: Record<number, BitcoinAddress['kind']> = { 0: 'P2PKH', 5: 'P2SH', 111: 'P2PKH', 196: 'P2SH' };

/** Addresses of main and test networks whose 20 bytes are the hash of a key, or of a script that may hold one. */
function bitcoinAddress(address: string): BitcoinAddress | undefined {
  if (/^(?:bc|tb|bcrt)1/i.test(address)) {
    const words = bech32.decodeUnsafe(address)?.words;
    const hash = words?.[0] === 0 ? bech32.fromWordsUnsafe(words.slice(1)) : undefined;
    return hash && hash.length === 20 ? { kind: 'P2WPKH', hash } : undefined;
  }
  const bytes = address.length > 35 ? undefined : decoded(() => base58check.decode(address));
  const kind = bytes?.length === 21 ? base58Versions[bytes[0]!] : undefined;
  return bytes && kind && { kind, hash: bytes.subarray(1) };
}

/** The kinds of address that a header byte can stand for: BIP-137's ranges, and what Electrum makes of them. */
function headerKinds(header: number, scheme: SignatureScheme): readonly BitcoinAddress['kind'][] {
  if (header < 27 || header > 42) return [];
  if (header < 31) return ['P2PKH'];
  if (scheme === 'electrum') return header < 35 ? ['P2PKH', 'P2SH', 'P2WPKH'] : [];
  if (header < 35) return ['P2PKH'];
  return header < 39 ? ['P2SH'] : ['P2WPKH'];
}

const BITCOIN_PREFIX = utf8ToBytes('\x18Bitcoin Signed Message:\n');

/** Bitcoin's variable-length integer, for lengths up to 65,535. */
function varInt(length: number): Uint8Array {
  return length < 0xfd ? Uint8Array.of(length) : Uint8Array.of(0xfd, length & 0xff, length >> 8);
}

function verifyBitcoin({ address, message, signature, signatureScheme = 'bip137' }: OwnershipProof): OwnershipVerdict {
  const owner = bitcoinAddress(address);
  if (!owner) return refused('MALFORMED_ADDRESS');
  const bytes = decoded(() => base64.decode(signature));
  const header = bytes?.[0];
  const body = utf8ToBytes(message);
  if (bytes?.length !== 65 || header === undefined || body.length > 0xffff) return refused('MALFORMED_SIGNATURE');
  const kinds = headerKinds(header, signatureScheme);
  if (kinds.length === 0) return refused('MALFORMED_SIGNATURE');
  const hash = sha256(sha256(concatBytes(BITCOIN_PREFIX, varInt(body.length), body)));
  const key = recoveredKey(bytes.subarray(1), (header - 27) & 3, hash, header >= 31);
  if (!key) return refused('MALFORMED_SIGNATURE');
  if (!kinds.includes(owner.kind)) return refused('WRONG_SIGNER');
  const keyHash = hash160(key);
  // P2SH-P2WPKH: the hash of the script that pays to the key's hash.
  const expected = owner.kind === 'P2SH' ? hash160(concatBytes(Uint8Array.of(0, 20), keyHash)) : keyHash;
  return verdict(sameBytes(expected, owner.hash));
}
