/**
 * One timer for all deadlines of a process. A timer of its own for each request, nearly always cleared before its time, costs
 * more than what it guards; not on Workers, where a timer belongs to the request that set it.
 */

/** Deadlines of seconds are late by this at most. */
const STEP_MS = 100;

/** Does a work after a time, unless it is cancelled before by what it returns. */
export type After = (ms: number, work: () => void) => () => void;

/** A timer for each. */
export const exactTimer: After = (ms, work) => {
  const timer = setTimeout(work, ms);
  return () => clearTimeout(timer);
};

export function createCoarseTimer(): After {
  const waiting = new Set<{ readonly at: number; readonly work: () => void }>();
  let isLooking = false;

  const lookLater = (): void => {
    isLooking = waiting.size > 0;
    if (isLooking) setTimeout(look, STEP_MS);
  };
  const look = (): void => {
    const now = performance.now();
    for (const one of waiting) {
      if (one.at > now) continue;
      waiting.delete(one);
      one.work();
    }
    lookLater();
  };

  return (ms, work) => {
    const one = { at: performance.now() + ms, work };
    waiting.add(one);
    if (!isLooking) lookLater();
    return () => waiting.delete(one);
  };
}
