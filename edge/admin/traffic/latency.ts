/** How long answers took, as far as is known: requests are counted in the buckets of a histogram (store/usage.ts). Pure. */
import { LATENCY_BOUNDS_MS } from '../../store/usage.ts';

const LAST_BOUND_MS = LATENCY_BOUNDS_MS.at(-1) ?? 0;
/** The value of a request above the last bound, whose exact duration is not stored. */
export const LONGER_MS = LAST_BOUND_MS + 1;

export const addUp = (histograms: readonly (readonly number[])[]): number[] =>
  Array.from({ length: LATENCY_BOUNDS_MS.length + 1 }, (_, at) =>
    histograms.reduce((sum, histogram) => sum + (histogram[at] ?? 0), 0),
  );

/**
 * A percentile of a histogram, in milliseconds, as the upper bound of the bucket it falls into.
 *
 * @param share 0.95 for the 95th
 * @returns LONGER_MS for the open bucket behind the last bound; null without requests
 */
export function percentile(histogram: readonly number[], share: number): number | null {
  const total = histogram.reduce((sum, count) => sum + count, 0);
  if (total === 0) return null;
  let below = 0;
  const at = histogram.findIndex((count) => (below += count) >= total * share);
  return LATENCY_BOUNDS_MS[at] ?? LONGER_MS;
}

const written = (ms: number): string => (ms >= 1000 ? `${ms / 1000} s` : `${ms} ms`);

/** A bound of the histogram: `up to 100 ms`. */
export function latencyText(ms: number | null): string {
  if (ms === null) return 'none';
  return ms > LAST_BOUND_MS ? `over ${written(LAST_BOUND_MS)}` : `up to ${written(ms)}`;
}
