import type { LookupAddress } from 'node:dns';
import { describe, expect, test } from '@jest/globals';
import { checkTarget, guardedLookup, isPublicAddress, PrivateAddressError, type Resolve } from './target.ts';

const look = (resolve: Resolve, allowPrivateTargets: boolean, all = true) =>
  new Promise<string | LookupAddress[]>((settle, refuse) =>
    guardedLookup(resolve, { allowPrivateTargets })('host.test', { all }, (error, address) =>
      error ? refuse(error) : settle(address),
    ),
  );

describe('isPublicAddress', () => {
  test.each(['8.8.8.8', '1.1.1.1', '172.32.0.1', '100.128.0.1', '2606:4700:4700::1111', '::ffff:8.8.8.8'])(
    '%s is',
    (it) => expect(isPublicAddress(it)).toBe(true),
  );

  test.each([
    ['unspecified', '0.0.0.0'],
    ['this network', '0.1.2.3'],
    ['loopback', '127.0.0.1'],
    ['loopback', '127.255.255.254'],
    ['private', '10.1.2.3'],
    ['private', '172.16.0.1'],
    ['private', '192.168.1.1'],
    ['carrier-grade NAT', '100.64.0.1'],
    ['carrier-grade NAT', '100.127.255.255'],
    ['link-local, metadata', '169.254.169.254'],
    ['protocol assignments', '192.0.0.8'],
    ['documentation', '192.0.2.1'],
    ['benchmarking', '198.18.0.1'],
    ['documentation', '203.0.113.9'],
    ['multicast', '224.0.0.1'],
    ['reserved', '240.0.0.1'],
    ['broadcast', '255.255.255.255'],
    ['unspecified', '::'],
    ['loopback', '::1'],
    ['IPv4-compatible', '::127.0.0.1'],
    ['IPv4-mapped', '::ffff:127.0.0.1'],
    ['IPv4-mapped', '::ffff:7f00:1'],
    ['IPv4-mapped', '::ffff:10.0.0.1'],
    ['IPv4-translated', '::ffff:0:127.0.0.1'],
    ['NAT64', '64:ff9b::7f00:1'],
    ['NAT64, local', '64:ff9b:1::7f00:1'],
    ['6to4', '2002:7f00:1::'],
    ['Teredo', '2001::1'],
    ['link-local', 'fe80::1'],
    ['link-local with a zone', 'fe80::1%eth0'],
    ['site-local', 'fec0::1'],
    ['unique-local', 'fc00::1'],
    ['unique-local', 'fd12:3456::1'],
    ['metadata', 'fd00:ec2::254'],
    ['multicast', 'ff02::1'],
    ['documentation', '2001:db8::1'],
    ['discard', '100::1'],
    ['no address', 'example.com'],
    ['empty', ''],
  ])('%s %s is not', (_, address) => expect(isPublicAddress(address)).toBe(false));
});

describe('checkTarget', () => {
  const refusal = (url: string, allowPrivateTargets = false) => {
    const problem = checkTarget(url, { allowPrivateTargets });
    return problem && [problem.reason, problem.constraint];
  };

  test.each([
    'https://example.com/hooks',
    'https://example.com:8443/hooks?tenant=7',
    'https://8.8.8.8/',
    'https://[2606:4700:4700::1111]/',
    'https://localhost.example.com/',
  ])('%s can be used', (url) => expect(refusal(url)).toBeUndefined());

  test.each([
    ['', 'INVALID_URL', 'FORMAT'],
    ['example.com/hooks', 'INVALID_URL', 'FORMAT'],
    ['https://', 'INVALID_URL', 'FORMAT'],
    [`https://example.com/${'a'.repeat(2048)}`, 'INVALID_URL', 'MAX_LENGTH'],
    ['http://example.com/', 'SCHEME', 'FORMAT'],
    ['ftp://example.com/', 'SCHEME', 'FORMAT'],
    ['file:///etc/passwd', 'SCHEME', 'FORMAT'],
    ['javascript:alert(1)', 'SCHEME', 'FORMAT'],
    ['https://user:secret@example.com/', 'CREDENTIALS', 'FORMAT'],
    ['https://user@example.com/', 'CREDENTIALS', 'FORMAT'],
    ['https://localhost/', 'PRIVATE_ADDRESS', 'FORMAT'],
    ['https://LOCALHOST./', 'PRIVATE_ADDRESS', 'FORMAT'],
    ['https://api.localhost/', 'PRIVATE_ADDRESS', 'FORMAT'],
    ['https://127.0.0.1:8080/', 'PRIVATE_ADDRESS', 'FORMAT'],
    ['https://127.1/', 'PRIVATE_ADDRESS', 'FORMAT'],
    ['https://2130706433/', 'PRIVATE_ADDRESS', 'FORMAT'],
    ['https://0x7f.1/', 'PRIVATE_ADDRESS', 'FORMAT'],
    ['https://0x7f000001/', 'PRIVATE_ADDRESS', 'FORMAT'],
    ['https://0177.0.0.1/', 'PRIVATE_ADDRESS', 'FORMAT'],
    ['https://①②⑦.0.0.1/', 'PRIVATE_ADDRESS', 'FORMAT'],
    ['https://127.0.0.1./', 'PRIVATE_ADDRESS', 'FORMAT'],
    ['https://0/', 'PRIVATE_ADDRESS', 'FORMAT'],
    ['https://169.254.169.254/latest/meta-data/', 'PRIVATE_ADDRESS', 'FORMAT'],
    ['https://[::1]/', 'PRIVATE_ADDRESS', 'FORMAT'],
    ['https://[::]/', 'PRIVATE_ADDRESS', 'FORMAT'],
    ['https://[::ffff:127.0.0.1]/', 'PRIVATE_ADDRESS', 'FORMAT'],
    ['https://[fd00:ec2::254]/', 'PRIVATE_ADDRESS', 'FORMAT'],
  ])('%s is refused: %s', (url, reason, constraint) => expect(refusal(url)).toEqual([reason, constraint]));

  test('local work allows http and private addresses, but nothing else', () => {
    for (const url of ['http://127.0.0.1:8080/', 'http://localhost/', 'https://[::1]/', 'http://example.com/'])
      expect(refusal(url, true)).toBeUndefined();
    expect(refusal('ftp://127.0.0.1/', true)).toEqual(['SCHEME', 'FORMAT']);
    expect(refusal('http://user:secret@127.0.0.1/', true)).toEqual(['CREDENTIALS', 'FORMAT']);
    expect(refusal('nonsense', true)).toEqual(['INVALID_URL', 'FORMAT']);
  });
});

describe('guardedLookup', () => {
  test('hands out all public addresses with their families, or the first', async () => {
    const resolve: Resolve = async () => ['8.8.8.8', '2606:4700:4700::1111'];
    expect(await look(resolve, false)).toEqual([
      { address: '8.8.8.8', family: 4 },
      { address: '2606:4700:4700::1111', family: 6 },
    ]);
    expect(await look(resolve, false, false)).toBe('8.8.8.8');
  });

  test('one private address among public ones refuses them all', async () => {
    await expect(look(async () => ['8.8.8.8', '10.0.0.1'], false)).rejects.toThrow(PrivateAddressError);
    expect(await look(async () => ['8.8.8.8', '10.0.0.1'], true)).toHaveLength(2);
  });

  test('a name that answers public first and private later is refused the second time', async () => {
    const answers = [['8.8.8.8'], ['127.0.0.1']];
    const resolve: Resolve = async () => answers.shift()!;
    expect(await look(resolve, false)).toEqual([{ address: '8.8.8.8', family: 4 }]);
    await expect(look(resolve, false)).rejects.toThrow(PrivateAddressError);
  });

  test('no address at all, and an answer that is no address, are errors', async () => {
    await expect(look(async () => [], true)).rejects.toMatchObject({ code: 'ENOTFOUND' });
    await expect(look(async () => ['not-an-address'], false)).rejects.toThrow(PrivateAddressError);
  });
});
