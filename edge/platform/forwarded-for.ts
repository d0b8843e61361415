/**
 * Where a request comes from behind proxies: each appends to `X-Forwarded-For` the address it was called from, so of the
 * entries only those that a proxy of ours wrote are true, which are the last ones. What comes before was sent by whoever
 * called, who may write there what they like.
 */
import { parseAddress, parseRange, plainAddress, rangeContains } from '../../shared/ip.ts';

/** Some balancers append the port too: `192.0.2.1:4711`, `[2001:db8::1]:4711`. */
const WITH_PORT = /^(?:\[([^\]]+)\](?::\d+)?|([\d.]+):\d+)$/;

/**
 * @param trusted ranges of the proxies
 * @returns the nearest address that is no proxy's, of the peer itself (as the socket gives it) and of the header's entries
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
      // `unknown`, a name, nothing: no proxy told where this came from.
      if (parseAddress(address) === undefined) break;
      nearest = address;
    }
    return nearest;
  };
}
