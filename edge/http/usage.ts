/**
 * Counts requests for the charts of the console and for /metrics. Counts are added up in memory and written a few seconds
 * later, off the response path, so that however many requests there are, one process writes one statement in that time.
 */
import type { Answer, AnswerCount, Counted, FeedNote, UsageCount, UsageOutcome, UsageSurface } from '../store/usage.ts';

/** Whose a request is, as soon as that is known: counted by site, and in the request's log line. */
export interface Use {
  readonly site: string;
  readonly clientId?: string;
  /** Who of the staff. */
  readonly actor?: string;
  /** Where the status does not tell it: an ACK over MLLP is always 200. */
  readonly outcome?: UsageOutcome;
  /** What was answered beside the status: an ACK for each message, a token. */
  readonly answers?: readonly Answer[];
}

type Growing<Count> = { -readonly [Member in keyof Count]: Count[Member] };

export interface UsageOptions {
  readonly now: () => number;
  readonly background: (work: Promise<unknown>) => void;
  /** As in Deps. */
  readonly ending?: AbortSignal | undefined;
  /** Upper bounds of the latency histogram, ascending. */
  readonly boundsMs: readonly number[];
  readonly write: (counted: Counted) => Promise<unknown>;
}

/** Well within the 30 s that a Worker may go on after its response. */
const COLLECT_MS = 5_000;
/** Beyond it new combinations are dropped until the next write: counts are no record. */
const MAX_COUNTS = 1_000;

const outcomeOf = (status: number): UsageOutcome => {
  if (status >= 500) return 'failed';
  return status >= 400 ? 'refused' : 'ok';
};

/** The time for which counts are collected, which is over when the program ends. */
function untilCollected(ending: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    if (ending?.aborted === true) return resolve();
    const over = (): void => {
      clearTimeout(timer);
      ending?.removeEventListener('abort', over);
      resolve();
    };
    const timer = setTimeout(over, COLLECT_MS);
    ending?.addEventListener('abort', over);
  });
}

/** Counts one request that was answered, if its site is known. It neither waits nor throws. */
export type CountUse = (use: Use | undefined, status: number, durationMs: number) => void;

/** What is kept by key, `first` where it is new; undefined where there is no room for more. */
function entryOf<Entry>(entries: Map<string, Entry>, key: string, first: () => Entry): Entry | undefined {
  const known = entries.get(key);
  if (known !== undefined || entries.size >= MAX_COUNTS) return known;
  const made = first();
  entries.set(key, made);
  return made;
}

function tally(boundsMs: readonly number[]) {
  const counts = new Map<string, Growing<UsageCount> & { readonly latency: number[] }>();
  const answers = new Map<string, Growing<AnswerCount>>();
  const feeds = new Map<string, Growing<FeedNote>>();

  return {
    collected: (): Counted => ({
      counts: [...counts.values()],
      answers: [...answers.values()],
      feeds: [...feeds.values()],
    }),
    add(surface: UsageSurface, use: Use, status: number, durationMs: number, at: number): void {
      const { site, clientId, answers: more = [], outcome = outcomeOf(status) } = use;
      const count = entryOf(counts, `${site} ${surface} ${outcome}`, () => {
        const latency = Array.from({ length: boundsMs.length + 1 }, () => 0);
        return { site, at, surface, outcome, requests: 0, durationMs: 0, latency };
      });
      if (count !== undefined) {
        const found = boundsMs.findIndex((bound) => durationMs <= bound);
        const step = found < 0 ? boundsMs.length : found;
        count.requests += 1;
        count.durationMs += durationMs;
        count.latency[step] = (count.latency[step] ?? 0) + 1;
      }
      for (const answer of [`${status}` as const, ...more]) {
        const counted = entryOf(answers, `${site} ${surface} ${answer}`, () => ({ site, surface, answer, answers: 0 }));
        if (counted !== undefined) counted.answers += 1;
      }
      // A message was heard of only when it was answered: one that nobody stored comes again.
      if (clientId === undefined || !more.some((answer) => answer !== 'token')) return;
      const feed = entryOf(feeds, `${site} ${surface} ${clientId}`, () => ({ site, clientId, surface, at }));
      if (feed !== undefined) feed.at = at;
    },
  };
}

/** @returns a counter for each surface, all of which are written together */
export function createUsage({
  now,
  background,
  ending,
  boundsMs,
  write,
}: UsageOptions): (surface: UsageSurface) => CountUse {
  let tallied = tally(boundsMs);
  let collectingSince = -Infinity;

  const collect = async (): Promise<void> => {
    await untilCollected(ending);
    const collected = tallied.collected();
    tallied = tally(boundsMs);
    collectingSince = -Infinity;
    await write(collected);
  };

  return (surface) => (use, status, durationMs) => {
    if (use === undefined) return;
    tallied.add(surface, use, status, durationMs, now());
    // A runtime may end background work with the request that began it; the next one begins again.
    if (now() - collectingSince < 3 * COLLECT_MS) return;
    collectingSince = now();
    background(collect());
  };
}
