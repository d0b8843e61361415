/**
 * Counts requests for the charts of the console. Counts are added up in memory and written a few seconds later, off the
 * response path, so that however many requests there are, one process writes one statement in that time.
 */
import type { UsageCount, UsageOutcome, UsageSurface } from '../store/usage.ts';

/** Whose a request is, as soon as that is known: counted by site, and in the request's log line. */
export interface Use {
  readonly site: string;
  readonly clientId?: string;
  /** Who of the staff. */
  readonly actor?: string;
  /** Where the status does not tell it: an ACK over MLLP is always 200. */
  readonly outcome?: UsageOutcome;
}

/** A count that is still added to. */
interface Growing extends UsageCount {
  requests: number;
  readonly latency: number[];
}

export interface UsageOptions {
  readonly now: () => number;
  readonly background: (work: Promise<unknown>) => void;
  /** Upper bounds of the latency histogram, ascending. */
  readonly boundsMs: readonly number[];
  readonly write: (counts: readonly UsageCount[]) => Promise<unknown>;
}

/** Well within the 30 s that a Worker may go on after its response. */
const COLLECT_MS = 5_000;
/** Beyond it new combinations are dropped until the next write: counts are no record. */
const MAX_COUNTS = 1_000;

const outcomeOf = (status: number): UsageOutcome => {
  if (status >= 500) return 'failed';
  return status >= 400 ? 'refused' : 'ok';
};

/** Counts one request that was answered, if its site is known. It neither waits nor throws. */
export type CountUse = (use: Use | undefined, status: number, durationMs: number) => void;

/** @returns a counter for each surface, all of which are written together */
export function createUsage({ now, background, boundsMs, write }: UsageOptions): (surface: UsageSurface) => CountUse {
  let counts = new Map<string, Growing>();
  let collectingSince = -Infinity;

  const collect = async (): Promise<void> => {
    await new Promise((resolve) => setTimeout(resolve, COLLECT_MS));
    const collected = [...counts.values()];
    counts = new Map();
    collectingSince = -Infinity;
    await write(collected);
  };

  return (surface) => (use, status, durationMs) => {
    if (use === undefined) return;
    const outcome = use.outcome ?? outcomeOf(status);
    const key = `${use.site} ${surface} ${outcome}`;
    const known = counts.get(key);
    if (known === undefined && counts.size >= MAX_COUNTS) return;
    const latency = Array.from({ length: boundsMs.length + 1 }, () => 0);
    const count = known ?? { site: use.site, at: now(), surface, outcome, requests: 0, latency };
    const found = boundsMs.findIndex((bound) => durationMs <= bound);
    const step = found < 0 ? boundsMs.length : found;
    count.requests += 1;
    count.latency[step] = (count.latency[step] ?? 0) + 1;
    counts.set(key, count);
    // A runtime may end background work with the request that began it; the next one begins again.
    if (now() - collectingSince < 3 * COLLECT_MS) return;
    collectingSince = now();
    background(collect());
  };
}
