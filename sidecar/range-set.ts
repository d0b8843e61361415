/** Sets of address ranges. Which key an address belongs to is the edge's to decide; here is only asked whether any holds it. */
import { parseAddress, parseRange, rangeContains } from '../shared/ip.ts';

export interface RangeSet {
  /** @param address as `plainAddress` (shared/ip.ts) gives it; what is no address is in no range */
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
