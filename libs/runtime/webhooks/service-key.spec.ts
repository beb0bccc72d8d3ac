import { createPublicKey, sign } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { serviceKeyFrom } from './service-key.ts';
import { publicPemOf, verifyServiceSignature } from './signing.ts';

const secret = Buffer.alloc(32, 7);

test('the same secret gives the same key, another secret another one', () => {
  expect(publicPemOf(serviceKeyFrom(secret))).toBe(publicPemOf(serviceKeyFrom(Buffer.from(secret))));
  expect(publicPemOf(serviceKeyFrom(Buffer.alloc(32, 8)))).not.toBe(publicPemOf(serviceKeyFrom(secret)));
});

test('the key stays what it is from version to version: receivers have stored its public half', () => {
  expect(publicPemOf(serviceKeyFrom(secret))).toBe(
    `-----BEGIN PUBLIC KEY-----
MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEanhBUHoMkP1Gcdne5Y+7FCuEvEIQ
aVN7lWbjjRr6bOsEQxH+JbQkevNFXm/4uSsBV1O9zml8Ry/Lz6RxoTvznw==
-----END PUBLIC KEY-----
`,
  );
});

test('what the private key signs, the published PEM verifies', () => {
  const body = Buffer.from('{}');
  const key = serviceKeyFrom(secret);
  const header = sign('sha256', body, key).toString('base64');
  const publicKey = createPublicKey(publicPemOf(key));
  expect(verifyServiceSignature({ header, body, publicKey })).toBe(true);
});
