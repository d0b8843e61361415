/**
 * Which JWKS URIs may be fetched: https, a public name of someone else's. Pure; whether the name leads to a private
 * address is checked where it is resolved, with `isPublicAddress` (OWASP, server-side request forgery).
 */

export interface JwksUriContext {
  /** Our own base URLs. */
  readonly ownUrls: readonly string[];
  /** Hosts that may be fetched although they are not public: test and local stacks only. */
  readonly trustedHosts: readonly string[];
}

/** Names that never leave a machine or a network (RFC 6761, RFC 6762, RFC 8375, RFC 9476). */
const PRIVATE_SUFFIXES = [
  'localhost',
  'local',
  'internal',
  'intranet',
  'private',
  'corp',
  'lan',
  'home',
  'home.arpa',
  'onion',
  'alt',
  'arpa',
] as const;
const MAX_URI_CHARACTERS = 2048;

const hostOf = (url: URL): string => url.hostname.replace(/\.$/, '');

/** The parser has turned every spelling of an IPv4 address (`0x7f.1`, `2130706433`) into the dotted one. */
const isAddress = (host: string): boolean => host.startsWith('[') || /^[0-9.]+$/.test(host);

/** @returns why it may not be fetched, or undefined */
export function checkJwksUri(uri: string, { ownUrls, trustedHosts }: JwksUriContext): string | undefined {
  if (!URL.canParse(uri) || uri.length > MAX_URI_CHARACTERS) return 'it is not a URL';
  const url = new URL(uri);
  if (url.protocol !== 'https:') return 'it must be https';
  if (url.username !== '' || url.password !== '') return 'it must not have user information';
  if (uri.includes('#')) return 'it must not have a fragment';
  const host = hostOf(url);
  const trusted = trustedHosts.includes(host);
  // A trusted host is one machine with many ports; elsewhere every port of ours is ours.
  const own = ownUrls
    .map((own) => new URL(own))
    .some((own) => (trusted ? own.host === url.host : hostOf(own) === host));
  if (own) return "it must not be one of the gateway's own hosts";
  if (trusted) return undefined;
  if (isAddress(host)) return 'its host must be a name, not an address';
  if (!host.includes('.')) return 'its host must be a public name';
  const suffix = PRIVATE_SUFFIXES.find((name) => host.endsWith(`.${name}`));
  return suffix === undefined ? undefined : `its host must be a public name, not one below .${suffix}`;
}

/** IPv4 that is not global unicast (IANA IPv4 Special-Purpose Address Registry), as first octets and prefix length. */
const PRIVATE_IPV4: readonly (readonly [string, number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
];

const ipv4 = (address: string): number => address.split('.').reduce((number, octet) => number * 256 + Number(octet), 0);

const isPrivateIpv4 = (address: string): boolean =>
  PRIVATE_IPV4.some(([range, bits]) => ipv4(address) >>> (32 - bits) === ipv4(range) >>> (32 - bits));

/** Global unicast is 2000::/3, without what is tunnelled, translated or for documentation. */
function isPublicIpv6(address: string): boolean {
  // The URL parser writes every IPv6 address in one way (RFC 5952).
  if (!URL.canParse(`http://[${address}]/`)) return false;
  const [first = '', second = ''] = new URL(`http://[${address}]/`).hostname.slice(1, -1).split(':');
  const high = Number.parseInt(first || '0', 16);
  const low = Number.parseInt(second || '0', 16);
  if (high < 0x2000 || high > 0x3fff) return false;
  const special =
    high === 0x2002 || (high === 0x2001 && (low < 0x200 || low === 0xdb8)) || (high === 0x3fff && low < 0x1000);
  return !special;
}

/** True for an address on the public internet; anything that is not an address is not. */
export function isPublicAddress(address: string): boolean {
  if (/^\d{1,3}(?:\.\d{1,3}){3}$/.test(address)) return !isPrivateIpv4(address);
  return address.includes(':') && isPublicIpv6(address);
}
