import { promises as dns } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import type { FieldError } from '../../kernel/errors.ts';

const MAX_URL_LENGTH = 2048;

/** What is wrong with a webhook URL: `{ field: 'webhookEndpoint', ...problem }` is the field error of the request. */
export interface TargetProblem {
  reason: 'INVALID_URL' | 'SCHEME' | 'CREDENTIALS' | 'PRIVATE_ADDRESS';
  constraint: FieldError['constraint'];
  message: string;
  maxLength?: number;
}

/** Every address of a host name. Rejects when there is none. */
export type Resolve = (hostname: string) => Promise<string[]>;

/** The error of a connection that was refused because of where it would have gone. */
export class PrivateAddressError extends Error {
  readonly code = 'PRIVATE_ADDRESS';
}

/**
 * True for an address of the public internet. Everything else is refused: private, loopback, link-local (cloud metadata),
 * carrier-grade NAT, unique-local, multicast, reserved and unspecified addresses, and every IPv6 range that embeds an
 * IPv4 address. An IPv4-mapped address counts as the IPv4 address in it.
 */
export function isPublicAddress(address: string): boolean {
  return ipaddr.isValid(address) && ipaddr.process(address).range() === 'unicast';
}

/**
 * What is wrong with a URL as a webhook endpoint; undefined when nothing is. Private and loopback literals, in every
 * notation a URL allows, need `allowPrivateTargets`, and so does plain http. A name is checked by what it resolves to,
 * at the moment of connecting.
 */
export function checkTarget(url: string, options: { allowPrivateTargets: boolean }): TargetProblem | undefined {
  if (url.length > MAX_URL_LENGTH)
    return problem('INVALID_URL', 'MAX_LENGTH', 'The URL is too long.', { maxLength: MAX_URL_LENGTH });
  if (!URL.canParse(url)) return problem('INVALID_URL', 'FORMAT', 'This is not an absolute URL.');
  const { protocol, username, password, hostname } = new URL(url);
  const schemes = options.allowPrivateTargets ? ['https', 'http'] : ['https'];
  if (!schemes.includes(protocol.slice(0, -1)))
    return problem('SCHEME', 'FORMAT', `The URL must begin with ${schemes.map((it) => `${it}://`).join(' or ')}.`);
  if (username || password)
    return problem('CREDENTIALS', 'FORMAT', 'The URL must not contain a user name or password.');
  if (!options.allowPrivateTargets && isPrivateHost(hostname))
    return problem('PRIVATE_ADDRESS', 'FORMAT', 'The URL must lead to a public address.');
  return undefined;
}

function problem(
  reason: TargetProblem['reason'],
  constraint: FieldError['constraint'],
  message: string,
  more: { maxLength?: number } = {},
): TargetProblem {
  return { reason, constraint, message, ...more };
}

function isPrivateHost(hostname: string): boolean {
  const literal = hostname.replace(/^\[(.*)\]$/, '$1');
  if (isIP(literal)) return !isPublicAddress(literal);
  return /(^|\.)localhost\.?$/.test(hostname);
}

/** The machine's own resolver, hosts file included: for local work. */
export const resolveLocally: Resolve = async (hostname) =>
  (await dns.lookup(hostname, { all: true, order: 'ipv4first' })).map(({ address }) => address);

/** DNS alone, asked without a thread of the pool, so that a name server that never answers holds up nobody else. */
export function dnsResolver(): Resolve {
  const resolver = new dns.Resolver({ timeout: 2_500, tries: 2 });
  return async (hostname) => {
    const [v4, v6] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
    const addresses = [v4, v6].flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    if (addresses.length === 0 && v4.status === 'rejected') throw v4.reason;
    return addresses;
  };
}

/**
 * The `lookup` of a socket. What it hands out is what the socket connects to, so the address that was checked is the
 * address that is used: a name that changes its answer in between gains nothing. One private address refuses them all.
 */
export function guardedLookup(resolve: Resolve, options: { allowPrivateTargets: boolean }): LookupFunction {
  const checked = async (hostname: string) => {
    const addresses = await resolve(hostname);
    if (addresses.length === 0) throw Object.assign(new Error('The host has no address.'), { code: 'ENOTFOUND' });
    if (!options.allowPrivateTargets && !addresses.every(isPublicAddress))
      throw new PrivateAddressError('The host leads to an address that is not public.');
    return addresses.map((address) => ({ address, family: isIP(address) }));
  };
  return (hostname, { all }, callback) => {
    checked(hostname).then(
      (addresses) => {
        if (all) callback(null, addresses);
        else callback(null, addresses[0]!.address, addresses[0]!.family);
      },
      (error: NodeJS.ErrnoException) => callback(error, all ? [] : ''),
    );
  };
}
