/**
 * Runs a limited number of pieces of work at a time and shares the places among their sources. A busy source delays only
 * itself. The work of one source runs in order of arrival (edge/docs/behaviour.md, MLLP and Limits).
 */
export interface FairQueue {
  waiting(source: string): number;
  /**
   * Runs the work as soon as a place is free for its source.
   *
   * @param source the address that sent the work; an IPv6 host counts as its /64
   * @param waitsUntil makes the signal that ends the wait; called only for work that must wait, since a signal costs more
   *   than a free place. Work that has started continues
   * @returns undefined if the wait was ended
   */
  run<T>(source: string, waitsUntil: () => AbortSignal, work: () => Promise<T>): Promise<T | undefined>;
}

/** Starts waiting work (true), or gives it up (false). */
type Settle = (mayStart: boolean) => void;

/** Counts the waiting pieces of work. */
interface Waiting {
  inc(): void;
  dec(): void;
}

const UNCOUNTED: Waiting = { inc: () => undefined, dec: () => undefined };

/** @param width places for all sources; while others wait, one source gets at most a quarter of them */
export function createFairQueue(width: number, counter = UNCOUNTED): FairQueue {
  const share = Math.max(1, Math.floor(width / 4));
  /** A lone source leaves these places free, so that the first work of another source starts immediately. */
  const reserve = width === 1 ? 0 : share;
  let free = width;
  const held = new Map<string, number>();
  /** By source with running or waiting work: the number of its last start, counted from 1 over all sources. */
  const lastStarts = new Map<string, number>();
  let starts = 0;
  /** By source, in order of arrival. A source without waiting work has no entry. */
  const waiting = new Map<string, Settle[]>();

  const mayStart = (source: string): boolean => {
    if ((held.get(source) ?? 0) < share) return free > 0;
    const isAlone = waiting.size === (waiting.has(source) ? 1 : 0);
    return isAlone && free > reserve;
  };

  const take = (source: string): void => {
    free -= 1;
    lastStarts.set(source, (starts += 1));
    held.set(source, (held.get(source) ?? 0) + 1);
  };

  const wait = (source: string, places: readonly Settle[]): void => {
    if (places.length > 0) waiting.set(source, [...places]);
    else waiting.delete(source);
  };

  const forget = (source: string): void => {
    if (!held.has(source) && !waiting.has(source)) lastStarts.delete(source);
  };

  /** The source with the oldest last start; a source that never started is the first. */
  const nextSource = (): string | undefined => {
    let next: string | undefined;
    for (const source of waiting.keys()) {
      if (!mayStart(source)) continue;
      if (next === undefined || (lastStarts.get(source) ?? 0) < (lastStarts.get(next) ?? 0)) next = source;
    }
    return next;
  };

  const startNext = (): void => {
    for (let source = nextSource(); source !== undefined; source = nextSource()) {
      const [first, ...others] = waiting.get(source) ?? [];
      wait(source, others);
      take(source);
      first?.(true);
    }
  };

  const leave = (source: string): void => {
    free += 1;
    const left = (held.get(source) ?? 1) - 1;
    if (left === 0) held.delete(source);
    else held.set(source, left);
    startNext();
    forget(source);
  };

  const enter = (source: string, waitsUntil: () => AbortSignal): Promise<boolean> | boolean => {
    if (!waiting.has(source) && mayStart(source)) {
      take(source);
      return true;
    }
    const signal = waitsUntil();
    if (signal.aborted) return false;
    return new Promise<boolean>((resolve) => {
      const places = waiting.get(source) ?? [];
      const giveUp = (): void => {
        wait(source, waiting.get(source)?.filter((other) => other !== settle) ?? []);
        forget(source);
        settle(false);
        // A source that had to wait beside this one may be alone now, and use more places.
        startNext();
      };
      const settle: Settle = (isStarted) => {
        counter.dec();
        signal.removeEventListener('abort', giveUp);
        resolve(isStarted);
      };
      signal.addEventListener('abort', giveUp, { once: true });
      waiting.set(source, [...places, settle]);
      counter.inc();
    });
  };

  return {
    waiting: (source) => waiting.get(source)?.length ?? 0,
    async run(source, waitsUntil, work) {
      if (!(await enter(source, waitsUntil))) return undefined;
      try {
        return await work();
      } finally {
        leave(source);
      }
    },
  };
}
