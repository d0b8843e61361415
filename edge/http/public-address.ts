/**
 * Recognises addresses on the public internet, before a URL from outside is fetched (OWASP, server-side request
 * forgery). The lists are IANA's IPv4 and IPv6 Special-Purpose Address Registries (RFC 6890).
 */
import { parseAddress, parseRange, rangeContains, type IpRange } from '../../shared/ip.ts';

const SPECIAL: readonly string[] = [
  '0.0.0.0/8', // this network
  '10.0.0.0/8', // private
  '100.64.0.0/10', // shared, carrier-grade NAT
  '127.0.0.0/8', // loopback
  '169.254.0.0/16', // link-local, and the metadata services of clouds
  '172.16.0.0/12', // private
  '192.0.0.0/24', // protocol assignments
  '192.0.2.0/24', // documentation
  '192.88.99.0/24', // 6to4 relays
  '192.168.0.0/16', // private
  '198.18.0.0/15', // benchmarks
  '198.51.100.0/24', // documentation
  '203.0.113.0/24', // documentation
  '224.0.0.0/3', // multicast, reserved, broadcast
  '2001::/23', // protocol assignments, Teredo
  '2001:db8::/32', // documentation
  '2002::/16', // 6to4: reaches any IPv4 address
  '3fff::/20', // documentation
];

const known = (text: string): IpRange => {
  const range = parseRange(text);
  if (range === undefined) throw new Error(`${text} is not an address range`);
  return range;
};
const SPECIAL_RANGES = SPECIAL.map(known);
/** The rest is loopback, link-local, unique local, multicast, NAT64 (RFC 6052), IPv4-mapped, or not assigned. */
const GLOBAL_UNICAST_IPV6 = known('2000::/3');

/** True for an address on the public internet; false for text that is not an address. */
export function isPublicAddress(text: string): boolean {
  const address = parseAddress(text);
  if (address === undefined) return false;
  // An IPv4 address in IPv6 spelling is not valid in a DNS answer.
  if (text.includes(':') && !rangeContains(GLOBAL_UNICAST_IPV6, address)) return false;
  return !SPECIAL_RANGES.some((range) => rangeContains(range, address));
}
