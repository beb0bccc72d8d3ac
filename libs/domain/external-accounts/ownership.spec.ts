import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { ed25519 } from '@noble/curves/ed25519.js';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { base58, bech32m, createBase58check } from '@scure/base';
import { accountTypeNames } from './account-types.ts';
import {
  type OwnershipProof,
  type OwnershipVerdict,
  verifyOwnership,
  type WalletKind,
  walletKindOf,
} from './ownership.ts';
import { sparkIdentityKey } from './wallet-addresses.ts';

const VALID: OwnershipVerdict = { valid: true };
const WRONG_SIGNER: OwnershipVerdict = { valid: false, reason: 'WRONG_SIGNER' };
const MALFORMED: OwnershipVerdict = { valid: false, reason: 'MALFORMED_SIGNATURE' };
const BAD_ADDRESS: OwnershipVerdict = { valid: false, reason: 'MALFORMED_ADDRESS' };

const bytes = (hex: string): Uint8Array => Uint8Array.from(Buffer.from(hex, 'hex'));
const hex = (data: Uint8Array): string => Buffer.from(data).toString('hex');
const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

// Every length in bytes, not in characters: an accent, an emoji, more than 252 bytes for Bitcoin's long form.
const messages = ['', 'Confirm. Nonce: 7f3a', 'Café ☕', 'x'.repeat(252), 'x'.repeat(253), 'é'.repeat(400)];

describe('Bitcoin, with the vectors of bitcoinjs-message', () => {
  const message = 'vires is numeris';
  const uncompressed = '16UwLL9Risc3QfPqBUvKofHmBQ7wMtjvM';
  const compressed = '1PMycacnJaSqwwJqjawXBErnLsZ7RkXUAs';
  const p2sh = '3JvL6Ymt8MVWiCNHC7oWU6nLeHNJKLZGLN';
  const p2wpkh = 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4';
  /** P2PKH of the private key 1, which p2sh and p2wpkh belong to as well. */
  const ofKeyOne = '1BgGZ9tcN4rm9KBzDn7KprQz87SZ26SAMH';
  const other = '1111111111111111111114oLvT2';
  const first = 'JawPtQOrybrSP1WHQnQPr67B9S3qrxBrl1mlzoTJOSHEpmnF7D3+t+LX0Xei9J20B5AIdPbeL3AaTBZ4N3bY0=';
  const second = 'F8nHqFr3K2UKYahhX3soVeoW8W1ECNbr0wfck7lzyXjCS5Q16Ek45zyBuy1Fiy9sTPKVgsqqOuPvbycuVSSVl8=';

  test.each([
    [uncompressed, `G8${first}`, 'bip137', VALID],
    [compressed, `H8${first}`, 'bip137', VALID],
    [p2sh, `J${second}`, 'bip137', VALID],
    [p2wpkh, `K${second}`, 'bip137', VALID],
    [ofKeyOne, `I${second}`, 'bip137', VALID],
    // A header of another kind of address.
    [uncompressed, `H8${first}`, 'bip137', WRONG_SIGNER],
    [compressed, `G8${first}`, 'bip137', WRONG_SIGNER],
    [other, `H8${first}`, 'bip137', WRONG_SIGNER],
    [p2wpkh, `I${second}`, 'bip137', WRONG_SIGNER],
    [p2wpkh, `J${second}`, 'bip137', WRONG_SIGNER],
    [p2sh, `K${second}`, 'bip137', WRONG_SIGNER],
    // Electrum writes the header of a compressed key for every kind of address.
    [p2wpkh, `I${second}`, 'electrum', VALID],
    [p2sh, `I${second}`, 'electrum', VALID],
    [compressed, `H8${first}`, 'electrum', VALID],
    [uncompressed, `G8${first}`, 'electrum', VALID],
    [p2wpkh, `K${second}`, 'electrum', MALFORMED],
  ] as const)('%s %s by %s', (address, signature, signatureScheme, expected) => {
    expect(verifyOwnership('BITCOIN', { address, message, signature, signatureScheme })).toEqual(expected);
    const changed = verifyOwnership('BITCOIN', { address, message: 'foobar', signature, signatureScheme });
    expect(changed.valid).toBe(false);
  });

  test('bip137 is the default scheme', () => {
    expect(verifyOwnership('BITCOIN', { address: p2wpkh, message, signature: `K${second}` })).toEqual(VALID);
    expect(verifyOwnership('BITCOIN', { address: p2wpkh, message, signature: `I${second}` })).toEqual(WRONG_SIGNER);
  });

  test('headers outside 27 to 42, other lengths and other addresses are malformed', () => {
    const verify = (signature: string, address = compressed) =>
      verifyOwnership('BITCOIN', { address, message, signature });
    const body = Buffer.from(`H8${first}`, 'base64').subarray(1);
    for (const header of [0, 26, 43, 255])
      expect(verify(Buffer.concat([Buffer.of(header), body]).toString('base64'))).toEqual(MALFORMED);
    expect(verify(Buffer.concat([Buffer.of(31), body, Buffer.of(0)]).toString('base64'))).toEqual(MALFORMED);
    expect(verify(Buffer.concat([Buffer.of(31), Buffer.alloc(64)]).toString('base64'))).toEqual(MALFORMED);
    // Taproot has no key hash to compare with.
    const taproot = 'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0';
    expect(verify(`H8${first}`, taproot)).toEqual(BAD_ADDRESS);
    expect(verify(`H8${first}`, 'DFpN6QqFfUm3gKNaxN6tNcab1FArL9cZLE')).toEqual(BAD_ADDRESS);
  });
});

describe('EVM', () => {
  // web3.js, documentation of eth.accounts.sign.
  const known: OwnershipProof = {
    address: '0x2c7536E3605D9C16a7a3D7b1898e529396a65c23',
    message: 'Some data',
    signature:
      '0xb91467e570a6466aa9e9876cbcd013baba02900b8979d43fe208a4a4f339f5fd6007e74cd82e037b800186422fc2da167c747ef045e5d18a5f5d4300f8e1a0291c',
  };

  test('a published signature is valid, for the address in any case, with v as 28 or 1', () => {
    expect(verifyOwnership('EVM', known)).toEqual(VALID);
    expect(verifyOwnership('EVM', { ...known, address: known.address.toLowerCase() })).toEqual(VALID);
    expect(verifyOwnership('EVM', { ...known, signature: `${known.signature.slice(0, -2)}01` })).toEqual(VALID);
  });

  test.each([
    ['another message', { message: 'Some Data' }, WRONG_SIGNER],
    ['another address', { address: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed' }, WRONG_SIGNER],
    ['the other v', { signature: `${known.signature.slice(0, -2)}1b` }, WRONG_SIGNER],
    ['an unknown v', { signature: `${known.signature.slice(0, -2)}1d` }, MALFORMED],
    ['no 0x', { signature: known.signature.slice(2) }, MALFORMED],
    ['64 bytes', { signature: known.signature.slice(0, -2) }, MALFORMED],
    ['no point on the curve', { signature: `0x${'ff'.repeat(64)}1b` }, MALFORMED],
    ['zeros', { signature: `0x${'00'.repeat(65)}` }, MALFORMED],
    ['a wrong checksum', { address: '0x2c7536E3605D9C16a7a3D7b1898e529396a65c2A' }, BAD_ADDRESS],
  ])('%s is refused', (_, changed, expected) => {
    expect(verifyOwnership('EVM', { ...known, ...changed })).toEqual(expected);
  });
});

describe('TRON', () => {
  // Trust Wallet Core, TronMessageSigner tests; the address is that of its key.
  const key = bytes('75065f100e38d3f3b4c5c4235834ba8216de62272a4f03532c44b31a5734360a');
  const account = keccak_256(secp256k1.getPublicKey(key, false).subarray(1)).subarray(12);
  const address = createBase58check(sha256).encode(Uint8Array.of(0x41, ...account));
  const known: OwnershipProof = {
    address,
    message: 'Hello World',
    signature:
      'bc0753c070cc55693097df11bc11e1a7c4bd5e1a40b9dc94c75568e59bcc9d6b50a7873ef25b469e494490a54de37327b4bc7fc825c81a377b555e34fb7261ba1c',
  };

  test('published signatures are valid, with and without 0x', () => {
    expect(verifyOwnership('TRON', known)).toEqual(VALID);
    expect(verifyOwnership('TRON', { ...known, signature: `0x${known.signature}` })).toEqual(VALID);
    const longer = {
      address,
      message: 'A much longer message to test the signing and verification process',
      signature:
        '93aee5f753cf889e0749c74dd0c5996cce889883ae079e09ede462e16d65d06a4f43d1ed2745e9f3c1690695628269bd58f057a4a93953cc50e66b4a05bc0f451b',
    };
    expect(verifyOwnership('TRON', longer)).toEqual(VALID);
  });

  test.each([
    ['another message', { message: 'Hello World!' }, WRONG_SIGNER],
    ['another address', { address: 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8' }, WRONG_SIGNER],
    ['no address', { address: `${address.slice(0, -1)}1` }, BAD_ADDRESS],
    ['an Ethereum address', { address: '0x2c7536E3605D9C16a7a3D7b1898e529396a65c23' }, BAD_ADDRESS],
    [
      'the older scheme, with 32 in place of the length',
      {
        signature:
          '9bb6d11ec8a6a3fb686a8f55b123e7ec4e9746a26157f6f9e854dd72f5683b450397a7b0a9653865658de8f9243f877539882891bad30c7286c3bf5622b900471b',
      },
      WRONG_SIGNER,
    ],
    ['half a signature', { signature: known.signature.slice(0, 64) }, MALFORMED],
  ])('%s is refused', (_, changed, expected) => {
    expect(verifyOwnership('TRON', { ...known, ...changed })).toEqual(expected);
  });
});

describe('Solana', () => {
  // RFC 8032, 7.1, TEST 2: the message is the one byte 72, the letter r.
  const known: OwnershipProof = {
    address: base58.encode(bytes('3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c')),
    message: 'r',
    signature: base58.encode(
      bytes(
        '92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00',
      ),
    ),
  };

  test.each([
    ['the vector', {}, VALID],
    ['another message', { message: 's' }, WRONG_SIGNER],
    ['another address', { address: '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU' }, WRONG_SIGNER],
    ['an address off the curve', { address: base58.encode(new Uint8Array(32).fill(2)) }, WRONG_SIGNER],
    ['a short address', { address: base58.encode(new Uint8Array(31).fill(2)) }, BAD_ADDRESS],
    ['hex', { signature: hex(base58.decode(known.signature)) }, MALFORMED],
    ['63 bytes', { signature: base58.encode(base58.decode(known.signature).subarray(0, 63)) }, MALFORMED],
  ])('%s', (_, changed, expected) => {
    expect(verifyOwnership('SOLANA', { ...known, ...changed })).toEqual(expected);
  });

  test('a key of small order, for which anything would be signed, proves nothing', () => {
    const address = base58.encode(Uint8Array.of(1, ...new Uint8Array(31)));
    const signature = base58.encode(Uint8Array.of(1, ...new Uint8Array(63)));
    expect(verifyOwnership('SOLANA', { address, message: 'anything', signature })).toEqual(WRONG_SIGNER);
  });
});

describe('Spark', () => {
  // A vector of the Spark SDK: a mainnet address and the taproot address of the same key.
  const taproot = 'bc1pvluhspufxmuus9wh3dshxhxfg3656c9mwfw85scaydyp7sk9800sl4h5ae';

  test('an address holds its identity key', () => {
    const xOnly = bech32m.fromWords(bech32m.decode(taproot).words.slice(1));
    const key = sparkIdentityKey('sp1pgssyele0qrcjdheeq2a0zmpwdwvj3r4f4stkuju0fp36g6grapv2w7ltce4pm');
    expect(key).toEqual(Uint8Array.of(2, ...xOnly));
  });

  const secret = createHash('sha256').update('spark').digest();
  const address = bech32m.encode(
    'spark',
    bech32m.toWords(Uint8Array.of(10, 33, ...secp256k1.getPublicKey(secret))),
    128,
  );
  const message = 'I own this. Nonce: 1';
  const der = hex(sign('sha256', utf8(message), ecKey(secret)));
  const compact = hex(sign('sha256', utf8(message), { key: ecKey(secret), dsaEncoding: 'ieee-p1363' }));

  test.each([
    ['DER', { signature: der }, VALID],
    ['compact', { signature: compact }, VALID],
    ['0x', { signature: `0x${compact}` }, VALID],
    ['another message', { signature: der, message: `${message}2` }, WRONG_SIGNER],
    [
      'another address',
      { signature: der, address: 'sp1pgssyele0qrcjdheeq2a0zmpwdwvj3r4f4stkuju0fp36g6grapv2w7ltce4pm' },
      WRONG_SIGNER,
    ],
    ['a Bitcoin address', { signature: der, address: taproot }, BAD_ADDRESS],
    ['cut short', { signature: der.slice(0, -2) }, MALFORMED],
    ['zeros', { signature: '00'.repeat(64) }, MALFORMED],
  ])('%s', (_, changed, expected) => {
    expect(verifyOwnership('SPARK', { address, message, ...changed } as OwnershipProof)).toEqual(expected);
  });
});

/** A secp256k1 private key for node:crypto, whose OpenSSL is a second implementation to sign with. */
function ecKey(secret: Uint8Array): KeyObject {
  const point = secp256k1.getPublicKey(secret, false);
  const part = (data: Uint8Array): string => Buffer.from(data).toString('base64url');
  const jwk = {
    kty: 'EC',
    crv: 'secp256k1',
    d: part(secret),
    x: part(point.subarray(1, 33)),
    y: part(point.subarray(33)),
  };
  return createPrivateKey({ key: jwk, format: 'jwk' });
}

describe('round trips', () => {
  const secret = createHash('sha256').update('round trip').digest();
  const recoverable = (hash: Uint8Array): Uint8Array =>
    secp256k1.sign(hash, secret, { prehash: false, format: 'recovered' });
  const account = keccak_256(secp256k1.getPublicKey(secret, false).subarray(1)).subarray(12);
  /** r, s, v from the library's order, recovery first. */
  const rsv = (prefix: string, message: string): string => {
    const [recovery, ...rs] = recoverable(keccak_256(utf8(`${prefix}${utf8(message).length}${message}`)));
    return hex(Uint8Array.of(...rs, recovery! + 27));
  };
  const solana = createPrivateKey({
    key: Buffer.concat([bytes('302e020100300506032b657004220420'), secret]),
    format: 'der',
    type: 'pkcs8',
  });
  const solanaPublic = createPublicKey(solana).export({ format: 'der', type: 'spki' }).subarray(-32);

  const wallets: [WalletKind, address: string, signs: (message: string) => string][] = [
    ['EVM', `0x${hex(account)}`, (message) => `0x${rsv('\x19Ethereum Signed Message:\n', message)}`],
    [
      'TRON',
      createBase58check(sha256).encode(Uint8Array.of(0x41, ...account)),
      (message) => rsv('\x19TRON Signed Message:\n', message),
    ],
    ['SOLANA', base58.encode(solanaPublic), (message) => base58.encode(sign(null, utf8(message), solana))],
  ];

  test.each(wallets)('%s: what the wallet signs is its own, and nothing else is', (kind, address, signs) => {
    for (const message of messages) {
      const proof = { address, message, signature: signs(message) };
      expect(verifyOwnership(kind, proof)).toEqual(VALID);
      expect(verifyOwnership(kind, { ...proof, message: `${message} ` })).toEqual(WRONG_SIGNER);
    }
  });

  test('BITCOIN: long messages have their length in three bytes', () => {
    const address = 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4';
    const one = bytes('01'.padStart(64, '0'));
    for (const message of messages) {
      const body = utf8(message);
      const length = body.length < 253 ? [body.length] : [253, body.length & 255, body.length >> 8];
      const magic = createHash('sha256')
        .update('\x18Bitcoin Signed Message:\n')
        .update(Buffer.from(length))
        .update(body);
      const hash = createHash('sha256').update(magic.digest()).digest();
      const [recovery, ...rs] = secp256k1.sign(hash, one, { prehash: false, format: 'recovered' });
      const signature = Buffer.of(39 + recovery!, ...rs).toString('base64');
      expect(verifyOwnership('BITCOIN', { address, message, signature })).toEqual(VALID);
    }
  });

  test('the same key signs for Solana in another implementation too', () => {
    expect(hex(ed25519.getPublicKey(secret))).toBe(hex(solanaPublic));
  });
});

describe('anything else', () => {
  const kinds: WalletKind[] = ['EVM', 'BITCOIN', 'SOLANA', 'TRON', 'SPARK'];
  const addresses: Record<WalletKind, string> = {
    EVM: '0x2c7536E3605D9C16a7a3D7b1898e529396a65c23',
    BITCOIN: 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4',
    SOLANA: '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU',
    TRON: 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8',
    SPARK: 'sp1pgssyele0qrcjdheeq2a0zmpwdwvj3r4f4stkuju0fp36g6grapv2w7ltce4pm',
  };
  const nonsense = ['', ' ', '0x', 'ÿ', '\u0000', '====', 'zz'.repeat(65), 'x'.repeat(100_000), '🙂'.repeat(30)];

  test.each(kinds)('%s: nonsense is malformed and never throws', (kind) => {
    for (const signature of nonsense)
      expect(verifyOwnership(kind, { address: addresses[kind], message: 'm', signature })).toEqual(MALFORMED);
    for (const address of nonsense)
      expect(verifyOwnership(kind, { address, message: 'm', signature: '' })).toEqual(BAD_ADDRESS);
  });

  test('wallets with a key can be challenged; Lightning and banks cannot', () => {
    const signing = accountTypeNames.filter((type) => walletKindOf(type) !== undefined);
    expect(signing).toEqual([
      'BASE_WALLET',
      'ETHEREUM_WALLET',
      'POLYGON_WALLET',
      'PLASMA_WALLET',
      'SOLANA_WALLET',
      'SPARK_WALLET',
      'TRON_WALLET',
    ]);
  });
});
