/**
 * Peer addresses as sockets spell them, and sets of address ranges. Which key an address belongs to is the edge's to
 * decide; here is only asked whether any range holds it.
 */
import { parseAddress, parseRange, printAddress, rangeContains } from '../shared/ip.ts';

/** One spelling for one peer: `::ffff:192.0.2.1` is `192.0.2.1` (RFC 4291 §2.5.5.2), and no zone (`%eth0`). */
export function plainAddress(address: string): string {
  const bare = address.replace(/%.*$/, '');
  const bytes = parseAddress(bare);
  return bytes === undefined ? bare : printAddress(bytes);
}

export interface RangeSet {
  /** @param address as `plainAddress` gives it; what is no address is in no range */
  holds(address: string): boolean;
}

/** @param texts as `parseRange` takes them; what it does not take holds nothing */
export function rangeSet(texts: readonly string[]): RangeSet {
  const ranges = texts.flatMap((text) => parseRange(text) ?? []);
  return {
    holds(address) {
      const bytes = parseAddress(address);
      return bytes !== undefined && ranges.some((range) => rangeContains(range, bytes));
    },
  };
}
