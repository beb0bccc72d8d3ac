import {
  createHmac,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
  timingSafeEqual,
  verify,
} from 'node:crypto';

const SECRET_PREFIX = 'whsec_';

/** How far the clocks of sender and receiver may be apart: the Standard Webhooks convention's five minutes. */
export const TIMESTAMP_TOLERANCE_SECONDS = 300;

/** The headers that sign one attempt of a delivery (decision 18). */
export interface SignatureHeaders {
  'webhook-id': string;
  'webhook-timestamp': string;
  'webhook-signature': string;
  'x-service-signature': string;
}

/** A platform's webhook secret from 32 random bytes: `whsec_<base64>`. */
export function newWebhookSecret(random32: Uint8Array): string {
  if (random32.length !== 32) throw new RangeError('A webhook secret is made of 32 random bytes.');
  return SECRET_PREFIX + Buffer.from(random32).toString('base64');
}

/** A new P-256 key for `X-Service-Signature`: PKCS #8 to keep, SPKI to hand to receivers. */
export function newServiceKey(): { privatePem: string; publicPem: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
  return { privatePem: privateKey, publicPem: publicKey };
}

/** The SPKI PEM that belongs to a private key. */
export function publicPemOf(privateKey: KeyObject): string {
  return createPublicKey(privateKey).export({ type: 'spki', format: 'pem' }) as string;
}

/**
 * Signs one attempt: both signatures over exactly the bytes of `body`. `timestampSeconds` is the time of the attempt,
 * so that a late retry still passes the receiver's tolerance. Several `secrets` (newest first) give several signatures
 * in `webhook-signature`: that is how a rotated secret overlaps with its successor.
 */
export function signatureHeaders(attempt: {
  id: string;
  timestampSeconds: number;
  body: Buffer;
  secrets: readonly string[];
  privateKey: KeyObject;
}): SignatureHeaders {
  const { id, timestampSeconds, body, secrets, privateKey } = attempt;
  const signatures = secrets.map((secret) => `v1,${hmac(secret, id, `${timestampSeconds}`, body).toString('base64')}`);
  return {
    'webhook-id': id,
    'webhook-timestamp': `${timestampSeconds}`,
    'webhook-signature': signatures.join(' '),
    'x-service-signature': JSON.stringify({ v: '1', s: sign('sha256', body, privateKey).toString('base64') }),
  };
}

/**
 * True when one of the `v1` signatures of `webhook-signature` was made with one of the secrets over these bytes and the
 * timestamp is within five minutes of `nowSeconds`.
 */
export function verifyStandardWebhook(received: {
  headers: { 'webhook-id'?: string; 'webhook-timestamp'?: string; 'webhook-signature'?: string };
  body: Buffer;
  secrets: readonly string[];
  nowSeconds: number;
}): boolean {
  const { headers, body, secrets, nowSeconds } = received;
  const id = headers['webhook-id'];
  const timestamp = headers['webhook-timestamp'];
  if (!id || !timestamp || !/^\d{1,12}$/.test(timestamp)) return false;
  if (Math.abs(nowSeconds - Number(timestamp)) > TIMESTAMP_TOLERANCE_SECONDS) return false;
  const given = (headers['webhook-signature'] ?? '')
    .split(' ')
    .filter((entry) => entry.startsWith('v1,'))
    .map((entry) => Buffer.from(entry.slice(3), 'base64'));
  return secrets.some((secret) => {
    const expected = hmac(secret, id, timestamp, body);
    return given.some((signature) => signature.length === expected.length && timingSafeEqual(signature, expected));
  });
}

/** True when `X-Service-Signature`, as JSON text or as bare base64, was made with the key's private half over these bytes. */
export function verifyServiceSignature(received: { header: string; body: Buffer; publicKey: KeyObject }): boolean {
  const signature = serviceSignatureBytes(received.header);
  return signature !== undefined && verify('sha256', received.body, received.publicKey, signature);
}

function serviceSignatureBytes(header: string): Buffer | undefined {
  if (!header.startsWith('{')) return Buffer.from(header, 'base64');
  try {
    const { v, s } = JSON.parse(header) as { v?: unknown; s?: unknown };
    return v === '1' && typeof s === 'string' ? Buffer.from(s, 'base64') : undefined;
  } catch {
    return undefined;
  }
}

function hmac(secret: string, id: string, timestamp: string, body: Buffer): Buffer {
  const key = Buffer.from(secret.startsWith(SECRET_PREFIX) ? secret.slice(SECRET_PREFIX.length) : secret, 'base64');
  return createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest();
}
