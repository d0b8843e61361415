/**
 * Determines the source address behind proxies. Each proxy appends its peer's address to `X-Forwarded-For`, so only the last
 * entries, which the deployment's own proxies wrote, can be trusted. A client can write anything before them.
 */
import { parseAddress, parseRange, plainAddress, rangeContains } from '../../shared/ip.ts';

/** Some balancers append the port: `192.0.2.1:4711`, `[2001:db8::1]:4711`. */
const WITH_PORT = /^(?:\[([^\]]+)\](?::\d+)?|([\d.]+):\d+)$/;

/**
 * @param trusted ranges of the proxies
 * @returns a function of the peer's address and the header: the nearest address that does not belong to a proxy
 */
export function createSourceAddress(trusted: readonly string[]): (peer: string, forwardedFor: string | null) => string {
  const ranges = trusted.flatMap((text) => parseRange(text) ?? []);
  if (ranges.length === 0) return plainAddress;
  const isTrusted = (address: string): boolean => {
    const bytes = parseAddress(address);
    return bytes !== undefined && ranges.some((range) => rangeContains(range, bytes));
  };

  return (peer, forwardedFor) => {
    let nearest = plainAddress(peer);
    for (const entry of (forwardedFor ?? '').split(',').toReversed()) {
      if (!isTrusted(nearest)) break;
      const [, ipv6, ipv4] = WITH_PORT.exec(entry.trim()) ?? [];
      const address = plainAddress(ipv6 ?? ipv4 ?? entry.trim());
      // `unknown`, a name, or nothing: the proxy did not report an address.
      if (parseAddress(address) === undefined) break;
      nearest = address;
    }
    return nearest;
  };
}
