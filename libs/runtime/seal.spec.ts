import { expect, test } from '@jest/globals';
import { derivedKey, Seal } from './seal.ts';

const master = Buffer.alloc(32, 7);
const seal = new Seal(derivedKey(master, 'answers'));

test('what is closed is opened at its place, and shows nothing of itself', () => {
  const closed = seal.close('{"clientSecret":"s3cret"}', 'key-1');
  expect(Buffer.from(closed, 'base64').toString('latin1')).not.toContain('s3cret');
  expect(seal.open(closed, 'key-1')).toBe('{"clientSecret":"s3cret"}');
});

test('closing the same text twice gives different forms', () => {
  expect(seal.close('a', 'key-1')).not.toBe(seal.close('a', 'key-1'));
});

test('another place, another purpose and a changed byte are refused', () => {
  const closed = seal.close('secret', 'key-1');
  expect(() => seal.open(closed, 'key-2')).toThrow();
  expect(() => new Seal(derivedKey(master, 'claims')).open(closed, 'key-1')).toThrow();
  const bytes = Buffer.from(closed, 'base64');
  bytes[bytes.length - 1]! ^= 1;
  expect(() => seal.open(bytes.toString('base64'), 'key-1')).toThrow();
});

test('a derived key is the same again and differs per purpose', () => {
  expect(derivedKey(master, 'a').equals(derivedKey(master, 'a'))).toBe(true);
  expect(derivedKey(master, 'a').equals(derivedKey(master, 'b'))).toBe(false);
  expect(derivedKey(master, 'a')).toHaveLength(32);
});
