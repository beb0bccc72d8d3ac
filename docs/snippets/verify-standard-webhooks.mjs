import { createHmac, timingSafeEqual } from 'node:crypto';

const TOLERANCE_SECONDS = 300;

/**
 * Returns the event of a webhook whose `webhook-signature` is right; throws otherwise.
 * rawBody: the bytes as received (Buffer), before any parsing. headers: lower-case names. secret: `whsec_…`.
 */
export function verifyStandardWebhook(rawBody, headers, secret, nowSeconds = Date.now() / 1000) {
  const id = headers['webhook-id'];
  const timestamp = headers['webhook-timestamp'];
  const signatures = headers['webhook-signature'];
  if (!id || !timestamp || !signatures) throw new Error('A signature header is missing');

  const ageSeconds = Math.abs(nowSeconds - Number(timestamp));
  if (!(ageSeconds <= TOLERANCE_SECONDS)) throw new Error('The timestamp is too old or too new');

  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const expected = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(rawBody).digest();
  const matches = signatures.split(' ').some((entry) => {
    const [version, signature] = entry.split(',');
    const given = Buffer.from(signature ?? '', 'base64');
    return version === 'v1' && given.length === expected.length && timingSafeEqual(given, expected);
  });
  if (!matches) throw new Error('No signature matches');
  return JSON.parse(rawBody.toString('utf8'));
}
