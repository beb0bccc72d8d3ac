import { createECDH, createPrivateKey, hkdfSync, type KeyObject } from 'node:crypto';
import { mapHashToField } from '@noble/curves/abstract/modular.js';
import { p256 } from '@noble/curves/nist.js';

/** More bytes than the curve's order has, so that reducing them favours no key (FIPS 186-5, A.2.1). */
const SEED_BYTES = 48;

/**
 * The P-256 private key of `X-Service-Signature` out of 32 secret bytes: the same bytes give the same key, so every process that
 * holds the deployment's master key signs alike and nothing has to be kept.
 */
export function serviceKeyFrom(secret: Buffer): KeyObject {
  const seed = new Uint8Array(hkdfSync('sha256', secret, '', 'webhook service key P-256', SEED_BYTES));
  const scalar = mapHashToField(seed, p256.Point.Fn.ORDER);
  const ecdh = createECDH('prime256v1');
  ecdh.setPrivateKey(Buffer.from(scalar));
  const point = ecdh.getPublicKey(); // 0x04, x, y
  const [x, y] = [point.subarray(1, 33), point.subarray(33)].map((part) => part.toString('base64url')) as [
    string,
    string,
  ];
  const jwk = { kty: 'EC', crv: 'P-256', d: Buffer.from(scalar).toString('base64url'), x, y };
  return createPrivateKey({ key: jwk, format: 'jwk' });
}
