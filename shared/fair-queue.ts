/**
 * So many pieces of work at one time, shared among those they come from: whoever sends much waits for himself, not
 * others for him. Of one source in the order they came, of several in turns (edge/docs/behaviour.md, MLLP and
 * Limits).
 */
export interface FairQueue {
  /** How many pieces of work of a source wait. */
  waiting(source: string): number;
  /**
   * Does the work when its turn comes.
   *
   * @param source whose it is; an IPv6 host counts as its /64
   * @param waitsUntil makes the signal that ends the waiting; called only for work that has to wait, since a signal costs
   *   more than a free place. Work that has begun goes on
   * @returns undefined where the waiting was ended
   */
  run<T>(source: string, waitsUntil: () => AbortSignal, work: () => Promise<T>): Promise<T | undefined>;
}

/** Starts what waits, or gives it up. */
type Settle = (mayStart: boolean) => void;

/** Told of each piece of work that begins and ends to wait. */
interface Waiting {
  inc(): void;
  dec(): void;
}

const UNCOUNTED: Waiting = { inc: () => undefined, dec: () => undefined };

/** @param width places in all; while others wait, one source holds at most a quarter of them */
export function createFairQueue(width: number, counter = UNCOUNTED): FairQueue {
  const share = Math.max(1, Math.floor(width / 4));
  /** Not taken by a source that has its share, also when it is alone: the next one to come begins at once. */
  const reserve = width === 1 ? 0 : share;
  let free = width;
  const held = new Map<string, number>();
  /** When each source that holds or waits for a place had its last turn: 1 is the first turn of all. */
  const turns = new Map<string, number>();
  let turn = 0;
  /** In the order in which they came. A source without waiting work is not in it. */
  const waiting = new Map<string, Settle[]>();

  const mayStart = (source: string): boolean => {
    if ((held.get(source) ?? 0) < share) return free > 0;
    const isAlone = waiting.size === (waiting.has(source) ? 1 : 0);
    return isAlone && free > reserve;
  };

  const take = (source: string): void => {
    free -= 1;
    turns.set(source, (turn += 1));
    held.set(source, (held.get(source) ?? 0) + 1);
  };

  const wait = (source: string, places: readonly Settle[]): void => {
    if (places.length > 0) waiting.set(source, [...places]);
    else waiting.delete(source);
  };

  const forget = (source: string): void => {
    if (!held.has(source) && !waiting.has(source)) turns.delete(source);
  };

  /** Whose last turn is longest ago; who has had none comes before all. */
  const nextSource = (): string | undefined => {
    let next: string | undefined;
    for (const source of waiting.keys()) {
      if (!mayStart(source)) continue;
      if (next === undefined || (turns.get(source) ?? 0) < (turns.get(next) ?? 0)) next = source;
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
        // Whoever was not alone with it may be now.
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
