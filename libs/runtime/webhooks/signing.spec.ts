import { createPrivateKey, createPublicKey, randomBytes, verify } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import {
  newServiceKey,
  newWebhookSecret,
  publicPemOf,
  signatureHeaders,
  verifyServiceSignature,
  verifyStandardWebhook,
} from './signing.ts';

const key = newServiceKey();
const privateKey = createPrivateKey(key.privatePem);
const publicKey = createPublicKey(key.publicPem);
const secret = newWebhookSecret(randomBytes(32));
const olderSecret = newWebhookSecret(randomBytes(32));
const id = 'Webhook:01970000-0000-7000-8000-000000000001';
const body = Buffer.from('{"id":"Webhook:1","data":{"name":"Zoë ₿ \\u0000"}}');
const nowSeconds = Math.floor(Date.now() / 1000);

const signed = (secrets = [secret], timestampSeconds = nowSeconds) =>
  signatureHeaders({ id, timestampSeconds, body, secrets, privateKey });

describe('keys and secrets', () => {
  test('a secret is whsec_ and the 32 bytes in base64', () => {
    expect(newWebhookSecret(new Uint8Array(32))).toBe(`whsec_${'A'.repeat(43)}=`);
    expect(() => newWebhookSecret(new Uint8Array(31))).toThrow(RangeError);
  });

  test('a service key is P-256, private in PKCS #8, public in SPKI', () => {
    expect(key.privatePem).toMatch(/^-----BEGIN PRIVATE KEY-----\n/);
    expect(key.publicPem).toMatch(/^-----BEGIN PUBLIC KEY-----\n/);
    expect(publicKey.asymmetricKeyDetails).toEqual({ namedCurve: 'prime256v1' });
    expect(publicPemOf(privateKey)).toBe(key.publicPem);
  });
});

describe('Standard Webhooks signature', () => {
  test("matches the convention's published example", () => {
    const headers = signatureHeaders({
      id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      timestampSeconds: 1614265330,
      body: Buffer.from('{"test": 2432232314}'),
      secrets: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
      privateKey,
    });
    expect(headers['webhook-signature']).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=');
  });

  test('is accepted by an independent verifier, which refuses a changed body and another secret', () => {
    const headers = { ...signed() };
    expect(new Webhook(secret).verify(body, headers)).toEqual(JSON.parse(body.toString()));
    expect(() => new Webhook(secret).verify(`${body} `, headers)).toThrow('No matching signature found');
    expect(() => new Webhook(olderSecret).verify(body, headers)).toThrow('No matching signature found');
  });

  test('what an independent signer signs is accepted here', () => {
    const signature = new Webhook(secret).sign(id, new Date(nowSeconds * 1000), body.toString());
    const headers = { 'webhook-id': id, 'webhook-timestamp': `${nowSeconds}`, 'webhook-signature': signature };
    expect(verifyStandardWebhook({ headers, body, secrets: [secret], nowSeconds })).toBe(true);
  });

  test('while secrets overlap, holders of either verify', () => {
    const headers = signed([secret, olderSecret]);
    expect(headers['webhook-signature']).toMatch(/^v1,[A-Za-z0-9+/]{43}= v1,[A-Za-z0-9+/]{43}=$/);
    for (const held of [secret, olderSecret]) {
      expect(verifyStandardWebhook({ headers, body, secrets: [held], nowSeconds })).toBe(true);
      expect(new Webhook(held).verify(body, { ...headers })).toEqual(JSON.parse(body.toString()));
    }
  });

  test.each([
    ['the body', {}, Buffer.from(`${body} `), 0],
    ['the id', { 'webhook-id': `${id}x` }, body, 0],
    ['the timestamp', { 'webhook-timestamp': `${nowSeconds + 1}` }, body, 0],
    ['the secret', { 'webhook-signature': signed([olderSecret])['webhook-signature'] }, body, 0],
    ['the version', { 'webhook-signature': signed()['webhook-signature'].replace('v1,', 'v2,') }, body, 0],
    ['a missing signature', { 'webhook-signature': undefined }, body, 0],
    ['a missing id', { 'webhook-id': undefined }, body, 0],
    ['a timestamp that is no number', { 'webhook-timestamp': 'now' }, body, 0],
    ['a clock more than five minutes ahead', {}, body, 301],
    ['a clock more than five minutes behind', {}, body, -301],
  ])('is refused when it is about %s', (_, change, receivedBody, clockSeconds) => {
    const headers = { ...signed(), ...change };
    const received = { headers, body: receivedBody, secrets: [secret], nowSeconds: nowSeconds + clockSeconds };
    expect(verifyStandardWebhook(received)).toBe(false);
  });

  test('five minutes apart is still accepted', () => {
    for (const apart of [-300, 300])
      expect(
        verifyStandardWebhook({ headers: signed(), body, secrets: [secret], nowSeconds: nowSeconds + apart }),
      ).toBe(true);
  });
});

describe('X-Service-Signature', () => {
  test('is JSON text with a DER signature over the raw bytes', () => {
    const header = signed()['x-service-signature'];
    const { v, s } = JSON.parse(header) as { v: string; s: string };
    expect(header).toBe(`{"v":"1","s":"${s}"}`);
    expect(v).toBe('1');
    expect(Buffer.from(s, 'base64')[0]).toBe(0x30);
    expect(verify('sha256', body, { key: publicKey, dsaEncoding: 'der' }, Buffer.from(s, 'base64'))).toBe(true);
  });

  test('verifies as JSON and as bare base64', () => {
    const header = signed()['x-service-signature'];
    expect(verifyServiceSignature({ header, body, publicKey })).toBe(true);
    expect(verifyServiceSignature({ header: JSON.parse(header).s, body, publicKey })).toBe(true);
  });

  test('is refused for another body, another key and anything that is no signature', () => {
    const header = signed()['x-service-signature'];
    const otherKey = createPublicKey(newServiceKey().publicPem);
    expect(verifyServiceSignature({ header, body: Buffer.from(`${body} `), publicKey })).toBe(false);
    expect(verifyServiceSignature({ header, body, publicKey: otherKey })).toBe(false);
    for (const broken of ['', '{', '{}', '{"v":1,"s":"AA=="}', '{"v":"2","s":"AA=="}', '{"v":"1","s":7}', 'AA==', 'ä'])
      expect(verifyServiceSignature({ header: broken, body, publicKey })).toBe(false);
  });
});
