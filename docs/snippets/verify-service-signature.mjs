import { createPublicKey, verify } from 'node:crypto';

/**
 * Returns the event of a webhook whose `X-Service-Signature` is right; throws otherwise.
 * rawBody: the bytes as received (Buffer), before any parsing. header: the header's value. publicKeyPem: SPKI PEM.
 */
export function verifyServiceSignature(rawBody, header, publicKeyPem) {
  const { v, s } = JSON.parse(header);
  if (v !== '1') throw new Error('Unknown signature version');

  const publicKey = createPublicKey(publicKeyPem);
  if (!verify('sha256', rawBody, publicKey, Buffer.from(s ?? '', 'base64'))) throw new Error('The signature is wrong');
  return JSON.parse(rawBody.toString('utf8'));
}
