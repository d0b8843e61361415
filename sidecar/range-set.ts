/** Sets of address ranges. They only answer if any range contains an address; the edge decides which key matches. */
import { parseAddress, parseRange, rangeContains } from '../shared/ip.ts';

export interface RangeSet {
  /** @param address as `plainAddress` (shared/ip.ts) returns it; other text is in no range */
  contains(address: string): boolean;
}

/** @param texts in the syntax of `parseRange`; other texts contain no address */
export function rangeSet(texts: readonly string[]): RangeSet {
  const ranges = texts.flatMap((text) => parseRange(text) ?? []);
  return {
    contains(address) {
      const bytes = parseAddress(address);
      return bytes !== undefined && ranges.some((range) => rangeContains(range, bytes));
    },
  };
}
