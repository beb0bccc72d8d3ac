import { createHash } from 'node:crypto';
import { ed25519 } from '@noble/curves/ed25519.js';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { base58, bech32m, createBase58check } from '@scure/base';

/** A wallet of one chain that signs as real ones do. */
export interface Wallet {
  address: string;
  sign(message: string): string;
}

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const hex = (data: Uint8Array): string => Buffer.from(data).toString('hex');
const secretOf = (seed: string): Uint8Array => createHash('sha256').update(seed).digest();
const accountOf = (secret: Uint8Array): Uint8Array =>
  keccak_256(secp256k1.getPublicKey(secret, false).subarray(1)).subarray(12);

/** r, s, v in hex over the keccak hash of a prefixed message. */
function rsv(prefix: string, message: string, secret: Uint8Array): string {
  const hash = keccak_256(utf8(`${prefix}${utf8(message).length}${message}`));
  const [recovery, ...rs] = secp256k1.sign(hash, secret, { prehash: false, format: 'recovered' });
  return hex(Uint8Array.of(...rs, recovery! + 27));
}

export function evmWallet(seed: string): Wallet {
  const secret = secretOf(seed);
  return {
    address: `0x${hex(accountOf(secret))}`,
    sign: (message) => `0x${rsv('\x19Ethereum Signed Message:\n', message, secret)}`,
  };
}

export function tronWallet(seed: string): Wallet {
  const secret = secretOf(seed);
  return {
    address: createBase58check(sha256).encode(Uint8Array.of(0x41, ...accountOf(secret))),
    sign: (message) => rsv('\x19TRON Signed Message:\n', message, secret),
  };
}

export function solanaWallet(seed: string): Wallet {
  const secret = secretOf(seed);
  return {
    address: base58.encode(ed25519.getPublicKey(secret)),
    sign: (message) => base58.encode(ed25519.sign(utf8(message), secret)),
  };
}

export function sparkWallet(seed: string): Wallet {
  const secret = secretOf(seed);
  return {
    address: bech32m.encode('spark', bech32m.toWords(Uint8Array.of(10, 33, ...secp256k1.getPublicKey(secret))), 128),
    sign: (message) => hex(secp256k1.sign(utf8(message), secret)),
  };
}
